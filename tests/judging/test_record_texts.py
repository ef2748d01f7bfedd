from __future__ import annotations

import json
from typing import Any

import pytest

from guard.errors import ConfigError
from guard.judging.record_texts import RecordTexts
from guard.regressions import parse_regressions, validate, write_regressions
from tests.guarded_repo import record, records

TWO = records(one=record(), two=record(case="evals/cases/two.md"))


def written(**by_id: Any) -> bytes:
    return write_regressions(json.loads(records(**by_id)))


def test_a_version_is_read_as_the_whole_file_is() -> None:
    texts = RecordTexts()
    for content in (written(one=record()), written(one=record(), two=record()), TWO.encode()):
        found = texts.read(content)
        assert found.document == validate(content)
        assert found.records == parse_regressions(content)
        assert list(found.records) == list(parse_regressions(content))


def test_a_record_that_stays_is_read_once() -> None:
    texts = RecordTexts()
    before = texts.read(written(one=record(), two=record()))
    after = texts.read(written(one=record(fails_on=["files"]), two=record(), three=record()))
    assert after.records["two"] is before.records["two"]
    assert after.records["one"].fails_on == ("files",)
    assert list(after.records) == ["one", "three", "two"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"schema": "guard.regressions.v1", "incidents": {}, "regressions": {}}',
        json.dumps(json.loads(TWO)).encode(),
        json.dumps(json.loads(TWO), indent=4).encode(),
        TWO.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TWO.encode(),
        written(),
    ],
)
def test_a_file_that_is_written_otherwise_is_read_too(content: bytes) -> None:
    assert RecordTexts().read(content).document == validate(content)


START = '{\n  "schema": "guard.regressions.v1",\n  "incidents": {'
ONE = '"agent": "a", "case": "c", "before": {"kind": "parent"}'


@pytest.mark.parametrize(
    "text",
    [
        # A record's end and start where only a deeper object ends and starts.
        f'{START}}},\n  "regressions": {{\n    "a": {{{ONE}, "incident": {{"issue": {{\n'
        f'    }},\n    "summary": "x"}}\n    }}\n  }}\n}}\n',
        # What looks like the records is inside an incident; the records themselves are none.
        f'{START}"x": {{"issue": {{\n  "regressions": {{\n    "a": {{{ONE}\n    }}\n  }}'
        '}}}, "regressions": {}}',
        f'{START}"x": {{"issue": {{\n  "regressions": {{\n    "a": {{{ONE}\n    }}\n  }}'
        f'}}}}}}, "regressions": {{"b": {{{ONE}}}}}}}',
        # Two records between two of the marks.
        f'{START}}},\n  "regressions": {{\n    "a": {{{ONE}}}, "b": {{{ONE}\n    }}\n  }}\n}}\n',
    ],
)
def test_text_that_looks_like_records_and_is_not_is_read_for_what_it_is(text: str) -> None:
    assert RecordTexts().read(text.encode()).document == validate(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        TWO.replace('"two"', '"one"'),
        TWO.replace('"agent"', '"agnet"', 1),
        TWO.replace("},", "}", 1),
        TWO.replace('"guard.regressions.v1"', '"other"'),
        # It ends the records within a record, and goes on with others.
        f'{START}}},\n  "regressions": {{\n    "a": {{{ONE}}}}}, "incidents": {{"x": {{\n'
        f'    }},\n    "b": {{{ONE}\n    }}\n  }}\n}}\n',
    ],
)
def test_what_is_wrong_is_said_as_of_the_whole_file(text: str) -> None:
    with pytest.raises(ConfigError) as expected:
        validate(text.encode())
    with pytest.raises(ConfigError) as caught:
        RecordTexts().read(text.encode())
    assert str(caught.value) == str(expected.value)
