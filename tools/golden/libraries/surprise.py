"""Surprise's example: 0 where nothing is recommended or relevant."""

from __future__ import annotations

from golden.libraries._surprise import CALLS, DIFFERS, INPUT, KNOBS, MIN_SCORE, NOT_DRAWN, TOLERANCE, evaluate

__all__ = ["CALLS", "DIFFERS", "INPUT", "KNOBS", "MIN_SCORE", "NOT_DRAWN", "TOLERANCE", "evaluate"]

DISTRIBUTION = ""
MODULE = "surprise"
REQUIREMENTS = ()
SOURCE = "https://pypi.org/project/scikit-surprise/1.1.5, the sdist"
