"""The accuracy functions of Surprise, and `precision_recall_at_k` of its FAQ, over lists of predictions.

Change the import, and nothing else::

    from surprise.accuracy import rmse  # before
    from exactk.compat.surprise import rmse  # after

Examples
--------
>>> from exactk.compat import surprise
>>> predictions = [("ann", 1, 5.0, 4.5, {}), ("ann", 2, 2.0, 4.0, {}), ("bob", 1, 4.0, 3.0, {})]
>>> surprise.precision_recall_at_k(predictions, k=10, threshold=3.5)
({'ann': 0.5, 'bob': 0}, {'ann': 1.0, 'bob': 0.0})

`differences` says what is not equal; the rest is as the documentation of Surprise says.
"""

from __future__ import annotations

from operator import index, itemgetter, length_hint
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk.compat._pairs import first_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from exactk.compat._key_codes import Floats, Integers


__all__ = ["differences", "fcp", "mae", "mse", "precision_recall_at_k", "precision_recall_at_k_article", "rmse"]


def differences() -> tuple[str, ...]:
    """Return what is not equal to Surprise, in sentences."""
    return (
        "A prediction of NaN is a ValueError in precision_recall_at_k; sorted() puts it in an arbitrary place.",
        "precision_recall_at_k is a function here; Surprise has it in its FAQ and its examples, to be copied.",
        "rmse, mse and mae may differ in the last digits, by 1e-12 at most.",
        "Ratings of NumPy's float32 and integers are squared in float64; in Surprise they lose digits, or overflow.",
        "Ratings are numbers that float64 holds; fcp in Surprise compares strings and decimal.Decimal as well.",
        "Values are floats of Python; those of Surprise are NumPy's.",
    )


def precision_recall_at_k(
    predictions: Iterable[Sequence[Any]], k: int = 10, threshold: float = 3.5
) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """Return precision and recall at k by user, as the FAQ of Surprise computes them; 0 / 0 is 0.

    A row is relevant if its rating reaches the threshold, and recommended if it is among the first k of its user by
    falling estimate, and its estimate reaches the threshold. Equal estimates keep their order.

    See Also
    --------
    exactk.from_ratings : The means, from columns.
    """
    return _by_threshold(predictions, k, threshold, 0)


def precision_recall_at_k_article(
    predictions: Iterable[Sequence[Any]], k: int = 10, threshold: float = 3.5
) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """Return precision and recall at k by user, as articles and the FAQ until 2020 do: 0 / 0 is 1."""
    return _by_threshold(predictions, k, threshold, 1)


def _by_threshold(
    predictions: Iterable[Sequence[Any]], k: int, threshold: float, undefined: int
) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    # The core has these values by the preset 'surprise', but no cutoff of 0 or below, as the end of a slice may be. To count
    # rows takes as long as to make a truth and lists of them.
    rows = _prediction_rows(predictions)
    is_relevant, is_recommended = rows.actual >= threshold, rows.estimates >= threshold
    is_recommended &= _is_among_first(rows, k)
    relevant, recommended, hits = (
        np.bincount(rows.users[mask], minlength=len(rows.keys))
        for mask in (is_relevant, is_recommended, is_relevant & is_recommended)
    )
    precisions, recalls = (_ratios(hits, divisors, undefined) for divisors in (recommended, relevant))
    return dict(zip(rows.keys, precisions, strict=True)), dict(zip(rows.keys, recalls, strict=True))


def _ratios(hits: NDArray[np.int64], divisors: NDArray[np.int64], undefined: int) -> list[float]:
    """Return the ratios, and the integer where the divisor is 0."""
    ratios: list[float] = (hits / np.maximum(divisors, 1)).tolist()
    for row in np.flatnonzero(divisors == 0):
        ratios[row] = undefined
    return ratios


def rmse(predictions: Sequence[Sequence[Any]], verbose: bool = True) -> float:  # noqa: FBT001, FBT002 - as in Surprise
    """Return the root mean squared error."""
    return _printed("RMSE: ", float(np.sqrt(np.mean(_errors(predictions) ** 2))), verbose=verbose)


def mse(predictions: Sequence[Sequence[Any]], verbose: bool = True) -> float:  # noqa: FBT001, FBT002 - as in Surprise
    """Return the mean squared error, with the arguments of `rmse`."""
    return _printed("MSE: ", float(np.mean(_errors(predictions) ** 2)), verbose=verbose)


def mae(predictions: Sequence[Sequence[Any]], verbose: bool = True) -> float:  # noqa: FBT001, FBT002 - as in Surprise
    """Return the mean absolute error, with the arguments of `rmse`."""
    return _printed("MAE:  ", float(np.mean(np.abs(_errors(predictions)))), verbose=verbose)


