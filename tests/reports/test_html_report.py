from __future__ import annotations

from html.parser import HTMLParser

from guard.reports.html_report import render
from tests.reports.sample import REPORT, nasty_report

VOID = {"meta"}


class Balance(HTMLParser):
    """Notes which tags are used, and that each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.used: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.used.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_everything_is_in_it_and_every_tag_is_closed() -> None:
    shown = render(REPORT)
    for part in ("radik-closed", "PROVEN", "fix-needs-case", "not controlled", "2 of 4 cases hold"):
        assert part in shown
    parser = Balance()
    parser.feed(shown)
    assert parser.open == []
    assert not parser.used & {"script", "link", "img"}


def test_quoted_text_makes_no_tag() -> None:
    parser = Balance()
    parser.feed(render(nasty_report()))
    assert parser.open == []
    assert "b" not in parser.used
