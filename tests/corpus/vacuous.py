"""The case can't see its bug, or what changed is not what it tests."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tests.corpus.crashes import PYTHON
from tests.corpus.judges import CHECK, CHECKED, CHECKS, HONEST
from tests.corpus.story import (
    ASKS,
    BROKEN,
    CASE,
    CONFIG,
    FIXED,
    SCRIPT,
    Build,
    Files,
    Story,
    asked_of,
    case,
    fix,
    history,
    start,
)
from tests.scratch_repo import ScratchRepo

#: Two rules of one size.
BOOKED = "SAYS = 'Booked.'\n"
ASKED = "SAYS = 'Which ?'\n"
ASKS_WHICH = '{reply_contains: ["Which"]}'
MAIN = "import rule\n\nprint(rule.SAYS)\n"


def rule_in_python(
    broken: str, fixed: str, more: Mapping[str, str] = {}, *, same_second: bool = False
) -> Build:
    """Return an agent in Python of two files; its fix lies in the imported one."""
    config = PYTHON.replace("[agent/act.py]", "[agent/act.py, agent/rule.py]")

    def build(repo: ScratchRepo) -> None:
        asked = case(ASKS_WHICH)
        repo.commit(
            "start", start(config=config, **{"agent/act.py": MAIN, "agent/rule.py": broken, **more})
        )
        written = (repo.root / "agent/rule.py").stat()
        if same_second:
            writes = {"PYTHONPATH": "agent", "PYTHONDONTWRITEBYTECODE": ""}
            repo.run("python3", "-c", "import rule", env=writes)
            assert list((repo.root / "agent/__pycache__").glob("rule.*.pyc"))
        repo.write({**fix(asked=asked), "agent/rule.py": fixed, SCRIPT: None})
        if same_second:
            times = (written.st_atime_ns, written.st_mtime_ns)
            os.utime(repo.root / "agent/rule.py", ns=times)
        repo.commit("fix")

    return build


def linked(target_is_own: bool) -> Build:
    """Return an agent whose own path is a link: the fix lies behind it."""
    paths = "[agent/act.sh, agent/lib.sh]" if target_is_own else "[agent/act.sh]"

    def build(repo: ScratchRepo) -> None:
        config = CONFIG.replace("[agent/act.sh]", paths)
        repo.write({"guard.yaml": config, "agent/lib.sh": BROKEN})
        (repo.root / SCRIPT).symlink_to("lib.sh")
        repo.commit("start")
        repo.commit("fix", {**without(fix(), SCRIPT), "agent/lib.sh": FIXED})

    return build


def made_executable(script: str) -> Build:
    """Return an agent of which the fix changes nothing but the mode."""

    def build(repo: ScratchRepo) -> None:
        repo.commit("start", start(script))
        repo.write(fix(script))
        (repo.root / SCRIPT).chmod(0o755)
        repo.commit("fix")

    return build


def without(files: Files, *paths: str) -> Files:
    """Return the files but those at some paths."""
    return {path: content for path, content in files.items() if path not in paths}


TWO_FILES = CONFIG.replace("[agent/act.sh]", "[agent/act.sh, agent/lib.sh]")
CALLS_LIB = ". ./lib.sh\n"
BASELINE = "expected_baseline:\n  - {failing_keys: [reply_contains]}\n"

STORIES = (
    Story(
        "the case asks for what the bug says too",
        asked_of("echo Booked 400 euro\n", '{reply_contains: ["o"]}', "reply_contains"),
        "VACUOUS",
        "it passes without the fix (2 of 2) and fails with it",
        hint="guard show taxi#before-1",
        twin=asked_of("echo Booked 400 euro\n", ASKS, "reply_contains"),
    ),
    Story(
        "the agent repeats what it is asked, and that is all the case looks for",
        history(
            start('echo "$1: booked"\n', CONFIG.replace("act.sh]", 'act.sh, "{utterance}"]')),
            fix('echo "$1: which currency?"\n', case('{reply_contains: ["400 euro"]}')),
        ),
        "VACUOUS",
    ),
    Story(
        "the case was weakened in the commit of the fix",
        history(
            {**start(), CASE: case()},
            fix(
                "echo Booked 4600 crowns!\n",
                case('{reply_excludes: ["euro"]}'),
                fails_on=["reply_excludes"],
            ),
        ),
        "VACUOUS",
    ),
    Story(
        "the case was weakened long after",
        history(
            start(),
            fix(),
            {CASE: case('{reply_matches: "."}')},
        ),
        "WRONG_REASON",
        "fails_on names reply_contains, which the case doesn't state",
    ),
    Story(
        "it fails for one reason before and for another now",
        asked_of(
            BROKEN,
            '{reply_contains: ["Which currency"], no_changes: true}',
            "reply_contains",
            fixed="echo Which currency?\necho 457 > budget.md\n",
        ),
        "BROKEN_NOW",
        "no_changes",
    ),
    Story(
        "both sides are broken",
        history(start(), fix("echo Booked 400 crowns.\n")),
        "BROKEN_NOW",
        "reply_contains",
    ),
    Story(
        "the baseline excuses the bug itself",
        asked_of(BROKEN, ASKS, "reply_contains", more=BASELINE),
        "VACUOUS",
    ),
    Story(
        "nothing need pass for the case to pass",
        asked_of(
            BROKEN,
            ASKS,
            "reply_contains",
            fixed=BROKEN + "\n",
            more="trials: 4\nmin_pass_rate: 0.01\n",
        ),
        "BROKEN_NOW",
    ),
    Story(
        "the case lays its own agent over the one under test",
        asked_of(
            BROKEN,
            ASKS,
            "reply_contains",
            more="given: {files: {act.sh: 'echo Which currency?'}}\n",
        ),
        "VACUOUS",
    ),
    Story(
        "an earlier copy on the path is what is imported",
        rule_in_python(
            BOOKED,
            ASKED,
            {
                "agent/vendor/rule.py": ASKED,
                "agent/act.py": "import sys\n\nsys.path.insert(0, 'vendor')\n" + MAIN,
            },
        ),
        "VACUOUS",
        twin=rule_in_python(BOOKED, ASKED, {"agent/vendor/other.py": ASKED}),
    ),
    Story(
        "an earlier copy on the path hides that nothing is mended",
        rule_in_python(
            BOOKED,
            ASKED,
            {
                "agent/vendor/rule.py": BOOKED,
                "agent/act.py": "import sys\n\nsys.path.insert(0, 'vendor')\n" + MAIN,
            },
        ),
        "BROKEN_NOW",
    ),
    Story(
        "a file of the same size and second says the same as before",
        rule_in_python(ASKED, "SAYS = 'Which?!'\n", same_second=True),
        "VACUOUS",
        twin=rule_in_python(BOOKED, ASKED, same_second=True),
    ),
    Story(
        "byte-code of the fixed file lies in the workspace",
        rule_in_python(BOOKED, "SAYS = 'Booked!'\n", same_second=True),
        "BROKEN_NOW",
    ),
    Story(
        "the fix lies in a file that isn't the agent's own",
        history(
            start(CALLS_LIB, **{"agent/lib.sh": BROKEN}),
            {**fix(CALLS_LIB + "# carefully\n"), "agent/lib.sh": FIXED},
        ),
        "VACUOUS",
        twin=history(
            start(CALLS_LIB, TWO_FILES, **{"agent/lib.sh": BROKEN}),
            {**fix(CALLS_LIB + "# carefully\n"), "agent/lib.sh": FIXED},
        ),
    ),
    Story(
        "the agent's own path is a link, and the fix lies behind it",
        linked(False),
        "DEGENERATE",
        twin=linked(True),
    ),
    Story(
        "the target runs a copy that isn't the agent's own",
        history(
            start(
                config=CONFIG.replace(", act.sh]", ', "{repo}/tools/act.sh"]'),
                **{"tools/act.sh": FIXED},
            ),
            fix(),
        ),
        "VACUOUS",
    ),
    Story(
        "it was reformatted, no more",
        history(start("echo 'Which currency?'\n"), fix('echo   "Which currency?"\n')),
        "VACUOUS",
    ),
    Story(
        "only its mode changed",
        made_executable(FIXED),
        "VACUOUS",
    ),
    Story(
        "the checks were mended, not the agent",
        history(
            {**start(FIXED, CHECKED, **{CHECKS: CHECK + "    return 0\n"})},
            {
                **without(fix(asked=case("{asks: true}"), fails_on=["asks"]), SCRIPT),
                CHECKS: CHECK + HONEST,
            },
        ),
        "DEGENERATE",
    ),
    Story(
        "its options were mended, not its files",
        history(
            start('echo "$1"\n', CONFIG.replace("act.sh]", "act.sh, Booked]")),
            {
                **without(fix(), SCRIPT),
                "guard.yaml": CONFIG.replace("act.sh]", 'act.sh, "Which currency?"]'),
            },
        ),
        "DEGENERATE",
    ),
    Story(
        "the record came alone, long after the fix",
        history(start(), {SCRIPT: FIXED}, without(fix(), SCRIPT)),
        "DEGENERATE",
        "changes nothing of the agent",
        hint="guard prove taxi --before REV",
        twin=history(
            start(),
            {SCRIPT: FIXED},
            without(fix(before={"kind": "revision", "rev": "HEAD~2"}), SCRIPT),
        ),
    ),
    Story(
        "the fix was taken back",
        history(start(), fix(), {SCRIPT: BROKEN}),
        "DEGENERATE",
    ),
    Story(
        "there was no agent before",
        history(without(start(), SCRIPT), fix()),
        "STALE",
        "there was no agent before",
    ),
    Story(
        "a precondition holds only since the fix",
        asked_of(BROKEN, ASKS, "reply_contains", more="preconditions:\n  - match: Which\n"),
        "STALE",
        "stale, needs review",
    ),
)
