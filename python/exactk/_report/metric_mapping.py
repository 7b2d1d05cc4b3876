"""Read-only mappings, such as those from metric to value, statistic or count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from exactk._plan.metric_strings import canonical_name
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from exactk._plan.conventions import Convention
    from exactk._report.sums import Label

_K = TypeVar("_K")
_T = TypeVar("_T")


class ReadOnlyMapping(Mapping[_K, _T], Generic[_K, _T]):
    """A mapping that nobody can change; its copies and what is loaded from its pickles are plain dicts."""

    def __init__(self, values: dict[_K, _T]) -> None:
        self._values = values

    def __getitem__(self, key: _K) -> _T:
        return self._values[key]

    def __iter__(self) -> Iterator[_K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class GroupMapping(ReadOnlyMapping["Label", "MetricMapping[float]"]):
    """An immutable mapping from group to the mapping of its entries, which is made when it is read."""

    def __init__(
        self,
        labels: Iterable[Label],
        columns: Iterable[Sequence[float]],
        of_group: Callable[[Sequence[float]], MetricMapping[float]],
    ) -> None:
        """Create the mapping of columns with an entry per group, from a function that makes the mapping of one group."""
        self._rows = dict(zip(labels, zip(*columns, strict=True), strict=True))
        self._of_group = of_group

    def __getitem__(self, label: Label) -> MetricMapping[float]:
        if not self._rows:
            message = f"{label!r}: no groups; groups= in the call gives each user one"
            raise KeyError(message)
        return self._of_group(self._rows[label])

    def __contains__(self, label: object) -> bool:
        return label in self._rows

    def __iter__(self) -> Iterator[Label]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class MetricMapping(ReadOnlyMapping[str, _T], Generic[_T]):
    """An immutable mapping keyed by metric as it was spelled, which finds entries by any other spelling too."""

    def __init__(self, spellings: Mapping[str, str], values: Sequence[_T], convention: Convention, absent: str) -> None:
        """Create the mapping; `spellings` are by canonical name, and none have an entry if there are no values."""
        super().__init__(dict(zip(spellings.values(), values, strict=True)) if values else {})
        self._spellings = spellings
        self._convention = convention
        self._absent = absent

    def __getitem__(self, metric: str) -> _T:
        """Return the entry of a metric, in any spelling."""
        if metric in self._values:
            return self._values[metric]
        try:
            spelling = self._spellings.get(metric) or self._spellings.get(canonical_name(metric, self._convention))
        except ExactkError as error:
            raise KeyError(str(error)) from None
        if spelling not in self._values:
            available = ", ".join(map(repr, self._values))
            message = f"{metric!r} is not among {available}" if available else f"{metric!r}: {self._absent}"
            raise KeyError(message)
        return self._values[spelling]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)
