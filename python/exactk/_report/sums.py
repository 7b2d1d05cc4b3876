"""The exact sums of one value, and group labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Label = str | int


class Sums(NamedTuple):
    """The sums behind one value over some users: integers, so that addition is exact.

    Each of the last three is to be multiplied by 2 to the power of minus its scale.
    """

    users: int  # users with a value
    undefined: int  # of these, how many are NaN
    total: int  # of weight x value (macro), weight x numerator (micro) or weight x logarithm (geometric)
    total_scale: int
    squares: int  # of weight x value^2, or its logarithm (not for micro)
    squares_scale: int
    weight: int  # of the weights, if there are any, or of weight x denominator (micro); 0 otherwise
    weight_scale: int

    @property
    def scales(self) -> tuple[int, int, int]:
        """The resolution of the sums."""
        return self.total_scale, self.squares_scale, self.weight_scale

    @classmethod
    def over_nobody(cls, scales: tuple[int, int, int]) -> Sums:
        """Return the sums over no users."""
        total_scale, squares_scale, weight_scale = scales
        return cls(0, 0, 0, total_scale, 0, squares_scale, 0, weight_scale)

    @classmethod
    def over_groups(cls, groups: Iterable[Sums]) -> Sums:
        """Return the sums over the users of all groups; there must be at least one."""
        users, undefined, totals, total_scales, squares, squares_scales, weights, weight_scales = zip(
            *groups, strict=True
        )
        return cls(
            sum(users),
            sum(undefined),
            sum(totals),
            total_scales[0],
            sum(squares),
            squares_scales[0],
            sum(weights),
            weight_scales[0],
        )

    def plus(self, other: Sums) -> Sums:
        """Return the sums over both sets of users."""
        return Sums(
            self.users + other.users,
            self.undefined + other.undefined,
            self.total + other.total,
            self.total_scale,
            self.squares + other.squares,
            self.squares_scale,
            self.weight + other.weight,
            self.weight_scale,
        )
