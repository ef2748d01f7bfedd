"""Stands in for a model: it reads SKILL.md, and rolls dice where a model would think.

It is there to show how guard works. What it does says nothing about any model.
"""

from __future__ import annotations

import random
import re
import sys

TRIP = "trips/london.md"
SAID = re.compile(r"(?P<item>.+) (?:was|were) (?P<amount>\d+) (?P<currency>\w+)")
#: What SKILL.md has to say so that the dice ask instead of acting.
ASKS_FIRST = re.compile(r"another currency[^.]*\bask\b")
QUESTIONS = (
    "Which rate should I use for {amount} {currency}?",
    "{amount} {currency}: at which rate, please?",
    "I changed nothing yet: what were {amount} {currency} in dollars?",
)
ANSWERS = ("Booked: {item}, {dollars} dollars.", "Done, {item} went in as {dollars} dollars.")
#: Drawn from the system, never seeded: no two runs need be alike.
DICE = random.SystemRandom()


def main() -> None:
    """Answer one message about an expense."""
    said = SAID.search(sys.argv[1])
    if said is None:
        print("What was it, and how much?")
        return
    expense = said.groupdict()
    foreign = expense["currency"] != "dollars"
    if foreign and ASKS_FIRST.search(read("SKILL.md")):
        print(DICE.choice(QUESTIONS).format(**expense))
        return
    rate = DICE.uniform(1.143, 1.175) if foreign else 1
    dollars = round(int(expense["amount"]) * rate)
    book(expense["item"], dollars)
    print(DICE.choice(ANSWERS).format(**expense, dollars=dollars))


def book(item: str, dollars: int) -> None:
    """Add a line to the trip, and its amount to the total."""
    lines = read(TRIP).splitlines()
    before = int(re.sub(r"\D", "", lines.pop()))
    lines += [f"| {item} | {dollars} |", f"| **total** | **{before + dollars}** |"]
    with open(TRIP, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def read(path: str) -> str:
    """Return a file of the agent's folder."""
    with open(path, encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    main()
