"""Anthropic's own client, bounded: a deadline over all tries, and every error in one line.

The client is imported late: it takes longer to import than guard does to start.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from guard.plugin import TargetError

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import RawMessageStreamEvent

KEY: Final = "ANTHROPIC_API_KEY"
BASE_URL: Final = "ANTHROPIC_BASE_URL"
OWN_HOST: Final = "api.anthropic.com"
#: Answers that may be another one a moment later; and how often to ask in all.
PASSING: Final = (408, 409, 429)
TRIES: Final = 3
#: Seconds before the second try, where the server names none; twice as many before the third.
PAUSE: Final = 0.5
#: Characters of what a server says of an error.
SAID: Final = 200


class Answer(NamedTuple):
    """A message that was answered to its end."""

    text: str
    stop: str
    """Why the model stopped; ``end_turn`` where it was done."""
    id: str
    model: str
    tokens: Mapping[str, int]


def find_missing() -> str | None:
    """Return what this machine lacks to ask Anthropic's models, in words, or None."""
    if find_spec("anthropic") is None:
        return "the package anthropic is not installed (pip install 'regression-guard[anthropic]')"
    return None if os.environ.get(KEY) else f"the environment variable {KEY} is not set"


def own_endpoint() -> str:
    """Return where the models answer, without credentials; empty for Anthropic's own endpoint."""
    url = urlsplit(os.environ.get(BASE_URL, ""))
    if url.hostname in (None, OWN_HOST):
        return ""
    return url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()


def stream_answer(request: Mapping[str, Any], seconds: float) -> Answer:
    """Return the answer to one message. Raises `TargetError` where none comes in ``seconds``."""
    import anthropic
    import httpx2

    deadline = time.monotonic() + seconds
    try:
        # It would wait as long as a server asks it to: tries are counted here.
        with anthropic.Anthropic(
            api_key=os.environ.get(KEY) or None,
            base_url=os.environ.get(BASE_URL) or None,
            max_retries=0,
            timeout=seconds,
        ) as client:
            return _ask_again(client, request, deadline)
    except TimeoutError:
        raise TargetError(f"no answer within {seconds:g} s") from None
    except anthropic.APIStatusError as error:
        raise TargetError(_told(error)) from error
    # In mid-stream errors are httpx2's own; without a key it is a TypeError, and a body that is
    # no JSON a ValueError.
    except (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as e:
        raise TargetError(_without_key(f"{type(e).__name__}: {e}")) from e
    except (TypeError, ValueError, OSError) as error:
        raise TargetError(_without_key(f"{type(error).__name__}: {error}")) from error


def _ask_again(client: anthropic.Anthropic, request: Mapping[str, Any], deadline: float) -> Answer:
    import anthropic
    import httpx2

    for tried in range(1, TRIES + 1):
        left = _left(deadline)
        try:
            stream = client.messages.create(**request, stream=True, timeout=left)
            with stream:
                return _read(stream, deadline)
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise TimeoutError from None
        except anthropic.APIConnectionError:
            pause = PAUSE * tried
            if tried == TRIES:
                raise
        except anthropic.APIStatusError as error:
            pause = max(_asked_pause(error), PAUSE * tried)
            if tried == TRIES or not _is_passing(error):
                raise
            if pause > _left(deadline):
                said = f"{_told(error)}: it asks to wait {pause:g} s, longer than there is time"
                raise TargetError(said) from error
        time.sleep(min(pause, _left(deadline)))
    raise AssertionError("the last try raises or returns")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read(events: Iterable[RawMessageStreamEvent], deadline: float) -> Answer:
    """Read a message to its end; one that ends before it is cut, and no answer."""
    answer, ended = Answer("", "", "", "", {}), False
    tokens: dict[str, int] = {}
    for event in events:
        _left(deadline)
        if event.type == "message_start":
            answer = answer._replace(id=event.message.id, model=event.message.model)
            tokens |= _counted(event.message.usage)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            answer = answer._replace(text=answer.text + event.delta.text)
        elif event.type == "message_delta":
            answer = answer._replace(stop=event.delta.stop_reason or "")
            tokens |= _counted(event.usage)
        ended = ended or event.type == "message_stop"
    if not ended:
        raise ValueError("the answer was cut off before its end")
    return answer._replace(tokens=tokens)


def _counted(usage: object) -> dict[str, int]:
    """Return the counts of a usage: each event names the whole of what it counts so far."""
    names = (
        *("input_tokens", "output_tokens"),
        *("cache_creation_input_tokens", "cache_read_input_tokens"),
    )
    found = ((name, getattr(usage, name, None)) for name in names)
    return {name: number for name, number in found if isinstance(number, int)}


def _is_passing(error: anthropic.APIStatusError) -> bool:
    if error.response.headers.get("x-should-retry") == "false":
        return False
    return error.status_code in PASSING or error.status_code >= 500


def _asked_pause(error: anthropic.APIStatusError) -> float:
    """Return how many seconds a server asks to wait; 0 where it names none as a number."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


def _told(error: anthropic.APIStatusError) -> str:
    said = " ".join((error.api_message or error.message or "").split())
    kind = f" {error.type}" if error.type else ""
    # In mid-stream the status is that of the beginning, which went well.
    status = "in mid-answer" if error.status_code < 400 else str(error.status_code)
    return _without_key(f"{status}{kind}: {said}" if said else f"{status}{kind}")


def _without_key(text: str) -> str:
    key = os.environ.get(KEY, "")
    return (text.replace(key, f"[redacted {KEY}]") if key else text)[:SAID]
