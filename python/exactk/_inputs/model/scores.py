"""Canonical dense scores: a matrix, used in place."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs.checks import exact_float, read_only, score_array
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.model.candidate_items import CandidateItems


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Scores:
    """Dense scores: one score per user and item, where higher is better.

    An item's id is its column index. The array is viewed, not copied.

    Parameters
    ----------
    values : array of float or int, shape (n_users, n_items)
        Scores of float16, float32, float64 or any integer type, compared exactly in that type. (If the convention's
        ``score_dtype`` is ``"float32"``, a rounded copy is compared.) Strided arrays and memory maps are used in
        place; do not change them during the evaluation. Only unaligned arrays and arrays of another byte order are
        copied.
    min_score : float, optional
        Drop items with a lower score, or with a NaN score.

    Raises
    ------
    InputTypeError
        If the array has the wrong type or shape. NaN is checked for during the evaluation.
    InputError
        If `min_score` is NaN or cannot be represented in float64.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> scores = exactk.Scores(np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.3]]), min_score=0.25)
    >>> scores
    <Scores of 2 users, 3 items (float64)>
    >>> exactk.precision_at_k([[1], [0, 1]], scores, k=2)
    0.5
    """

    values: NDArray[Any]
    min_score: float | None
    core: _core.Scores = field(repr=False)

    def __init__(self, values: object, min_score: float | None = None) -> None:
        self._freeze(values, min_score, "predictions")

    @classmethod
    def for_argument(cls, values: object, argument: str) -> Scores:
        """View an array under the argument name that messages use."""
        scores = cls.__new__(cls)
        scores._freeze(values, None, argument)  # noqa: SLF001 - its own
        return scores

    def _freeze(self, values: object, min_score: object, argument: str) -> None:
        array = read_only(score_array(values, argument))
        threshold = None if min_score is None else checked_threshold(min_score)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "min_score", threshold)
        object.__setattr__(self, "core", _core.Scores(array, threshold, None, argument))

    def core_for(self, candidates: CandidateItems | None) -> _core.Scores:
        """Return the core's view of the scores, restricted to these columns."""
        if candidates is None:
            return self.core
        return _core.Scores(self.values, self.min_score, candidates.core, "predictions")

    def with_float32_scores(self) -> Scores:
        """Return the same scores as float32, and `min_score` too."""
        return Scores(round_to_float32(self.values), round_threshold(self.min_score))

    def without_negative_infinity(self) -> Scores:
        """Return the same scores with -inf and NaN dropped."""
        return Scores(self.values, finite_threshold(self.min_score))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.values)

    def __repr__(self) -> str:
        users, items = self.values.shape
        return f"<Scores of {plural(users, 'user')}, {plural(items, 'item')} ({self.values.dtype})>"

    def has(self, user: int) -> bool:
        """Return whether the user has a list; always true, as every user has scores."""
        return 0 <= user < len(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scores, (self.values, self.min_score))


def checked_threshold(min_score: object, argument: str = "min_score") -> float:
    """Return the lowest recommended score in the form that the core takes."""
    if isinstance(min_score, bool) or not isinstance(min_score, Real):
        raise type_error(argument, "a number or None", repr(min_score))
    exact = exact_float(min_score)
    if exact is None or math.isnan(exact):
        found = "NaN" if exact is not None else "a number with more digits"
        raise input_error(argument, "a number that float64 holds", found)
    return exact


def finite_threshold(min_score: float | None) -> float:
    """Return the lowest recommended score if -inf is not recommended."""
    lowest = float(np.finfo(np.float64).min)
    return lowest if min_score is None else max(min_score, lowest)


_CHUNK = 1 << 20  # scores that are rounded at a time: signals are handled between them


def round_to_float32(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the scores rounded to float32, infinite beyond its range. Narrower types are unchanged."""
    if scores.dtype in {np.dtype(np.float16), np.dtype(np.float32)}:
        return scores
    rounded = np.empty(scores.shape, np.float32)
    rows = max(1, _CHUNK // max(1, math.prod(scores.shape[1:])))
    with np.errstate(over="ignore", invalid="ignore"):
        for begin in range(0, len(scores), rows):
            rounded[begin : begin + rows] = scores[begin : begin + rows]
    return rounded


def round_threshold(min_score: float | None) -> float | None:
    """Return `min_score` as float32, such that scores that reach it still do once rounded."""
    return None if min_score is None else float(round_to_float32(np.array([min_score]))[0])
