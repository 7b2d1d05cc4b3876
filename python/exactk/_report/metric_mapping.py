"""Mappings from metric to value, statistic or count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from exactk._plan.metric_strings import canonical_name
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from exactk._plan.conventions import Convention

_T = TypeVar("_T")


class MetricMapping(Mapping[str, _T], Generic[_T]):
    """An immutable mapping keyed by metric, which accepts aliases."""

    def __init__(self, names: Sequence[str], values: Sequence[_T], convention: Convention, absent: str) -> None:
        self._values = dict(zip(names, values, strict=True))
        self._convention = convention
        self._absent = absent

    def __getitem__(self, metric: str) -> _T:
        """Return the entry of a metric, by its canonical name or any other spelling."""
        if metric in self._values:
            return self._values[metric]
        try:
            name = canonical_name(metric, self._convention)
        except ExactkError as error:
            raise KeyError(str(error)) from None
        if name not in self._values:
            available = ", ".join(self._values)
            message = f"{name}: {self._absent}" if not available else f"{name} is not among {available}"
            raise KeyError(message)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return repr(self._values)
