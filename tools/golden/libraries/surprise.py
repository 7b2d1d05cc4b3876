"""Surprise's example: 0 where nothing is recommended or relevant."""

from __future__ import annotations

BASE = "_surprise"
DISTRIBUTION = ""
MODULE = "surprise"
REQUIREMENTS = ()
SOURCE = "https://pypi.org/project/scikit-surprise/1.1.5, the sdist"
