"""Scripts that call guard and lose what it says: a refusal that ends in success."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from guard.setup.lefthook import CALLS_GUARD

#: Endings of one line: another command's exit code, or none, takes the place of guard's.
SWALLOWED: Final = re.compile(
    r"\|\|\s*(?:true\b|:(?=\s|$|['\"])|exit\s+0|echo\b|printf\b)"
    r"|;\s*(?:true|:|exit\s+0)(?=['\"\s]|$)"
    r"|(?<!\|)\|(?!\|)"  # a pipe ends as its last command does
    r"|(?<![&>])&\s*$"  # in the background
)
#: Guard's exit code is looked at where it is called, or is the script's own.
_MINDED: Final = re.compile(r"\|\|\s*(?:exit|return)\b|^\s*(?:if|elif|while|until|exec|!)\b|&&\s*$")
_ERREXIT: Final = re.compile(r"^\s*set\s+-[a-z]*e|^\s*set\s+-o\s+errexit|^#!.*\s-[a-z]*e")
#: Lines that run nothing.
_IDLE: Final = re.compile(r"^\s*(?:#.*|fi|done|esac|else|\}|;;)?\s*$")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")


def swallowing_line(text: str, errexit: bool = False) -> str:
    """Return the line of a shell script that loses a refusal of guard's; empty for none.

    ``errexit``: it is run by ``sh -e``, which ends at the first command that fails.
    """
    lines = text.splitlines()
    errexit = errexit or any(_ERREXIT.search(line) for line in lines)
    for number, line in enumerate(lines):
        code = _COMMENT.sub("", line) if not line.startswith("#!") else ""
        if not CALLS_GUARD.search(code):
            continue
        if SWALLOWED.search(code) or not (errexit or _is_minded(code, lines[number + 1 :])):
            return line.strip()
    return ""


def _is_minded(line: str, following: Sequence[str]) -> bool:
    """Tell whether guard's exit code counts: nothing that runs comes after it."""
    after = line[line.rindex("guard") :].partition(";")[2]
    if _MINDED.search(line):
        return True
    return not after.strip() and all(_IDLE.match(line) for line in following)


def command_before(text: str) -> str:
    """Return the first command that may read what git says before guard can; empty for none."""
    for line in text.splitlines():
        if CALLS_GUARD.search(line):
            return ""
        code = _COMMENT.sub("", line).strip()
        if code and not _HARMLESS.match(code):
            return code
    return ""


#: Husky's own first line, assignments, tests and shell options read nothing.
_HARMLESS: Final = re.compile(
    r"^(?:\. |source |set |export |cd |\[|if \[|then$|fi$|else$|echo |\w+=|command -v |umask )"
)
