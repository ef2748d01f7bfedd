"""Which stand-ins for storage an agent's options name, and what of them evidence rests on."""

from __future__ import annotations

from typing import Any

from tests.conftest import ScratchRepo
from tests.guard_command import CLERK, GuardCommand, case, config

TARGET = """\
from guard.plugin import Fingerprint, Observation, Option, StorageDouble, Target, hookimpl

from .outbox import Outbox


def run(trial):
    names = [(one.name, one.replaces, one.factory.__name__) for one in trial.doubles]
    return Observation(reply=f"{names} {trial.given} {trial.python}")


def fingerprint(options, host):
    return Fingerprint("clerk 1", endpoint=host.env.get("CLERK_URL", ""))


@hookimpl
def guard_targets():
    option = Option("doubles", "texts", ())
    return [Target("clerk", run, "a clerk", (option,), deterministic=True, fingerprint=fingerprint)]


@hookimpl
def guard_storage_doubles():
    return [StorageDouble("outbox", "shop.post:Outbox", Outbox, "no letter is sent")]
"""
OUTBOX = "class Outbox:\n    pass\n"


def write(repo: ScratchRepo, names: list[str], **more: Any) -> None:
    agent = {**CLERK, "target": "clerk", "options": {"doubles": names}, **more}
    repo.write({**config({"clerk": agent}, plugins=["plug/plugin.py"])})
    repo.write({"plug/plugin.py": TARGET, "plug/outbox.py": OUTBOX})
    given = {"files": {"letters/one.txt": "hello"}}
    repo.write(case("hi", {"reply_contains": ["("]}, given=given))


def test_a_trial_gets_the_doubles_that_are_named(repo: ScratchRepo, guard: GuardCommand) -> None:
    write(repo, ["outbox"], python="./py")
    (run, *_) = guard.report("--no-cache")["cases"][0]["runs"]
    assert "[('outbox', 'shop.post:Outbox', 'Outbox')] ('letters/one.txt',)" in run["reply"]
    assert f"('{repo.root}/./py',)" in run["reply"]
    write(repo, [])
    (run, *_) = guard.report("--no-cache")["cases"][0]["runs"]
    assert run["reply"].startswith("[] ")


def test_a_double_that_nobody_offers_is_refused(repo: ScratchRepo, guard: GuardCommand) -> None:
    write(repo, ["outbx"])
    guard("run").refuses(
        "guard.yaml:", "no plugin offers the storage double 'outbx'; did you mean `outbox`"
    )


def test_evidence_rests_on_the_text_of_a_double(repo: ScratchRepo, guard: GuardCommand) -> None:
    write(repo, ["outbox"])
    first = guard.report()["cases"][0]["receipt"]
    assert guard.report()["cases"][0]["receipt"] == first
    repo.write({"plug/outbox.py": OUTBOX + "# changed\n"})
    assert guard.report()["cases"][0]["receipt"] != first


def test_an_endpoint_that_a_fingerprint_tells_is_not_live(
    repo: ScratchRepo, guard: GuardCommand
) -> None:
    write(repo, [], env=["CLERK_URL"])
    assert guard.report("--no-cache", env={"CLERK_URL": "http://127.0.0.1:9"})["live"] is False
    write(repo, [])
    assert guard.report("--no-cache")["live"] is True
