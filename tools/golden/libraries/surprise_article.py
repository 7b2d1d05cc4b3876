"""Surprise's example as it was until 2020, and in articles since: 1 where nothing is recommended or relevant."""

from __future__ import annotations

BASE = "_surprise"
DISTRIBUTION = ""
MODULE = "surprise"
REQUIREMENTS = ()
SOURCE = "https://pypi.org/project/scikit-surprise/1.1.0, the sdist"
