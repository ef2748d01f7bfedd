"""Searching a text by a pattern that anyone wrote, in a time that holds.

Python's `re` keeps the interpreter's lock while it backtracks: a pattern such as ``(a+)+$``
would stop every thread of guard, and with them time-outs and Ctrl-C. A pattern that repeats
something is therefore searched for by a process of its own.
"""

from __future__ import annotations

import re
import subprocess
import sys

from guard.errors import TargetError

SECONDS = 10.0
_REPEATS = re.compile(r"[*+{]")
_PROGRAM = """\
import marshal, re, sys
pattern, text, flags = marshal.load(sys.stdin.buffer)
sys.exit(10 if re.search(pattern, text, flags) else 11)
"""
_ANSWERS = {10: True, 11: False}


def found_in(text: str, pattern: str, flags: int = 0) -> bool:
    """Tell whether the pattern is found. Raises `TargetError` where that takes too long."""
    if not _REPEATS.search(pattern):
        return re.search(pattern, text, flags) is not None
    import marshal

    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=marshal.dumps((pattern, text, int(flags))),
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        said = f'the pattern "{pattern}" finds no end: not done within {SECONDS:g} s'
        raise TargetError(said) from error
    if done.returncode not in _ANSWERS:
        raise TargetError(f'the pattern "{pattern}" can\'t be searched for ({done.returncode})')
    return _ANSWERS[done.returncode]
