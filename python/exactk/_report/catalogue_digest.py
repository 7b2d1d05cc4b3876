"""Which items a state is of, by a digest."""

from __future__ import annotations

from exactk._runtime.faults import plural
from exactk._runtime.records import NamedTuple

_GIVEN = "catalogue"


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
