"""The level of a confidence, and how many random draws reach it."""

from __future__ import annotations

from fractions import Fraction


def level_of(confidence: float) -> float:
    """Return 1 - confidence in decimal: 0.1 for 0.9, where a difference of doubles is below 0.1.

    A p-value of exactly the level is significant.
    """
    return float(1 - Fraction(repr(float(confidence))))


def ranks_within(level: float, draws: int) -> int:
    """Return the largest whole number that, divided by the draws and the observed one together, is at most the level."""
    rank = round(level * (draws + 1))
    return rank - (rank / (draws + 1) > level)


def fewest_draws(level: float) -> int:
    """Return how many draws give one rank within the level."""
    count = round(1 / level)
    return count - (1 / count <= level)


def round_draws(fewest: int) -> int:
    """Return a round number of draws, one less than 1, 2 or 5 times a power of 10, that is at least the fewest."""
    power: int = 10 ** (len(str(fewest)) - 1)
    return next(factor * power - 1 for factor in (1, 2, 5, 10) if factor * power > fewest)
