"""Marks of significance beside the values of systems, as papers print them, and the caption that explains them."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

from exactk._report.difference import significant_side
from exactk._report.difference_table import left_out_lines, users_text
from exactk._report.tables import NO_SUPERSCRIPTS, Superscripts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._report.difference import Difference
    from exactk._report.difference_table import ComparisonMethod
    from exactk._report.sums import Label


class SignificanceMarks(NamedTuple):
    """The superscripts of a table of values, and its caption."""

    superscripts: Superscripts
    caption: str


NO_MARKS = SignificanceMarks(NO_SUPERSCRIPTS, "")


def letters(count: int) -> list[str]:
    """Return a, b, ..., z, aa, ab, ... in this order."""
    names = list(ascii_lowercase)
    while len(names) < count:
        names += [name + letter for name in names[-(26 ** len(names[-1])) :] for letter in ascii_lowercase]
    return names[:count]


def significance_marks(
    differences: Sequence[Difference],
    method: ComparisonMethod,
    directions: Mapping[str, str],
    rows: Sequence[tuple[Label | None, str]],
    columns: Mapping[str, int],
) -> SignificanceMarks:
    """Return the marks of a table with a row per group and metric, spelled as in the differences, and columns of systems.

    `directions` are those of the metrics. Training runs have the letter and the marks of their mean.
    """
    systems = method.options.compared_systems(columns)
    letter_of = dict(zip(systems, letters(len(systems)), strict=True))
    worse: dict[tuple[Label | None, str, str], list[str]] = {}
    for one in differences:
        direction = directions[one.metric]
        side = 0 if direction == "none" else significant_side(one, direction, method.options)
        winner, loser = (one.system, one.baseline) if side > 0 else (one.baseline, one.system)
        if side:
            worse.setdefault((one.group, one.metric, winner), []).append(letter_of[loser])
    of_cells = {
        (row, column): sorted(worse.get((group, metric, system), []), key=lambda letter: (len(letter), letter))
        for row, (group, metric) in enumerate(rows)
        for system in systems
        for column in map(columns.__getitem__, method.options.runs_of(system))
    }
    of_columns = {columns[run]: letter_of[system] for system in systems for run in method.options.runs_of(system)}
    return SignificanceMarks(Superscripts(of_columns, of_cells), _caption(differences, method))


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
