"""What is said of two inputs that have no user or no item in common, and whether this shows that their ids differ."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_EXAMPLES = ("", "")


def describe_disjoint(
    what: str, of: str, others: str, examples: tuple[str, str] = NO_EXAMPLES, *, among: str = ""
) -> str:
    """Return the warning; the examples are one of each input, as messages show keys, and `among` limits the others."""
    of_one, of_others = (f" (such as {example})" if example else "" for example in examples)
    sides = "all" if " or " in others else "both"
    advice = f"check that {sides} use the same {what} ids"
    if any(example[1:2] == "[" for example in examples):
        advice = "text that holds a list is one item; .map(ast.literal_eval) makes lists of a column"
    return f"no {what} of {of}{of_one} is in {others}{among}{of_others}: {advice}"


def either(ones: tuple[str, str], others: tuple[str, str]) -> tuple[str, str]:
    """Return the examples of one or the other, whichever come first."""
    return min(filter(any, (ones, others)), default=NO_EXAMPLES)


def examples_of_differing_ids(ones: Sequence[Any], others: Sequence[Any], users: int) -> tuple[str, str]:
    """Return a key of each of two disjoint sets if their ids most likely differ; none if they may be disjoint by chance.

    What `users` users have is little of all. Ids differ if some would be equal but for their form, most likely also if
    all have another form, or if so many are disjoint.
    """
    if not ones or not others:
        return NO_EXAMPLES
    sides = [] if isinstance(ones[0], int) else [_by_plain_form(keys[:_MOST]) for keys in (ones, others)]
    for first, second in zip(*sides, strict=True):
        if common := first.keys() & second.keys():
            return repr(first[min(common)]), repr(second[min(common)])
    are_many = users >= _MANY_USERS and len(ones) * len(others) >= _MANY_PAIRS
    have_other_forms = min(len(ones), len(others)) >= _MANY_FORMS and not _forms(ones) & _forms(others)
    return (min(map(repr, ones)), min(map(repr, others))) if are_many or have_other_forms else NO_EXAMPLES


_MOST = 100_000  # keys whose forms are looked at
_MANY_FORMS = 8  # keys, whose forms are then most likely those of all
_MANY_USERS, _MANY_PAIRS = 32, 100_000  # of items: with fewer, users may well have others
_NUMBERED = re.compile(r"(\D*)0*(\d+)(?:\.0+)?\D*")


def _by_plain_form(keys: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys by what is left without case, signs, leading zeros and decimals of 0; and without their prefix.

    The latter are empty unless all keys have the same prefix of a number.
    """
    texts = [unicodedata.normalize("NFKC", str(key)).strip().casefold() for key in keys]
    parts = [(text, "") if (match := _NUMBERED.fullmatch(text)) is None else match.groups() for text in texts]
    numbers = {number: key for (_, number), key in zip(parts, keys, strict=True)}
    have_one_prefix = "" not in numbers and len({prefix for prefix, _ in parts}) == 1
    plain = {re.sub(r"[\W_]+", "", "".join(part)): key for part, key in zip(parts, keys, strict=True)}
    return plain, numbers if have_one_prefix else {}


def _forms(keys: Sequence[Any]) -> set[str]:
    """Return the forms of the keys: letters, digits and signs, of each of which a run counts as one."""
    return {re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", str(key))) for key in keys}
