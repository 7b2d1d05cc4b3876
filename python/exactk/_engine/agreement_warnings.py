"""Warnings about the agreement of two lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.warnings import describe_disjoint_keys, describe_values_without_weight
from exactk._runtime.errors import warn
from exactk._runtime.faults import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._inputs.alignment import AlignedInputs
    from exactk._plan.values import Value
    from exactk._report.report import Report


def warn_of_agreement(
    report: Report,
    values: Sequence[Value],
    inputs: AlignedInputs,
    longest: Mapping[str, int],
    rank_gaps: Mapping[str, int],
) -> None:
    """Warn of what the lists look like; `longest` and `rank_gaps` are of each list by its name."""
    for name, users in rank_gaps.items():
        if users:
            warn(f"{name}: {plural(users, 'user')} with gaps in the ranks, which are closed: only the order counts")
    disjoint = describe_disjoint_keys(report, inputs)
    if disjoint:
        warn(disjoint.replace("the truth", "one").replace("the predictions", "other"))
    else:
        _warn_of_users(report)
    for name, size in longest.items():
        _warn_of_cutoffs(name, size, values)
    if without_weight := describe_values_without_weight(report):
        warn(without_weight)


def _warn_of_users(report: Report) -> None:
    counts = report.state.counts
    sides = {"one": counts.missing_predictions, "other": counts.missing_truth}
    texts = [f"{plural(users, 'user')} only in {name}" for name, users in sides.items() if users]
    if texts:
        warn(f"{' and '.join(texts)}: left out")
    names = [name for name, users in report.counts["evaluated"].items() if users == 0]
    if names:
        warn(f"no user was evaluated for {', '.join(names)}: NaN")


def _warn_of_cutoffs(name: str, longest: int, values: Sequence[Value]) -> None:
    """Warn if no list reaches a cutoff; for lip, which asks for ranks beyond the cutoff, if none goes beyond it."""
    for value in values:
        if not longest or value.cutoff is None:
            continue
        if name == "one" and value.info.reads_beyond_cutoff:
            if value.cutoff >= longest:
                warn(
                    f"{name}: no list is longer than {longest}, so {value.spelling} is 0: it needs ranks beyond its cutoff"
                )
                return
        elif value.cutoff > longest:
            warn(f"{name}: no list is longer than {longest}, so {value.spelling} has only these items")
            return
