"""What is said of two inputs that have no user or no item in common, and whether this shows that their ids differ."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_EXAMPLES = ("", "")


def describe_disjoint(
    what: str, of: str, others: str, examples: tuple[str, str] = _NO_EXAMPLES, *, among: str = ""
) -> str:
    """Return the warning; the examples are one of each input, as messages show keys, and `among` limits the others."""
    if examples[0] == examples[1]:  # of another user, or beyond the cutoff
        examples = _NO_EXAMPLES
    of_one, of_others = (f" (such as {example})" if example else "" for example in examples)
    sides = "all" if " or " in others else "both"
    advice = f"check that {sides} use the same {what} ids"
    if any(example[1:2] == "[" for example in examples):
        advice = "text that holds a list is one item; .map(ast.literal_eval) makes lists of a column"
    return f"no {what} of {of}{of_one} is in {others}{among}{of_others}: {advice}"


def examples_of_differing_ids(ones: Sequence[Any], others: Sequence[Any], users: int) -> tuple[str, str]:
    """Return a key of each of two disjoint sets if their ids most likely differ; none if they may be disjoint by chance.

    What `users` users have is little of all. Ids differ if some would be equal but for their form, most likely also if so
    many are disjoint.
    """
    first, second = _by_plain_form(ones), _by_plain_form(others)
    if common := first.keys() & second.keys():
        return repr(first[min(common)]), repr(second[min(common)])
    are_many = users >= _MANY_USERS and len(ones) * len(others) >= _MANY_PAIRS
    return (min(map(repr, ones)), min(map(repr, others))) if are_many else _NO_EXAMPLES


_MOST = 100_000  # keys whose forms are looked at
_MANY_USERS, _MANY_PAIRS = 32, 100_000  # of items: with fewer, users may well have others
_NOISE = r"(?<!\d)0+(?=\d)|\.0+$|[\W_]+"


def _by_plain_form(keys: Sequence[Any]) -> dict[str, Any]:
    """Return text keys by what is left without case, signs, leading zeros and decimals of 0, and without a prefix of all."""
    by_text = {
        re.sub(_NOISE, "", unicodedata.normalize("NFKC", key).casefold()): key
        for key in keys[:_MOST]
        if isinstance(key, str)
    }
    prefixes = {text.rstrip("0123456789") for text in by_text}
    prefix = min(prefixes, default="")
    if len(prefixes) == 1 and prefix not in by_text:
        by_text |= {text.removeprefix(prefix): key for text, key in by_text.items()}
    return by_text
