"""What to write where an index names no row of differences, or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._report.difference import Difference


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
        advice = f"[row for row in {table} if row.group == {index!r}] has the rows of a group"
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
    return f"the metrics are {metrics}, the pairs are {pairs}"


def _code(rows: Sequence[Difference], *index: str) -> str:
    """Return the code of a row."""
    return f"{_table(rows)}[{', '.join(map(repr, index))}]"


def _table(rows: Sequence[Difference]) -> str:
    """Return the code of the table that has these rows."""
    return "differences.by_group" if any(row.group is not None for row in rows) else "differences"
