"""How far guard's rules agree with fixes that people labelled, in a folder of public histories.

Run by hand: ``python -m bench.agreement FOLDER``. Below the folder lie ``*.jsonl`` files with a
commit a line (``repo``, ``subject``, ``prompt_files``, ``case_files``, ``test_files`` and
``cosmetic_subject``), and ``*.patch`` files of some of them, whose second line ends in the subject.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from guard.messages.cosmetic import cosmetic_reason
from guard.messages.message import FixSettings, fix_reason, near_miss, parse_message
from guard.messages.near_misses import proper_header
from guard.wording.units import count

#: What a team sets whose headers say "Fix the table" or "v1.2.0 fix: the table".
PATTERN = r"(?i)^(?:\[[\d.]+\] |v[\d.]+ )?fix\b"
KINDS = {"its": "by its type", "it says": "by a closing keyword", "it has": "by a trailer"}
#: Copies and numbers that are written by a program: they state nothing that is expected.
GENERATED = r"(?:^|/)golden/|(?:^|/)baselines?[./]|\.baseline\."


class Fix(NamedTuple):
    """One labelled fix."""

    repo: str
    subject: str
    prompts: tuple[str, ...]
    cases: tuple[str, ...]
    tests: tuple[str, ...]
    cosmetic: bool


class FileDiff(NamedTuple):
    """One file of a patch, as far as its hunks show it."""

    path: str
    old: str
    new: str


def main(argv: list[str]) -> int:
    """Print the agreement; return 1 where a labelled fix goes by unseen."""
    if len(argv) != 1:
        print("usage: python -m bench.agreement FOLDER", file=sys.stderr)
        return 2
    folder = Path(argv[0])
    fixes = list(read_fixes(folder))
    if not fixes:
        print(f"no labelled fixes below {folder}", file=sys.stderr)
        return 2
    unseen = tell_messages(fixes)
    tell_cases(fixes)
    tell_cosmetic(fixes, folder)
    return 1 if unseen else 0


def read_fixes(folder: Path) -> Iterator[Fix]:
    """Yield the labelled fixes of all files."""
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            label: dict[str, Any] = json.loads(line or "{}")
            if {"repo", "subject", "prompt_files"} <= set(label):
                yield fix_of(label)


def fix_of(label: Mapping[str, Any]) -> Fix:
    """Return one label."""

    def paths(key: str) -> tuple[str, ...]:
        return tuple(map(str, label.get(key) or ()))

    return Fix(
        str(label["repo"]),
        str(label["subject"]),
        paths("prompt_files"),
        paths("case_files"),
        paths("test_files"),
        bool(label.get("cosmetic_subject")),
    )


# Messages -----------------------------------------------------------------------------------


def kind_of(subject: str, settings: FixSettings = FixSettings()) -> str:  # noqa: B008  # immutable
    """Tell how the subject is read."""
    message = parse_message(subject)
    reason = fix_reason(message, settings)
    if reason:
        return next((kind for start, kind in KINDS.items() if reason.startswith(start)), "other")
    return "near miss" if near_miss(message) else "none"


def tell_messages(fixes: list[Fix]) -> list[Fix]:
    """Print how the subjects are read; return the fixes that are neither fix nor near miss."""
    kinds = Counter(kind_of(fix.subject) for fix in fixes)
    number = len({fix.repo for fix in fixes})
    repositories = count(number, "repository", "repositories")
    print(f"{len(fixes)} labelled fixes of {repositories}, by their subject alone")
    for kind in (*KINDS.values(), "near miss", "none"):
        tell(f"  {kind}", kinds[kind], len(fixes))
    near = [fix for fix in fixes if kind_of(fix.subject) == "near miss"]
    proper = [proper_header(parse_message(fix.subject)) or "" for fix in near]
    held = sum(parse_message(header).type == "fix" for header in proper)
    tell("  near misses whose suggested header is a fix", held, len(near))
    patterns = FixSettings(patterns=(PATTERN,))
    read = sum(fix_reason(parse_message(fix.subject), patterns) is not None for fix in fixes)
    tell(f"  fixes with fix.patterns: ['{PATTERN}']", read, len(fixes))
    unseen = [fix for fix in fixes if kind_of(fix.subject) == "none"]
    for fix in unseen:
        print(f"    unseen: {fix.repo}: {fix.subject}")
    return unseen


# Cases --------------------------------------------------------------------------------------


def tell_cases(fixes: list[Fix]) -> None:
    """Print how many bring a case, by the label and by the rule as far as paths tell."""
    print("a case came along")
    labelled = [fix for fix in fixes if fix.cases]
    stated = [fix for fix in labelled if any(not re.search(GENERATED, c) for c in fix.cases)]
    own = [fix for fix in stated if any(is_own_case(fix, case) for case in fix.cases)]
    tell("  by the label", len(labelled), len(fixes))
    tell("  more than a generated copy or baseline", len(stated), len(fixes))
    tell("  of a skill that the fix touches, so that the rule may count it", len(own), len(fixes))
    tell("  a test of any kind, by the label", sum(bool(fix.tests) for fix in fixes), len(fixes))
    for fix in stated:
        if fix not in own:
            case = next(case for case in fix.cases if not re.search(GENERATED, case))
            print(f"    of no touched skill: {fix.repo}: {case}")


def is_own_case(fix: Fix, case: str) -> bool:
    """Tell whether a case lies in a touched skill's folder, or is named by the skill."""
    if re.search(GENERATED, case):
        return False
    parts = re.split(r"[/.]", case)
    for prompt in fix.prompts:
        folder = prompt.rpartition("/")[0].partition("/references")[0]
        name = folder.rpartition("/")[2]
        if folder and (case.startswith(f"{folder}/") or name in parts):
            return True
    return False


