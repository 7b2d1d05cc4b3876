"""Text of users, such as names of systems, as it may be shown."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return the text with control characters escaped as Python escapes them."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
