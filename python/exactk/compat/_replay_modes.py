"""How RePlay's metrics combine the values of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional

if TYPE_CHECKING:
    from numpy.typing import NDArray

Distribution = Any
"""Values of users: an array, or a Polars frame with one column if the metric was called with frames of Polars."""


class CalculationDescriptor:
    """What combines the values of users; a subclass of your own has the method `cpu`."""

    @property
    def __name__(self) -> str:
        return str(type(self).__name__)

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return one number for the values of users, an array or a Polars frame with one column."""


class Mean(CalculationDescriptor):
    """The mean of users."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return the mean."""
        return _values(distribution).mean()


class PerUser(CalculationDescriptor):
    """The values themselves, in a dict by user."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - an array or a frame
        """Return the values as they are."""
        return distribution


class Median(CalculationDescriptor):
    """The median of users."""

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return the median."""
        return _values(distribution).median() if optional.is_polars(distribution) else np.median(distribution)


class ConfidenceInterval(CalculationDescriptor):
    """Half the width of the normal confidence interval of the mean. It needs SciPy.

    Parameters
    ----------
    alpha : float
        The level of confidence, such as 0.95.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def cpu(self, distribution: Distribution) -> Any:  # noqa: ANN401 - a number
        """Return half the width; of one user, 0 with frames of Polars, and otherwise NaN with a warning of SciPy."""
        optional.require("scipy", "ConfidenceInterval")
        stats = optional.scipy_stats()
        quantile = stats.norm.ppf((1 + self.alpha) / 2)
        if not optional.is_polars(distribution):
            return quantile * stats.sem(distribution)
        values = _values(distribution)
        deviation = values.std()
        return quantile * (0.0 if deviation is None or np.isnan(deviation) else deviation) / values.count() ** 0.5


def _values(distribution: Distribution) -> Any:  # noqa: ANN401 - an array or a Polars Series
    values: NDArray[Any] = distribution.to_series(0) if optional.is_polars(distribution) else np.asarray(distribution)
    return values