# Cosmetic changes ---------------------------------------------------------------------------


def tell_cosmetic(fixes: list[Fix], folder: Path) -> None:
    """Print what is cosmetic by subject, and of the patches by what they change."""
    print("cosmetic")
    tell("  by the subject, as labelled", sum(fix.cosmetic for fix in fixes), len(fixes))
    subjects = {fix.subject for fix in fixes if fix.cosmetic}
    patches = sorted(folder.rglob("*.patch"))
    labelled = agreed = 0
    for file in patches:
        text = file.read_text(encoding="utf-8")
        subject = text.splitlines()[1].split(" ", 2)[2]
        reasons = [cosmetic_reason(d.old.encode(), d.new.encode(), d.path) for d in diffs_of(text)]
        by_rule, by_label = all(reasons), subject in subjects
        labelled += by_label
        agreed += by_rule == by_label
        if by_rule != by_label:
            print(f"    by the {'rule' if by_rule else 'label'} alone: {file.stem}: {subject}")
        elif by_rule:
            print(f"    both: {file.stem}: {', '.join(sorted(set(filter(None, reasons))))}")
    tell("  patches labelled so", labelled, len(patches))
    tell("  patches on which the rule and the label agree", agreed, len(patches))


def diffs_of(patch: str) -> Iterator[FileDiff]:
    """Yield the files of a patch."""
    for part in re.split(r"(?m)^diff --git ", patch)[1:]:
        path = part.splitlines()[0].rpartition(" b/")[2]
        hunks = [hunk.splitlines() for hunk in re.split(r"(?m)^@@ .*\n", part)[1:]]
        lines = [line for hunk in hunks for line in (*hunk, " ")]
        yield FileDiff(path, _side(lines, "-"), _side(lines, "+"))


def _side(lines: Iterable[str], mark: str) -> str:
    return "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", mark))


def tell(what: str, number: int, of: int) -> None:
    """Print one line: a number and its share."""
    share = f"{100 * number / of:.1f} %" if of else "-"
    print(f"{what:<66} {number:>5} of {of:<4} {share:>8}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
