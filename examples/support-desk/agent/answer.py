"""Answers one mail by the lines of PROMPT.md; stands in for a model in this example."""

from __future__ import annotations

import re
import sys


def main() -> None:
    """Print the answer to the mail in the first argument."""
    mail, prompt = sys.argv[1], read("PROMPT.md").lower()
    parts = ["Thank you for your mail."] if "greet the customer" in prompt else []
    if re.search(r"discount|cheaper|% off", mail):
        never = "never offer a discount" in prompt
        parts.append(read("policy.md").strip() if never else "You get 10 % off, just this once.")
    number = re.search(r"\b\d{6}\b", mail)
    if "parcel" in mail:
        parts.append(f"Parcel {number[0]} is on its way." if number else "Which number has it?")
    print(" ".join(parts))


def read(path: str) -> str:
    """Return a file of the agent's folder."""
    with open(path, encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    main()
