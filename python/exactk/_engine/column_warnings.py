"""Warnings about the columns of a truth: grade columns, and columns that could be grades."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from exactk._inputs.keys.column_roles import names_ratings, usual_role
from exactk._inputs.pair_lists import describe_pairs, frame_of_lists, frame_of_pairs, kind_of_pairs
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


_PAIRS_AS_FRAMES = f"{frame_of_pairs('truth')}, {frame_of_lists('predictions')}"


def warn_of_pairs(
    truth: ClassifiedValue, systems: Iterable[ClassifiedValue], as_frames: str = _PAIRS_AS_FRAMES
) -> None:
    """Warn of lists of pairs that are likely users and items, but are read as lists of two items."""
    kind = kind_of_pairs(truth)
    if kind and any(kind_of_pairs(predictions) == kind for predictions in systems):
        warn(describe_pairs(kind, as_frames))


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
    """Warn if all ratings count as relevant, unless all ratings above 0 are equal."""
    if not scale.lowest < scale.highest < math.inf:  # infinite ratings are refused later
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
    """Warn of numeric columns that could be grades and are not weights or groups; `call` is what may name them."""
    used, _, unused = truth.columns
    if others := [name for name in unused if name not in set(user_values)]:
        is_of_predictions = not {"score", "rank"}.isdisjoint(map(usual_role, others))
        order = "; if these are the predictions, the truth comes first" if is_of_predictions else ""
        warn(
            f"truth: every item counts as relevant, because no grade column was found, and {' and '.join(map(repr, others))} "
            f"{'is' if len(others) == 1 else 'are'} not used{order}; ",
            Option("grade", others[0], call),
            f" uses it as grades, truth[{list(used)!r}] leaves it out",
        )