def fcp(predictions: Sequence[Sequence[Any]], verbose: bool = True) -> float:  # noqa: FBT001, FBT002 - as in Surprise
    """Return the fraction of concordant pairs: of the rows of a user with unequal ratings, those in the same order."""
    _check_any(predictions)
    concordant, discordant = (_mean_of_some(counts) for counts in _pair_orders(_prediction_rows(predictions)))
    if concordant + discordant == 0:
        message = "cannot compute fcp on this list of prediction. Does every user have at least two predictions?"
        raise ValueError(message)
    return _printed("FCP:  ", concordant / (concordant + discordant), verbose=verbose)


def _mean_of_some(counts: NDArray[np.int64]) -> float:
    """Return the mean of the users who have such a pair."""
    some = counts[counts > 0]
    return float(some.mean()) if len(some) else 0.0


def _errors(predictions: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
    _check_any(predictions)
    errors = (actual - estimate for _, _, actual, estimate, _ in predictions)
    return np.fromiter(errors, np.float64, length_hint(predictions, -1))  # Surprise takes iterators too


def _check_any(predictions: Sequence[Sequence[Any]]) -> None:
    if not predictions:
        message = "Prediction list is empty."
        raise ValueError(message)


def _printed(label: str, value: float, *, verbose: bool) -> float:
    if verbose:
        print(f"{label}{value:1.4f}")  # noqa: T201 - as Surprise does
    return value


_PARTS = 5
_CELLS = 1 << 22  # of a table of pairs


class _PredictionRows(NamedTuple):
    """The rows of all users, in the order given."""

    keys: list[Hashable]  # the users, in the order of their first rows
    users: Integers  # by row: the position of its user
    actual: Floats
    estimates: Floats


def _prediction_rows(predictions: Iterable[Any]) -> _PredictionRows:
    """Return the rows; raise ValueError unless each has five parts, and TypeError unless ratings are numbers."""
    rows = predictions if isinstance(predictions, (list, tuple)) else list(predictions)
    if set(map(len, rows)) - {_PARTS}:
        message = f"expected predictions of {_PARTS} parts: user, item, rating, estimate, details"
        raise ValueError(message)
    actual, estimates = (_numbers(list(map(itemgetter(part), rows))) for part in (2, 3))
    positions: dict[Hashable, int] = {}
    codes = [positions.setdefault(row[0], len(positions)) for row in rows]
    return _PredictionRows(list(positions), np.array(codes, np.int64), actual, estimates)


def _numbers(values: list[Any]) -> Floats:
    array: NDArray[Any] = np.array(values) if values else np.zeros(0)
    if array.dtype.kind not in "biuf":
        message = f"expected numbers as ratings, found {array.dtype}"
        raise TypeError(message)
    return array.astype(np.float64)


def _is_among_first(rows: _PredictionRows, k: int | None) -> NDArray[np.bool_]:
    """Return which rows are among the first k of their user by falling estimate, as a slice ``[:k]`` has them."""
    if k is None:
        return np.ones(len(rows.users), np.bool_)
    is_first = np.zeros(len(rows.users), np.bool_)
    is_first[first_rows(rows.users, len(rows.keys), rows.estimates, index(k), nan="raise")[0]] = True
    return is_first


def _pair_orders(rows: _PredictionRows) -> tuple[Integers, Integers]:
    """Return, by user, how many ordered pairs have estimates and ratings that agree, and how many do not.

    Of a pair with a higher and a lower rating, estimates agree if that of the higher is higher.
    """
    concordant = np.zeros(len(rows.keys), np.int64)
    discordant = np.zeros(len(rows.keys), np.int64)
    order = np.argsort(rows.users, kind="stable")
    sizes = np.bincount(rows.users, minlength=len(rows.keys))
    begins = np.cumsum(sizes) - sizes
    for user in np.flatnonzero(sizes > 1):
        mine = order[begins[user] : begins[user] + sizes[user]]
        concordant[user], discordant[user] = _count_pairs(rows.actual[mine], rows.estimates[mine])
    return concordant, discordant


def _count_pairs(actual: Floats, estimates: Floats) -> tuple[int, int]:
    """Return how many pairs agree, and how many do not, by tables of some rows beside all."""
    concordant = discordant = 0
    step = max(1, _CELLS // len(actual))
    for begin in range(0, len(actual), step):
        block = slice(begin, begin + step)
        is_higher = actual[block, np.newaxis] > actual
        concordant += int(np.count_nonzero(is_higher & (estimates[block, np.newaxis] > estimates)))
        discordant += int(np.count_nonzero(is_higher & (estimates[block, np.newaxis] <= estimates)))
    return concordant, discordant
