"""The differences between all compared pairs of systems, with their tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from exactk._inference.margins import Heterogeneity, heterogeneity
from exactk._inference.significance import PValue, adjust, errors_of_adjusted
from exactk._plan.metric_strings import canonical_name
from exactk._report.difference import Compared, Difference, difference_row, verdict_of
from exactk._report.difference_table import ComparisonMethod, caption_lines, difference_table, heterogeneity_lines
from exactk._report.export_forms import flat_dict
from exactk._report.metric_mapping import ReadOnlyMapping
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import capitalized
from exactk._runtime.table_exports import ExportsTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exactk._inference.margins import Margin
    from exactk._report.comparison_options import ComparisonOptions
    from exactk._report.paired_sums import Resampled
    from exactk._report.sums import Label
    from exactk._runtime.table import Table

_TRACKED = ("difference", "low", "high", "p", "p_adjusted")
"""The fields that experiment trackers are given."""


def tested_rows(
    compared: Sequence[Compared],
    resampled: Sequence[Resampled | None],
    options: ComparisonOptions,
    margins: Mapping[str, Margin],
) -> list[Difference]:
    """Return the rows with adjusted p-values and verdicts. A family is of one group, and of one metric or all."""
    rows = [difference_row(*both, options, margins) for both in zip(compared, resampled, strict=True)]
    families: dict[object, list[int]] = {}
    for index, row in enumerate(rows):
        families.setdefault((row.group, row.metric if options.family == "metric" else ""), []).append(index)
    for family in families.values():
        if options.adjust == "max_t":
            adjusted = [rows[i].p_adjusted for i in family]
        else:
            adjusted = adjust([rows[i].p for i in family], options.adjust)
        p_values = [PValue(rows[i].p, rows[i].p_error, p) for i, p in zip(family, adjusted, strict=True)]
        errors = errors_of_adjusted(p_values, options.adjust, options.permutations)
        for index, p, error in zip(family, adjusted, errors, strict=True):
            row = rows[index]._replace(p_adjusted=p, p_adjusted_error=error)
            rows[index] = row._replace(verdict=verdict_of(row, compared[index].direction, options))
    return rows


def heterogeneity_of(groups: Sequence[Compared], whole: Compared) -> Heterogeneity:
    """Return the test of the claim that a difference differs between groups, not yet adjusted."""
    test = heterogeneity([None if one.estimate is None else one.estimate.contrast() for one in groups])
    units = sum(one.sums.moments.units for one in groups)
    return test._replace(shared=max(0, units - whole.sums.moments.units))


class Differences(ExportsTable, Sequence[Difference]):
    """The differences of a comparison: a sequence of one `Difference` per metric and pair of systems.

    `exactk.Comparison.differences` returns it. It prints as a table, with the test, the adjustment and the confidence
    below. ``differences["als", "ndcg@10"]`` is the row of a system and a metric, ``differences["als", "popularity",
    "ndcg@10"]`` that of a pair and a metric, and ``differences.of("ndcg@10")`` has all rows of a metric. Metrics may be
    spelled in any way.

    Attributes
    ----------
    caption : str
        How the differences were tested, in words.
    by_group : Differences
        The same by group of users, adjusted within each group; empty without ``groups=``.
    heterogeneity : Mapping of (metric, system, baseline) to float
        The p-value of Welch's test, which is small if the difference is not the same in all groups; NaN for fewer than
        two groups. Groups without variance, such as those of one user, are left out; the line below the table of
        groups counts them. Groups are taken as independent; a line says where a cluster has users in several. Empty
        without ``groups=``.
    heterogeneity_adjusted : Mapping of (metric, system, baseline) to float
        The same, adjusted by Holm's method over all metrics and pairs of systems of the comparison, whatever its
        ``adjust=`` and ``family=``. The difference differs between groups if this is at most 1 - confidence.
    i_squared : Mapping of (metric, system, baseline) to float
        I², from 0 to 1: which share of the variation between groups is more than chance would make.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> groups = ["new"] * 18 + ["old"] * 22
    >>> differences = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a", groups=groups).differences
    >>> differences
    metric  system   value  baseline value  difference            interval  relative        p    d_z  wins/ties/losses  verdict
    P@1     b       0.5500          0.2500     +0.3000  +0.1516 to +0.4484  +120.0 %  0.00021  0.646           12/28/0   better
    paired t test against a; no adjustment: one comparison per metric; 95 % intervals
    40 users; a true difference of 0.2109 or more would be significant in 4 of 5 samples of this size
    few users: fewer than 20 differ, so p and interval are rough
    >>> [(row.group, round(row.difference, 3), row.verdict) for row in differences.by_group]
    [('new', 0.444, 'better'), ('old', 0.182, 'better')]
    >>> round(differences.heterogeneity["P@1", "b", "a"], 3), round(differences.i_squared["P@1", "b", "a"], 2)
    (0.084, 0.69)
    """

    __module__ = "exactk.results"

    def __init__(
        self,
        rows: Sequence[Difference],
        method: ComparisonMethod,
        by_group: Differences | None = None,
        heterogeneity: Mapping[tuple[str, str, str], Heterogeneity] | None = None,
    ) -> None:
        self._rows, self._method = tuple(rows), method
        self._by_group = by_group
        self._heterogeneity = dict(heterogeneity or {})

    def __reduce__(self) -> tuple[Any, ...]:
        heterogeneity = {key: tuple(one) for key, one in self._heterogeneity.items()}
        return (Differences._from_plain, (self._rows, self._method.to_plain(), self._by_group, heterogeneity))

    @classmethod
    def _from_plain(
        cls,
        rows: Sequence[Difference],
        method: dict[str, Any],
        by_group: Differences | None,
        heterogeneity: dict[tuple[str, str, str], tuple[Any, ...]],
    ) -> Differences:
        tests = {key: Heterogeneity(*one) for key, one in heterogeneity.items()}
        return cls(rows, ComparisonMethod.from_plain(method), by_group, tests)

    @property
    def by_group(self) -> Differences:
        """The differences by group of users."""
        return Differences((), self._method) if self._by_group is None else self._by_group

    @property
    def heterogeneity(self) -> Mapping[tuple[str, str, str], float]:
        """The p-value of Welch's test by metric, system and baseline."""
        return ReadOnlyMapping({key: one.p for key, one in self._heterogeneity.items()})

    @property
    def heterogeneity_adjusted(self) -> Mapping[tuple[str, str, str], float]:
        """The same, adjusted by Holm's method over all metrics and pairs of systems."""
        return ReadOnlyMapping({key: one.p_adjusted for key, one in self._heterogeneity.items()})

    @property
    def i_squared(self) -> Mapping[tuple[str, str, str], float]:
        """I² by metric, system and baseline."""
        return ReadOnlyMapping({key: one.i_squared for key, one in self._heterogeneity.items()})

    def of(self, metric: str | None = None, system: str | None = None, group: Label | None = None) -> Differences:
        """Return the rows of a metric, of a system, of a group, or of what several of these have in common.

        Without a group, the part has the rows of all groups in its ``by_group``. Raise KeyError if there are rows, but
        none of these.
        """
        if group is not None and self._by_group is not None:
            return self._by_group.of(metric, system, group)
        spelling = None if metric is None else self._spelling(metric)
        rows = [
            row
            for row in self
            if spelling in {None, row.metric}
            and system in {None, row.system, row.baseline}
            and group in {None, row.group}
        ]
        if self and not rows:
            asked = [repr(one) for one in (metric, system, group) if one is not None]
            raise KeyError(f"no difference of {' and '.join(asked)}; {names_of(self)}")
        return self._part(rows, None if self._by_group is None else self._by_group.of(metric, system))

    def _part(self, rows: Sequence[Difference], by_group: Differences | None = None) -> Differences:
        """Return some of the rows."""
        keys = {(row.metric, row.system, row.baseline) for row in rows}
        heterogeneity = {key: one for key, one in self._heterogeneity.items() if key in keys}
        return Differences(rows, self._method, by_group, heterogeneity)

    def _spelling(self, metric: str) -> str:
        """Return a metric as the rows spell it; as it is if they have none."""
        spellings = self._method.spellings
        if metric in spellings.values():
            return metric
        try:
            return spellings.get(canonical_name(metric, self._method.convention), metric)
        except ExactkError:  # no metric
            return metric

    def columns(self) -> dict[str, Any]:
        """Return the rows as columns, by name; those of groups have their heterogeneity too, which is that of all groups."""
        has_groups = any(row.group is not None for row in self)
        left_out = () if has_groups else ("group",)
        columns = {
            name: [getattr(row, name) for row in self._rows] for name in Difference._fields if name not in left_out
        }
        for name in ("heterogeneity", "heterogeneity_adjusted", "i_squared") * has_groups:
            numbers = getattr(self, name)
            columns[name] = [numbers[row.metric, row.system, row.baseline] for row in self._rows]
        return columns

    def to_flat_dict(self, prefix: str = "", *, sep: str = "/") -> dict[str, float]:
        """Return each difference, its interval and its p-values under names that experiment trackers accept.

        A name is that of `Comparison.to_flat_dict` with ``_difference``, ``_low``, ``_high``, ``_p`` or
        ``_p_adjusted``, the field of the row. Without a baseline, the name of the other system is after that of the
        system; the group of a row of groups is before the metric. NaN is kept.

        Parameters
        ----------
        prefix : str
            What every name begins with.
        sep : str
            What is between system and metric.

        Raises
        ------
        InputError
            If two rows would have one name.

        Examples
        --------
        >>> import exactk
        >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
        >>> differences = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a").differences
        >>> {name: round(number, 4) for name, number in differences.to_flat_dict().items()}
        {'b/P_at_1_difference': 0.3, 'b/P_at_1_low': 0.1516, 'b/P_at_1_high': 0.4484, 'b/P_at_1_p': 0.0002, 'b/P_at_1_p_adjusted': 0.0002}
        """
        has_baselines = self._method.options.baseline is None

        def parts(row: Difference, field: str) -> tuple[str, ...]:
            baseline = (row.baseline,) if has_baselines else ()
            group = () if row.group is None else (str(row.group),)
            return (row.system, *baseline, *group, f"{row.metric} {field}")

        return flat_dict(((parts(row, field), getattr(row, field)) for row in self for field in _TRACKED), prefix, sep)

    @property
    def caption(self) -> str:
        """How the differences were tested, in words."""
        caption = "; ".join(self._caption_lines())
        return capitalized(caption)

    def _caption_lines(self) -> list[str]:
        heterogeneity = heterogeneity_lines(self, self._heterogeneity, self._method)
        return [*caption_lines(self, self._method), *heterogeneity]

    def _table(self, digits: int | None) -> Table:
        return difference_table(self, self._method, digits)._replace(notes=self._caption_lines())

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> Difference: ...
    @overload
    def __getitem__(self, index: slice) -> Differences: ...
    @overload
    def __getitem__(self, index: tuple[str, str] | tuple[str, str, str]) -> Difference: ...
    def __getitem__(self, index: int | slice | tuple[str, ...] | str) -> Difference | Differences:
        """Return a row by its number, by system and metric, or by system, baseline and metric."""
        if isinstance(index, slice):
            return self._part(self._rows[index])
        if isinstance(index, str):
            raise text_index_error(index, self._spelling(index), self)
        if not isinstance(index, tuple):
            return self._rows[index]
        *systems, metric = index or ("",)
        spelling = self._spelling(metric)
        rows = [row for row in self if row.metric == spelling and [row.system, row.baseline][: len(systems)] == systems]
        if len(rows) != 1 or len(index) not in {2, 3}:
            raise lookup_error(index, spelling, self, self._method.options.runs or {})
        return rows[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Differences):
            return NotImplemented
        return repr([*self, *self.by_group]) == repr([*other, *other.by_group])

    __hash__ = None  # type: ignore[assignment]


