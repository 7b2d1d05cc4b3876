"""What sign flips and resamples say of one row of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from exactk._inference.bootstrap import BootstrapIntervals
    from exactk._inference.sign_flips import FlipTest
    from exactk._inference.significance import HalfWidth


class Resampled(NamedTuple):
    """What random numbers say of one value of one pair."""

    test: FlipTest | None
    intervals: BootstrapIntervals | None
    half_width: HalfWidth | None  # of simultaneous intervals, if they are asked

    @property
    def p_max_t(self) -> float:
        """The p-value adjusted for the family by its largest differences; NaN unless that is asked."""
        return math.nan if self.test is None else self.test.p_max_t
