"""Metrics of one's own: what the plan, the engines and the states know of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal


_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z])?")


def check_name(name: object) -> str:
    """Return the name of a custom metric, or raise if strings could not name it."""
    if not isinstance(name, str):
        raise type_error("name", "a string", repr(name))
    if not _NAME.fullmatch(name) or len(name) > 100:
        expected = "letters, digits, _ and -, from a letter to a letter"
        raise input_error("name", expected, repr(name[:200]), hint="k= is the cutoff")
    return name


@dataclass(frozen=True)
class CustomInfo:
    """The description of a metric of one's own, with the attributes of the other metrics' descriptions."""

    name: str
    of: Literal["judged", "lists"]
    range: tuple[float, float] | None
    direction: Literal["higher", "lower", "none"]
    digest: int  # 128 bits that tell its function from others of its name

    summary: ClassVar[str] = "a metric of one's own, from exactk.custom"
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    aliases: ClassVar[list[str]] = []
    own_fields: ClassVar[list[str]] = []
    averages_precisions: ClassVar[bool] = False
    compares_lists: ClassVar[bool] = False
    counts_missing_lists: ClassVar[bool] = False
    discounted: ClassVar[bool] = False
    every_rank: ClassVar[bool] = False
    micro: ClassVar[bool] = True
    of_collection: ClassVar[bool] = False
    pairwise: ClassVar[bool] = False
    parameter: ClassVar[None] = None
    positive_without_hits: ClassVar[bool] = True  # for all that is known
    reads_base: ClassVar[bool] = False
    reads_beyond_cutoff: ClassVar[bool] = False
    reads_features: ClassVar[bool] = False
    reads_list: ClassVar[bool] = False  # itself: the core does not
    reads_list_ranks: ClassVar[bool] = False
    reads_popularity: ClassVar[bool] = False
    reads_history: ClassVar[bool] = False
    reads_groups: ClassVar[bool] = False
    takes_item_count: ClassVar[bool] = False
    takes_max_grade: ClassVar[bool] = False
    unit_range: ClassVar[bool] = False  # sums have room for all numbers, whatever the range
    uses_gains: ClassVar[bool] = False
    uses_ideal: ClassVar[bool] = False
    walks_list: ClassVar[bool] = False

    @property
    def reads_truth(self) -> bool:
        """Whether users without relevant items are as the convention says."""
        return self.of == "judged"


@dataclass(frozen=True, repr=False)
class CustomMetric:
    """A metric of one's own at a cutoff, for the metrics of `exactk.evaluate` and `exactk.compare`.

    `exactk.custom` makes it.

    Attributes
    ----------
    spelling : str
        The name, the cutoff and the fields, as reports show it: ``"price_recall@10"``.
    function : callable
        What computes it.
    """

    info: CustomInfo
    spelling: str
    function: Callable[[Any], object] = field(compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        info = self.info
        return CustomMetric._of_parts, (
            (info.name, info.of, info.range, info.direction, info.digest), self.spelling, self.function,
        )  # fmt: skip

    @classmethod
    def _of_parts(cls, parts: tuple[Any, ...], spelling: str, function: Callable[[Any], object]) -> CustomMetric:
        return cls(CustomInfo(*parts), spelling, function)

    def __repr__(self) -> str:
        return f"<custom metric {self.spelling}>"


CustomMetric.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body