def lookup_error(
    index: tuple[str, ...], metric: str, rows: Sequence[Difference], runs: Mapping[str, Sequence[str]]
) -> KeyError:
    """Return the error for systems and a metric, spelled as the rows spell it, that do not name one row."""
    if len(index) not in {2, 3}:
        return KeyError(f"expected a system and a metric, or a system, its baseline and a metric, found {index!r}")
    *systems, last = index
    found = [row for row in rows if row.metric == metric and [row.system, row.baseline][: len(systems)] == systems]
    if found:
        return KeyError(f"{index!r} names {len(found)} differences{_how_to_choose(found, systems, last)}")
    advice = _advice(index, metric, rows, runs) or names_of(rows)
    return KeyError(f"{index!r} names 0 differences; {advice}")


def text_index_error(index: object, metric: str, rows: Sequence[Difference]) -> TypeError:
    """Return the error for an index that is one name, of a metric, a system or a group."""
    table = _table(rows)
    if any(row.metric == metric for row in rows):
        advice = f"{table}.of({index!r}) has the rows of a metric"
    elif any(index in {row.system, row.baseline} for row in rows):
        advice = f"{table}.of(system={index!r}) has the rows of a system"
    elif any(index == row.group for row in rows):
        advice = f"{table}.of(group={index!r}) has the rows of a group"
    else:
        advice = names_of(rows)
    return TypeError(f"expected a number, or a system and a metric, found {index!r}; {advice}")


