"""Warnings about the columns of a truth: grade columns, and columns that could be grades."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from exactk._inputs.keys.column_roles import POSITIVE, names_ratings, usual_role
from exactk._inputs.readings import describe_items_of_parts, users_with_items
from exactk._plan.hints import convention_option
from exactk._plan.metric_strings import as_plan
from exactk._runtime.errors import warn
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from exactk._inputs.model.rows import Rows
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.truth import Truth
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._runtime.faults import Text


def warn_of_pairs(
    truth: ClassifiedValue, systems: Iterable[ClassifiedValue], arguments: tuple[str, str] = ("truth", "predictions")
) -> None:
    """Warn of tuples that are likely users with items, but are read as lists of items."""
    systems = list(systems)
    if message := next(filter(None, (describe_items_of_parts(truth, predictions) for predictions in systems)), ""):
        warn(message)
    tuples = users_with_items(truth)
    if tuples and any(users_with_items(predictions) == tuples for predictions in systems):
        warn(tuples.describe(*arguments))


class RatingScale(NamedTuple):
    """The ratings above 0 seen so far."""

    lowest: float = math.inf
    highest: float = -math.inf

    def add(self, ratings: NDArray[np.float64] | None) -> RatingScale:
        """Return the scale extended by these ratings."""
        if ratings is not None and len(ratings) and ratings.min() <= 0:
            ratings = ratings[ratings > 0]
        if ratings is None or not len(ratings):
            return self
        return RatingScale(min(self.lowest, float(ratings.min())), max(self.highest, float(ratings.max())))

    def plus(self, other: RatingScale) -> RatingScale:
        """Return the scale of both."""
        return RatingScale(min(self.lowest, other.lowest), max(self.highest, other.highest))

    @property
    def high_rating(self) -> float:
        """Four fifths of the highest rating: 4 of 5, 8 of 10, 0.8 of 1; rounded up to an integer within the scale."""
        four_fifths = self.highest - self.highest / 5
        whole = math.ceil(four_fifths)
        return whole if 1 < self.highest >= whole else float(f"{four_fifths:.2g}")


def rating_column(truth: Truth | Rows, values: Iterable[Value]) -> str | None:
    """Return the name of the rating column if a value counts all ratings above 0 as relevant, else None."""
    return counted_ratings(truth.columns.grade, values)


def counted_ratings(grade: str | None, values: Iterable[Value]) -> str | None:
    """Return the name of the grade column if it names ratings and a value counts all above 0 as relevant, else None."""
    return grade if grade is not None and names_ratings(grade) and as_plan(values).counts_all_grades else None


def warn_of_ratings(column: str, scale: RatingScale, convention: Convention) -> None:
    """Warn if all ratings count as relevant, unless those above 0 are equal, or all at least the suggested grade."""
    if not scale.lowest < scale.highest < math.inf:  # infinite ratings are refused later
        return
    if scale.lowest >= scale.high_rating:
        return
    warn(
        f"truth: every rating above 0 in the column {column!r} counts as relevant; ",
        convention_option(convention, min_grade=scale.high_rating),
        f" counts ratings of {scale.high_rating} or more",
    )


CONVERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "truth": "exactk.as_truth(truth, {})",
        "predictions": "exactk.as_predictions(predictions, {})",
        "exclude": "exactk.as_exclusions(exclude, {})",
        "candidates": "exactk.as_exclusions(candidates, {})",
    }
)
"""The calls that name columns of data frames, for hints, where the function itself does not."""


def warn_of_unused_columns(truth: Truth | Rows, user_values: Iterable[str | None], call: str) -> None:
    """Warn of columns that could be grades or say what happened, and are not weights or groups.

    `call` is what may name them.
    """
    used, grade, numbers, events = truth.columns
    user_values = set(user_values)
    events = tuple(event for event in events if event[0] not in user_values)
    numbers = tuple(name for name in numbers if name not in user_values)
    if not events and not numbers:
        return
    names = [*map(_describe_event, events), *map(repr, numbers)]
    is_of_predictions = not {"score", "rank"}.isdisjoint(map(usual_role, numbers))
    order = "; if these are the predictions, the truth comes first" if is_of_predictions else ""
    if grade is None:
        reason = "every item counts as relevant, because no grade column was found"
        last: Text = (f"truth[{list(used)!r}] leaves it out",)
    else:
        reason, last = f"the rows count by {grade!r} alone", (Option("grade", grade, call), " keeps it so")
    lines: list[str | Option] = [_rows_of_one_value(*events[0])] if events else []
    if numbers:
        lines += [Option("grade", numbers[0], call), " uses it as grades, "]
    verb = "is" if len(names) == 1 else "are"
    warn(f"truth: {reason}, and {' and '.join(names)} {verb} not used{order}; ", *lines, *last)


def _rows_of_one_value(name: str, *values: str) -> str:
    if not values:
        return "pass the rows of one value if these alone count, "
    value = next((repr(value) for value in values if value.lower() in POSITIVE), "...")
    return f"truth[truth[{name!r}] == {value}] in pandas has the rows of {value.replace('...', 'one value')} alone, "


def _describe_event(event: tuple[str, ...]) -> str:
    """Return the name of a column, with some of its values, as far as they are known."""
    name, *values = event
    return f"{name!r} ({', '.join(map(repr, values[:_FEW_VALUES]))})" if values else repr(name)


_FEW_VALUES = 4
