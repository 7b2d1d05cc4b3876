"""Marks of significance beside the values of systems, as papers print them, and the caption that explains them."""

from __future__ import annotations

from string import ascii_lowercase
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.difference import significant_side
from exactk._report.difference_table import left_out_lines, users_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._report.difference import Difference
    from exactk._report.difference_table import ComparisonMethod
    from exactk._report.sums import Label


class Marks(NamedTuple):
    """The letters of a table of values, and what they mean."""

    letters: Mapping[str, str]  # by system, which other values are marked with
    worse: Mapping[tuple[Label | None, str, str], Sequence[str]]  # by group, metric and system: of those that are worse
    legend: str


NO_MARKS = Marks(MappingProxyType({}), MappingProxyType({}), "")


def letters(count: int) -> list[str]:
    """Return a, b, ..., z, aa, ab, ... in this order."""
    names = list(ascii_lowercase)
    while len(names) < count:
        names += [name + letter for name in names[-(26 ** len(names[-1])) :] for letter in ascii_lowercase]
    return names[:count]


def significance_marks(
    differences: Sequence[Difference], method: ComparisonMethod, directions: Mapping[str, str], systems: Sequence[str]
) -> Marks:
    """Return the marks of the values of these systems, by metric as the differences spell it.

    `directions` are those of the metrics. Training runs have the letter and the marks of their mean.
    """
    compared = method.options.compared_systems(systems)
    letter_of = dict(zip(compared, letters(len(compared)), strict=True))
    runs_of = {system: method.options.runs_of(system) for system in compared}
    worse: dict[tuple[Label | None, str, str], list[str]] = {}
    for one in differences:
        direction = directions[one.metric]
        side = 0 if direction == "none" else significant_side(one, direction, method.options)
        winner, loser = (one.system, one.baseline) if side > 0 else (one.baseline, one.system)
        for run in runs_of[winner] if side else ():
            worse.setdefault((one.group, one.metric, run), []).append(letter_of[loser])
    in_order = {key: sorted(some, key=lambda letter: (len(letter), letter)) for key, some in worse.items()}
    of_runs = {run: letter_of[system] for system, runs in runs_of.items() for run in runs}
    return Marks(of_runs, in_order, _caption(differences, method))


def _caption(differences: Sequence[Difference], method: ComparisonMethod) -> str:
    options = method.options
    users = ", ".join(filter(None, [users_text(differences) or _range_of_users(differences), method.sample]))
    tests = f"{method.test_text(differences)}; {method.adjustment_text}; {method.level_text}; {users}"
    bold = "Best values, also of single runs, in bold" if options.runs else "Best values in bold"
    sentences = [
        f"{bold}; superscript letters: the systems that are significantly worse ({tests})",
        *method.one_side,
        *left_out_lines(differences),
    ]
    if options.baseline is not None:
        sentences.append(f"only differences from {options.baseline} are tested")
    for system, runs in (options.runs or {}).items():
        sentences.append(f"{', '.join(runs)}: runs of {system}, tested as their mean")
    without = sum(bool(one.reason) for one in differences)
    if without:
        sentences.append(f"{without} of {len(differences)} differences without a p-value")
    return "; ".join(sentences)


def _range_of_users(differences: Sequence[Difference]) -> str:
    counts = [one.users for one in differences]
    return f"{min(counts)} to {max(counts)} users"
