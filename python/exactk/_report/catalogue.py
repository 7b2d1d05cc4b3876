"""What a state keeps of the items that its values depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

from exactk._report.validation import checked_digest, checked_fields, checked_integer, fail
from exactk._runtime.faults import plural

_GIVEN = "catalogue"
_SOURCES = (_GIVEN, "train", "popularity")
_MOST_ITEMS = 2**31 - 3


class Catalogue(NamedTuple):
    """The items that could be recommended."""

    digest: int  # 128 bits that tell these items, their popularity, groups and values from others
    size: int  # number of items
    source: str  # the argument of `exactk.Items` that has them: catalogue, train or popularity

    def __str__(self) -> str:
        items = plural(self.size, "item")
        return items if self.source == _GIVEN else f"the {items} of {self.source}"

    def merged(self, other: Catalogue) -> Catalogue:
        """Return the catalogue of both, which have the same digest."""
        return self if self.source == other.source else self._replace(source=_GIVEN)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**self._asdict(), "digest": f"{self.digest:#034x}"}

    @classmethod
    def from_plain(cls, data: Any) -> Catalogue:  # noqa: ANN401 - what JSON holds
        """Return the catalogue that `to_plain` described."""
        checked = checked_fields(data, cls._fields, "a catalogue")
        digest = checked_digest(checked["digest"], "catalogue.digest")
        if digest is None:
            raise fail("catalogue.digest", None)
        if checked["source"] not in _SOURCES:
            raise fail(f"catalogue.source to be one of {', '.join(_SOURCES)}", checked["source"])
        size = checked_integer(checked["size"], "catalogue.size", least=1, most=_MOST_ITEMS)
        return cls(digest, size, checked["source"])


def describe_difference(one: Catalogue | None, other: Catalogue | None) -> str:
    """Return how the items of two states differ; empty if they are the same."""
    if (one and one.digest) == (other and other.digest):
        return ""
    if one is None or other is None:
        return "items in only one of them"
    text = f"values of other items: {one} and {other}"
    return (
        text if one.size != other.size else f"{text}, whose keys, train, popularity, features, groups or values differ"
    )