def _how_to_choose(found: Sequence[Difference], systems: Sequence[str], metric: str) -> str:
    """Return how to name one of several rows."""
    groups = {row.group for row in found}
    if groups != {None}:
        of = ", ".join(map(repr, (metric, *systems[:1])))
        return f", in {len(groups)} groups; {_table(found)}.of({of}) has them"
    row = found[0]
    return f" from different baselines; {_code(found, row.system, row.baseline, metric)} names one"


def _advice(index: tuple[str, ...], metric: str, rows: Sequence[Difference], runs: Mapping[str, Sequence[str]]) -> str:
    """Return what was probably meant; empty if that is not known."""
    *systems, last = index
    pairs = list(dict.fromkeys((row.system, row.baseline) for row in rows if row.metric == metric))
    system_of = {run: system for system, names in runs.items() for run in names}
    if not pairs:
        is_system = any(last in {row.system, row.baseline} for row in rows)
        return f"the metric comes last: {_code(rows, *index[1:], index[0])}" if is_system else ""
    of_runs = [name for name in systems if name in system_of]
    if of_runs:
        named = [system_of.get(name, name) for name in systems]
        of_means = _code(rows, *named, last)
        return f"{of_runs[0]!r} is a run of {system_of[of_runs[0]]!r}; {of_means} is of the mean over runs"
    if len(systems) == 2 and (systems[1], systems[0]) in pairs:
        return f"the pair is the other way round: {_code(rows, *reversed(systems), last)}"
    others = [system for system, baseline in pairs if baseline == systems[0]]
    if len(systems) == 1 and others:
        return f"{systems[0]!r} is the baseline; {_code(rows, others[0], last)} compares {others[0]!r} with it"
    return ""


def names_of(rows: Sequence[Difference]) -> str:
    """Return the metrics and the pairs of systems."""
    if not rows:
        return "there are none: users have no values of the metrics"
    metrics = ", ".join(dict.fromkeys(repr(row.metric) for row in rows))
    pairs = ", ".join(dict.fromkeys(f"({row.system!r}, {row.baseline!r})" for row in rows))
    groups = ", ".join(dict.fromkeys(repr(row.group) for row in rows if row.group is not None))
    return f"the metrics are {metrics}, the pairs are {pairs}{groups and f', the groups are {groups}'}"


def _code(rows: Sequence[Difference], *index: str) -> str:
    """Return the code of a row."""
    return f"{_table(rows)}[{', '.join(map(repr, index))}]"


def _table(rows: Sequence[Difference]) -> str:
    """Return the code of the table that has these rows."""
    return "differences.by_group" if any(row.group is not None for row in rows) else "differences"
