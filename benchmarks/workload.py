"""What a workload is: a description of one evaluation, from which its arrays are drawn.

The arrays are the same for the same description on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer[Any]]

SEED = 20_260_901


@dataclass(frozen=True)
class Data:
    """The arrays of one evaluation: the truth in CSR form, all else one row per user."""

    indptr: NDArray[np.int64]
    items: Ids
    predictions: NDArray[Any]  # ids, best first; or scores; or factors
    candidates: Ids | None = None  # the items that the scores are of, where they are not all items
    excluded: Ids | None = None
    factors: NDArray[np.float32] | None = None  # of the items, where the predictions are those of the users

    def rows(self, users: NDArray[np.intp]) -> Data:
        """Return some users, all of whom have the same number of relevant items."""
        relevant = int(self.indptr[1])
        indptr = np.arange(len(users) + 1, dtype=np.int64) * relevant
        return Data(
            indptr,
            self.items.reshape(-1, relevant)[users].reshape(-1),
            self.predictions[users],
            None if self.candidates is None else self.candidates[users],
            None if self.excluded is None else self.excluded[users],
            self.factors,
        )

    def save(self, folder: Path) -> None:
        """Write the arrays for other processes."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in vars(self).items():
            if array is not None:
                np.save(folder / f"{name}.npy", array)

    @classmethod
    def load(cls, folder: Path) -> Data:
        """Read what `save` wrote, into memory."""
        paths = {field.name: folder / f"{field.name}.npy" for field in fields(cls)}
        return cls(**{name: np.load(path) for name, path in paths.items() if path.exists()})


@dataclass(frozen=True)
class Workload:
    """One evaluation, described. Building it twice gives the same arrays."""

    name: str
    purpose: str
    users: int
    length: int  # items per user that are recommended, or that have a score
    relevant: int  # relevant items per user
    cutoffs: tuple[int, ...]  # none: the whole list counts
    metrics: tuple[str, ...]
    per_user: bool = False
    threads: int = 2

    @property
    def values(self) -> tuple[str, ...]:
        """The canonical names of what is computed, metric by metric."""
        return tuple(f"{metric}{suffix}" for metric in self.metrics for suffix in self._suffixes())

    def _suffixes(self) -> list[str]:
        return [f"@{cutoff}" for cutoff in self.cutoffs] or [""]

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `exactk.evaluate`."""
        return {"per_user": self.per_user, "num_threads": self.threads}

    @property
    def ids(self) -> int:
        """How many items are recommended or have a score: what nanoseconds an id are over."""
        return self.users * self.length

    @property
    def array_description(self) -> Workload:
        """What of the description decides on the arrays."""
        return replace(self, name="", purpose="", cutoffs=(), metrics=(), per_user=False, threads=0)

    @property
    def bytes(self) -> int:
        """What must be read and written once, whatever the method."""
        raise NotImplementedError

    def build(self) -> Data:
        """Draw the arrays."""
        raise NotImplementedError
