"""Under which conventions published numbers are reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._runtime.errors import input_error, type_error
from exactk._runtime.table import Table
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.texts import parse_number

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_MISSES = 5  # that are shown where no convention matches
_MORE_DECIMALS = 2  # than the published number has, so that misses show
_MOST_DECIMALS = 300


@dataclass(frozen=True)
class PublishedNumber:
    """A number as it was printed, which stands for all numbers that round to it."""

    text: str
    number: Decimal
    decimals: int  # negative where zeros before the point are not digits of the number, as in 1.2e3

    @classmethod
    def from_argument(cls, metric: str, value: object) -> PublishedNumber:
        """Return the number; raise InputError or InputTypeError if it is none."""
        expected = f"{metric} beside a number such as 0.345, or its text"
        if isinstance(value, bool) or not isinstance(value, (Real, Decimal, str)):
            raise type_error("published", expected, repr(value))
        text = str(value).strip()
        parsed = parse_number(text)
        exponent = None if parsed is None or not math.isfinite(parsed) else Decimal(text).as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MOST_DECIMALS:
            raise input_error("published", expected, repr(value)[:200])
        return cls(text, Decimal(text), -exponent)

    def distance(self, value: float) -> float:
        """Return how far a value is, in half units of the last digit: up to 1 it rounds to the number."""
        if math.isnan(value):
            return math.inf
        return float(abs(Decimal(value) - self.number) / Decimal(5).scaleb(-self.decimals - 1))

    def format(self, value: float, digits: int | None = None) -> str:
        """Return a value with so many decimals, or with more than the number has."""
        return f"{value:.{max(0, self.decimals) + _MORE_DECIMALS if digits is None else digits}f}"


class ConventionMatch(NamedTuple):
    """A convention's values beside published numbers.

    Attributes
    ----------
    convention : str
        The name of the preset.
    numbers : Mapping of str to float
        Its value of each metric; empty if it refuses the input.
    distance : float
        The largest difference from a published number, in half units of that number's last digit. Up to 1, all values
        round to the published numbers. Infinite for NaN, and if the preset refuses the input.
    refusal : str
        Why the preset refuses the input; empty if it does not.
    """

    convention: str
    numbers: Mapping[str, float]
    distance: float
    refusal: str = ""

    @property
    def is_match(self) -> bool:
        """Whether all values round to the published numbers."""
        return self.distance <= 1


class ConventionMatches(ExportsTable):
    """The result of `exactk.matching_conventions`. It prints the presets that match, or the nearest misses.

    Attributes
    ----------
    rows : tuple of ConventionMatch
        One row per preset: ``convention``, ``numbers``, ``distance``, ``refusal``, ``is_match``. Those that match come
        first, then the others, the nearest first.
    names : tuple of str
        The presets that match.
    """

    __module__ = "exactk.results"

    def __init__(
        self,
        published: Mapping[str, PublishedNumber],
        rows: Mapping[str, Mapping[str, float] | str],
        changes: str = "",
    ) -> None:
        self._published = dict(published)
        self._changes = changes  # that all presets have, as text
        self.rows = tuple(
            sorted((self._row(name, values) for name, values in rows.items()), key=lambda row: max(row.distance, 1))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        texts = {metric: number.text for metric, number in self._published.items()}
        rows = {row.convention: row.refusal or row.numbers for row in self.rows}
        return (ConventionMatches._from_plain, (texts, rows, self._changes))

    @classmethod
    def _from_plain(
        cls, texts: Mapping[str, str], rows: Mapping[str, Mapping[str, float] | str], changes: str
    ) -> ConventionMatches:
        published = {metric: PublishedNumber.from_argument(metric, text) for metric, text in texts.items()}
        return cls(published, rows, changes)

    def _row(self, name: str, values: Mapping[str, float] | str) -> ConventionMatch:
        if isinstance(values, str):
            return ConventionMatch(name, {}, math.inf, values)
        distances = [number.distance(values[metric]) for metric, number in self._published.items()]
        return ConventionMatch(name, values, max(distances))

    @property
    def names(self) -> tuple[str, ...]:
        """The presets that match."""
        return tuple(row.convention for row in self.rows if row.is_match)

    def columns(self) -> dict[str, Any]:
        """Return a row for each preset: its values, their distance, and why it refuses the input, if it does."""
        numbers = {metric: [row.numbers.get(metric, math.nan) for row in self.rows] for metric in self._published}
        return {
            "convention": [row.convention for row in self.rows],
            **numbers,
            "distance": [row.distance for row in self.rows],
            "refusal": [row.refusal for row in self.rows],
        }

    def _table(self, digits: int | None) -> Table:
        presets: dict[tuple[str, ...], list[str]] = {}  # by their numbers as they are printed
        for row in self.rows:
            if row.is_match or not (self.names or row.refusal):
                cells = tuple(number.format(row.numbers[metric], digits) for metric, number in self._published.items())
                presets.setdefault(cells, []).append(row.convention)
        shown = list(presets.items())[: None if self.names else _MOST_MISSES]
        published = [*(number.text for number in self._published.values()), "published"]
        rows = [published, *([*cells, ", ".join(names)] for cells, names in shown)]
        count = f"{len(self.names)} of {len(self.rows)} presets match"
        if not self.names:
            count = f"none of {len(self.rows)} presets matches: these are the nearest"
        if self._changes:
            count += f"; all with {self._changes}"
        refusals = [f"refused by {row.convention}: {row.refusal}" for row in self.rows if row.refusal]
        header = [*self._published, "presets"]
        around: dict[str, Any] = {"caption": "Published numbers and presets", "longest": 600}
        return Table.of_rows(header, rows, len(header), notes=[count, *refusals], **around)
