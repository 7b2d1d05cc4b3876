"""What users and items are called: queries and documents, where inputs say so, or as the caller says.

Texts are written with the words *user* and *item*, and get these names on their way out of the package.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from functools import cache

from exactk._runtime.records import NamedTuple


@cache
def _changed() -> re.Pattern[str]:
    """Return a pattern of what stays as it is, and of the words that change, with their articles."""
    brackets = r"[^()\[\]{}]*"
    for _ in range(3):  # as deep as code in messages is
        brackets = rf"(?:[^()\[\]{{}}]|[(\[{{]{brackets}[)\]}}])*"
    return re.compile(
        r"(?<![\w'])(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"  # the caller's texts
        r"|\A[\w.]+(?=: )"  # an argument
        rf"|(?:(?<=\w)\(|[\[{{]){brackets}[)\]}}]"  # code
        r"|[^\s'\"(]*/[^\s'\"]*|(?<![\w-])[\w-]+(?:\.\w+)+"  # paths
        r"|(?:\b(?P<article>[Aa])n? )?"
        r"(?<![\w.=/])(?<!--)(?:(?P<user>[Uu]ser)|(?P<item>[Ii]tem))(?P<plural>s?)(?![\w=(\[]|\.\w)"  # no names of code
        r"(?P<pronoun> whom?\b)?"
    )


class UnitNames(NamedTuple):
    """The singular names of the unit of a row and of a column."""

    user: str = "user"
    item: str = "item"

    @property
    def pair(self) -> tuple[str, str]:
        """The names alone, as pickles name no private class."""
        return self.user, self.item

    @property
    def users(self) -> str:
        """The name of several."""
        return plural_of(self.user)

    @property
    def items(self) -> str:
        """The name of several."""
        return plural_of(self.item)

    def text(self, text: str) -> str:
        """Return a text about users and items with these names; what is in quotes and in code stays as it is."""
        return text if self == USERS_AND_ITEMS else _changed().sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        old = match["user"] or match["item"]
        if old is None:
            return match[0]
        new = self.user if match["user"] else self.item
        new = plural_of(new) if match["plural"] else new
        new = new.capitalize() if old[0].isupper() else new
        new += " that" if match["pronoun"] else ""
        return f"{_article(match['article'], new)} {new}" if match["article"] else new


def _article(first_letter: str, noun: str) -> str:
    return f"{first_letter}n" if noun[0].lower() in "aeio" else first_letter


def plural_of(noun: str) -> str:
    """Return an English noun in the plural: queries, matches, documents."""
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(s|x|z|ch|sh)$", noun) else f"{noun}s"


USERS_AND_ITEMS = UnitNames()
_QUERIES_AND_DOCUMENTS = UnitNames("query", "document")
_COLUMNS = UnitNames(r"(q|quer(y|ies)|topics?)(no|ids?|idx)?", r"(doc(ument)?s?|corpus)(no|ids?|idx)?")
"""The names of columns of queries and documents, without underscores."""
_PRESETS = frozenset(
    {"ir_measures", "pytrec_eval", "ranx", "trec_eval", "trec_eval_9", "trec_eval_9_complete", "trec_eval_complete"}
)
"""The conventions of libraries whose own words are query and document."""


class Signs:
    """What the inputs of a call have shown so far: names of either unit."""

    __slots__ = ("_found", "_given", "_preset")

    def __init__(self, given: UnitNames | None = None, preset: str = "") -> None:
        self._given, self._preset = given, preset
        self._found: tuple[set[str], set[str]] = set(), set()

    def add(self, name: str, role: str | None) -> None:
        """Add what the name of a column says, which has a usual one of this role, or none."""
        folded = "".join(filter(str.isalnum, name.lower()))
        for index, unit in enumerate(UnitNames._fields):
            if re.fullmatch(_COLUMNS[index], folded):
                self._found[index].add(_QUERIES_AND_DOCUMENTS[index])
            elif role == unit:
                self._found[index].add(unit)

    @property
    def names(self) -> UnitNames:
        """The caller's names, else those of columns and files, else of the preset.

        A unit without a sign follows the other one, and one that inputs name in two ways keeps its usual name.
        """
        if self._given is not None:
            return self._given
        if not any(self._found):
            is_search = self._preset.partition(" with ")[0] in _PRESETS  # or changed from one
            return _QUERIES_AND_DOCUMENTS if is_search else USERS_AND_ITEMS
        is_search = any(found == {name} for found, name in zip(self._found, _QUERIES_AND_DOCUMENTS, strict=True))
        units = zip(self._found, _QUERIES_AND_DOCUMENTS, USERS_AND_ITEMS, strict=True)
        return UnitNames(
            *(
                next(iter(found)) if len(found) == 1 else other if is_search and not found else usual
                for found, other, usual in units
            )
        )


SIGNS: ContextVar[Signs | None] = ContextVar("SIGNS", default=None)
"""Those of the call that runs, if it has some."""


def note_column(name: str, role: str | None) -> None:
    """Take what the name of a column says, in the call that runs."""
    if (signs := SIGNS.get()) is not None:
        signs.add(name, role)


def unit_names_of_call(preset: str = "") -> UnitNames:
    """Return the names in the call that runs; else those of the preset."""
    signs = SIGNS.get()
    return (Signs(preset=preset) if signs is None else signs).names


def is_word(noun: object) -> bool:
    """Return whether this may name a unit: words of letters."""
    return isinstance(noun, str) and re.fullmatch(r"[^\W\d_]+([ -][^\W\d_]+)*", noun) is not None
