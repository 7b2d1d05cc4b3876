"""What differences show: the ranks that they leave to systems, and claims about systems, as gates of pipelines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from exactk._inference.intervals import relative_interval, share_unlike, t_interval
from exactk._inference.margins import POWER, Margin, contrast_at, p_above, p_below, p_by_t, units_to_show
from exactk._inference.significance import level_of
from exactk._report.comparison_options import check_size
from exactk._report.difference import check_share, has_no_share
from exactk._report.difference_table import FEW_USERS
from exactk._runtime.errors import input_error
from exactk._runtime.faults import Option
from exactk._runtime.table import Column, Table, html_of_tables
from exactk._runtime.table_exports import ExportsTable
from exactk._runtime.texts import DIGITS, did_you_mean, printable
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames, plural_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._inference.estimates import Estimate
    from exactk._plan.values import Value
    from exactk._report.difference import Compared, Difference
    from exactk._report.sums import Label


class RankInterval(NamedTuple):
    """The ranks that a system may have in one metric, from 1: an entry of `Ranks`.

    Attributes
    ----------
    best : int
        1 + the number of systems that are significantly better.
    worst : int
        The number of systems minus the number of those that are significantly worse.

    Examples
    --------
    >>> import exactk
    >>> hits = {"a": 25, "b": 15}
    >>> systems = {name: [[1]] * count + [[2]] * (30 - count) for name, count in hits.items()}
    >>> exactk.compare([[1]] * 30, systems, "P@1").ranks("P@1")["a"]
    RankInterval(best=1, worst=1)
    """

    best: int
    worst: int


RankInterval.__module__ = "exactk.results"  # for its body has fields alone


class Ranks(ExportsTable, Mapping[str, RankInterval]):
    """The ranks that each system may have in one metric, a mapping from system to `RankInterval`.

    `exactk.Comparison.ranks` returns it. Systems are in the order of their values, the best first. It prints them with
    the test and its adjustment.

    Attributes
    ----------
    top : tuple of str
        The systems that no other is significantly better than: those tied for the top if there are several.

    Examples
    --------
    >>> import exactk
    >>> hits = {"a": 15, "b": 25, "c": 27}
    >>> systems = {name: [[1]] * count + [[2]] * (30 - count) for name, count in hits.items()}
    >>> ranks = exactk.compare([[1]] * 30, systems, "P@1").ranks("P@1")
    >>> ranks.top
    ('c', 'b')
    >>> {system: f"{interval.best} to {interval.worst}" for system, interval in ranks.items()}
    {'c': '1 to 2', 'b': '1 to 2', 'a': '3 to 3'}
    """

    __module__ = "exactk.results"

    def __init__(
        self, metric: str, values: Mapping[str, float], intervals: Mapping[str, RankInterval], note: str
    ) -> None:
        self._metric, self._values, self._intervals, self._note = metric, dict(values), dict(intervals), note

    @property
    def top(self) -> tuple[str, ...]:
        """The systems that are tied for the top."""
        return tuple(system for system, interval in self.items() if interval.best == 1)

    def value_of(self, system: str) -> float:
        """Return the value of a system, by which it is ranked."""
        return self._values[system]

    def __getitem__(self, system: str) -> RankInterval:
        """Return the interval of a system."""
        if system not in self._intervals:
            message = f"{system!r} is not among {', '.join(map(repr, self))}"
            raise KeyError("; ".join(filter(None, [message, did_you_mean(system, self)])))
        return self._intervals[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def columns(self) -> dict[str, Any]:
        """Return a row for each system: its value, and the best and the worst rank that it may have."""
        intervals = self._intervals.values()
        return {
            "system": list(self._intervals),
            self._metric: [self._values[system] for system in self._intervals],
            "best_rank": [interval.best for interval in intervals],
            "worst_rank": [interval.worst for interval in intervals],
        }

    def _table(self, digits: int | None) -> Table:
        values = [self._values[system] for system in self._intervals]
        columns = [
            Column("system", list(self._intervals), "key"),
            Column(self._metric, values, digits=DIGITS if digits is None else digits),
            Column("rank", [*map(ranks_text, self._intervals.values())]),
        ]
        top = f"{'tied for the ' * (len(self.top) > 1)}top: {', '.join(self.top)}"
        return Table(columns, f"Ranks by {self._metric}", [top, self._note])


def ranks_text(interval: RankInterval) -> str:
    """Return the ranks in words."""
    return str(interval.best) if interval.best == interval.worst else f"{interval.best} to {interval.worst}"


def rank_intervals(systems: Sequence[str], sides: Sequence[tuple[Difference, int]]) -> dict[str, RankInterval]:
    """Return the interval of each system from all pairs; 1 is a system significantly better than its baseline, -1 worse."""
    better, worse = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)  # how many others are
    for row, side in sides:
        winner, loser = (row.system, row.baseline) if side > 0 else (row.baseline, row.system)
        if side:
            worse[winner] += 1
            better[loser] += 1
    return {system: RankInterval(1 + better[system], len(systems) - worse[system]) for system in systems}


class NeededUsers(int):
    """How many users find a difference: an int with the group that they are of.

    `exactk.Comparison.users_for` returns it.

    Attributes
    ----------
    total : int
        The users of a sample in which the group has that many, if its share stays as it is; without a group, the number
        itself.
    group : int, str or None
        The group of users; None for all users.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[1]] * 22 + [[2]] * 18
    >>> comparison = exactk.compare(truth, {"a": a, "b": b}, "P@1", groups=["new"] * 16 + ["old"] * 24)
    >>> needed = comparison.users_for("P@1", 0.05, group="old")
    >>> needed, needed.total, comparison.users_for("P@1", 0.05, group="every").group
    (615, 1025, 'new')
    """

    __module__ = "exactk.results"

    total: int
    group: Label | None

    def __new__(cls, users: int, total: int | None = None, group: Label | None = None) -> Self:
        self = super().__new__(cls, users)
        self.total, self.group = users if total is None else total, group
        return self


_MOST_USERS = 10**10
"""A difference that would take more is at the margin, except for rounding."""

Claim = Literal["better", "no_worse", "equivalent"]
Status = Literal["holds", "observed", "undecided", "fails"]


class Check(NamedTuple):
    """One claim about one system, and perhaps about one group of users.

    Attributes
    ----------
    claim : {"better", "no_worse", "equivalent"}
    metric, system, baseline : str
        What is compared.
    group : int, str or None
        The group of users; None for all users.
    margin : str
        The margin, such as ``"1%"`` or ``"0.002"``; ``"0%"`` for `better` without a margin.
    status : {"holds", "observed", "undecided", "fails"}
        Whether the claim is shown to hold; holds in the sample, which is too small to show it, as no user is worse, or
        none differs where systems are to be equivalent; needs more users to be decided; or surely does not hold.
    text : str
        The finding in words.
    """

    claim: Claim
    metric: str
    system: str
    baseline: str
    group: Label | None
    margin: str
    status: Status
    text: str


Check.__module__ = "exactk.results"  # for its body has fields alone


class Gate:
    r"""The result of `exactk.Comparison.check`: true if all claims hold or are observed.

    It prints every claim with its finding, first those that do not hold. Write ``assert gate, str(gate)``: pytest
    shortens what it prints of an object, though not a string. A gate tests one side of each claim by a t test and without
    adjustment, so that it may hold where the verdict of the difference is ``"undecided"``. Where fewer than 20 users
    differ, claims with a margin need more than a t test: users unlike those of the sample are to be unlikely.

    Attributes
    ----------
    checks : tuple of Check
        Every claim about every system, with its ``claim``, ``metric``, ``system``, ``baseline``, ``group``, ``margin``,
        ``status`` and ``text``.
    status : {"holds", "observed", "undecided", "fails"}
        That of the first of these which a claim has: ``"fails"``, ``"undecided"``, ``"observed"``, ``"holds"``.
    failures : tuple of str
        The findings about the claims that fail or are undecided; an undecided one says how many users would decide.

    Examples
    --------
    >>> import exactk
    >>> truth, a, b = [[1]] * 40, [[1]] * 10 + [[2]] * 30, [[2]] * 2 + [[1]] * 10 + [[2]] * 28
    >>> gate = exactk.compare(truth, {"a": a, "b": b}, "P@1", baseline="a").check(no_worse={"P@1": "5%"})
    >>> gate.status, bool(gate)
    ('undecided', False)
    >>> print(gate.failures[0])
    P@1: 'b' differs from 'a' by -32 % to +47 % (one-sided bounds at 95 %, 40 users), so it may be worse by more than 5%; about 3,875 users would show that it is not, if the difference stays as it is; few users: 4 differ, so the bounds are rough
    """

    __module__ = "exactk.results"

    def __init__(
        self, checks: Iterable[Check], unit_names: UnitNames = USERS_AND_ITEMS, needed: NeededUsers | None = None
    ) -> None:
        self.checks, self._unit_names = tuple(checks), unit_names
        self._needed = needed  # of the undecided claims about groups, the one that needs most

    @property
    def status(self) -> Status:
        return min((check.status for check in self.checks), key=_WORST_FIRST.index, default="holds")

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(check.text for check in self.checks if check.status not in PASSED)

    def __bool__(self) -> bool:
        return self.status in PASSED

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __eq__(self, other: object) -> bool:
        return self.checks == other.checks if isinstance(other, Gate) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.checks)

    def __reduce__(self) -> tuple[object, ...]:
        return (Gate._from_plain, (tuple(map(tuple, self.checks)), self._unit_names.pair, self._needed))

    @classmethod
    def _from_plain(cls, checks: Iterable[tuple[Any, ...]], names: tuple[str, str], needed: NeededUsers | None) -> Gate:
        return cls((Check(*check) for check in checks), UnitNames(*names), needed)

    @property
    def _method(self) -> str:
        """What to know of every gate beside a table of differences."""
        text = _METHOD
        if any(check.group is not None for check in self.checks):
            text += _METHOD_OF_GROUPS
            if (one := self._needed) is not None:
                text += f"; finding the margin in group {one.group!r} with {100 * POWER:g} % power takes {one:,} of its users, {one.total:,} of all"
        return self._unit_names.text(text)

    def __repr__(self) -> str:
        lines = [f"{check.status}: {check.text}" for check in self._sorted_checks()]
        return "\n".join([f"<Gate {self.status}: {outcome_text(self)}>", *map(printable, lines), self._method])

    def _repr_html_(self) -> str:
        rows = [[check.status, check.text] for check in self._sorted_checks()]
        caption = f"Gate {self.status}: {outcome_text(self)}"
        table = Table.of_rows(["status", "finding"], rows, 2, caption=caption, notes=[self._method], longest=600)
        return html_of_tables([table])

    def _sorted_checks(self) -> list[Check]:
        """Return the claims that do not hold before the others."""
        return sorted(self.checks, key=lambda check: _WORST_FIRST.index(check.status))  # pytest shortens the middle

    def to_junit(self) -> str:
        """Return a JUnit report, which CI systems show: one test case per claim and system.

        Claims that fail or are undecided are failures, with the status as their type.
        """
        return junit_report(junit_cases(self))


def join_gates(gates: Iterable[Gate], unit_names: UnitNames) -> Gate:
    """Return the gate of the claims of all."""
    gates = list(gates)
    needed = [gate._needed for gate in gates if gate._needed is not None]  # noqa: SLF001 - of this module
    most = max(needed, key=lambda one: one.total, default=None)
    return Gate((check for gate in gates for check in gate), unit_names, most)


def outcome_text(gate: Gate) -> str:
    """Return how many claims hold, or are shown and observed, in words."""
    shown, observed = (sum(check.status == status for check in gate) for status in ("holds", "observed"))
    if not observed:
        return f"{shown} of {len(gate)} hold"
    return f"{shown + observed} of {len(gate)} pass: {shown} shown, {observed} observed"


def method_text(gate: Gate) -> str:
    """Return how all claims were tested, in words."""
    return gate._method  # noqa: SLF001 - of this module


def junit_cases(gate: Gate) -> Iterator[Case]:
    """Yield a test case for each claim."""
    for check in gate:
        margin = "" if check.margin == str(_ANY) else f" {check.margin}"
        name = f"{check.claim} {check.metric}{margin}: {check.system} against {check.baseline}{_of_group(check.group)}"
        yield Case(name, check.status, check.text)


def _of_group(group: Label | None) -> str:
    return "" if group is None else f", group {group}"


_WORST_FIRST: tuple[Status, ...] = ("fails", "undecided", "observed", "holds")

_ANY = Margin(0.0, is_relative=True)
"""The margin of what is to be better by any difference."""


def check_claim(claim: Claim, compared: Compared, margin: Margin, confidence: float) -> Check:
    """Check one claim about one system against its baseline."""
    metric, (system, baseline), group = compared.value.spelling, compared.pair, compared.group
    check_direction(claim, compared.value)
    check_size(margin, compared.value, claim)
    estimate, status = compared.estimate, _WORST_FIRST[1]
    text = f"{metric}{_of_group(group)}: {system!r} cannot be compared with {baseline!r}: "
    if group is not None and estimate is not None and has_no_share(estimate, margin):  # other groups may have a value
        text += f"{margin} is a share of the value of {baseline!r}, which is {float(estimate.baseline_value):.4g}"
        return Check(claim, metric, system, baseline, group, str(margin), status, text)
    text += compared.reason
    if estimate is not None:
        if estimate.degrees_of_freedom > 0:
            check_share(compared, estimate, margin, claim)
        status = _status(claim, compared, _Gain(estimate, compared.direction), margin, level_of(confidence))
        if status != "undecided" or not compared.reason:
            text = _text(claim, status, compared, estimate, margin, confidence)
    return Check(claim, metric, system, baseline, group, str(margin), status, text)


def check_direction(claim: Claim, value: Value) -> None:
    """Raise InputError if the claim is of better or worse values, and the metric has neither."""
    if claim != "equivalent" and value.info.direction == "none":
        hint = (Option("equivalent", {value.spelling: "1%"}), " needs no direction")
        expected = "metrics of which higher or lower values are better"
        raise input_error(claim, expected, value.spelling, hint=hint)


class _Gain(NamedTuple):
    """An estimated difference, positive where the system is better."""

    estimate: Estimate
    direction: str

    def p_above(self, margin: Margin) -> float:
        """Return the p-value of the claim that the gain is above the margin."""
        return p_below(self.estimate, -margin) if self.direction == "lower" else p_above(self.estimate, margin)

    def p_below(self, margin: Margin) -> float:
        """Return the p-value of the claim that the gain is below the margin."""
        return p_above(self.estimate, -margin) if self.direction == "lower" else p_below(self.estimate, margin)


def _status(claim: Claim, compared: Compared, gain: _Gain, margin: Margin, level: float) -> Status:
    if claim == "equivalent":
        holds = max(gain.p_above(-margin), gain.p_below(margin)) <= level
        fails = min(gain.p_below(-margin), gain.p_above(margin)) <= level
    else:
        least = margin if claim == "better" else -margin
        holds, fails = gain.p_above(least) <= level, gain.p_below(least) <= level
    is_seen = claim != "better" and (compared.is_identical or (claim == "no_worse" and compared.has_no_loss))
    return "holds" if holds else "fails" if fails else "observed" if is_seen else "undecided"


_METHOD = "one-sided t tests, not adjusted, and stricter where few users differ; verdicts in tables are by the test and adjustment that are named there"
_METHOD_OF_GROUPS = "; each group is tested by its own users, so that more groups need more users"

_FINDINGS: dict[tuple[Claim, Status], str] = {
    ("better", "holds"): "it is better",
    ("better", "fails"): "it is not better",
    ("better", "undecided"): "it may not be better",
    ("no_worse", "holds"): "it is not worse",
    ("no_worse", "fails"): "it is worse",
    ("no_worse", "undecided"): "it may be worse",
    ("equivalent", "holds"): "they do not differ",
    ("equivalent", "fails"): "they differ",
    ("equivalent", "undecided"): "they may differ",
}


def _text(
    claim: Claim, status: Status, compared: Compared, estimate: Estimate, margin: Margin, confidence: float
) -> str:
    (system, baseline), sums, level = compared.pair, compared.sums, f"{100 * confidence:g} %"
    unit = compared.units.user if estimate.units == sums.users else "cluster"
    units, users = _counted(estimate.units, unit), _counted(sums.users, compared.units.user)
    beyond = f" by more than {margin}" if margin.size else ""
    shown = f"show that {_FINDINGS[claim, 'holds']}{beyond}"
    if compared.is_identical:
        found = f"{system!r} is identical to {baseline!r} for {'all ' * (sums.users > 1)}{users}"
    elif status == "observed":
        found = f"{system!r} is better for {sums.greater + sums.less} and worse for none of {users}"
    else:
        bounds = _bounds_text(estimate, margin, confidence)
        found = f"{system!r} differs from {baseline!r} by {bounds} (one-sided bounds at {level}, {units})"
    few = "" if compared.is_identical else _few_users_text(compared, estimate.units)
    if status in {"holds", "fails"}:
        at_level = f" ({level})" * (compared.is_identical and margin.size > 0)
        parts = [f"{found}, so {_FINDINGS[claim, status]}{beyond}{at_level}", few]
    elif status == "observed" and compared.is_identical and not estimate.has_range:
        parts = [found, f"no number of identical {plural_of(unit)} bounds a metric without an upper bound"]
    else:
        decision = _decision(claim, compared, estimate, margin, confidence)
        if status == "observed":
            unlike = f": up to {100 * share_unlike(estimate, level_of(confidence)):.2g} % of all {plural_of(unit)} might differ"
            parts = [found, f"{units} cannot {shown} ({level}){unlike * compared.is_identical}"]
            noun = f"{'identical ' * compared.is_identical}{unit}"
            parts.append(_needed_text(decision, estimate, noun, "would"))
        elif decision.is_shown_by_t:
            differ = "differs" if estimate.differing == 1 else "differ"
            parts = [found, f"{estimate.differing} of {units} {differ}, too few to {shown}"]
            parts.append(_needed_text(decision, estimate, unit, "would"))
        else:
            would = f"would show that {_DECISIONS[claim, decision.holds]}"
            parts = [f"{found}, so {_FINDINGS[claim, status]}{beyond}"]
            parts += [_needed_text(decision, estimate, unit, would), few]
    return f"{compared.value.spelling}{_of_group(compared.group)}: {'; '.join(filter(None, parts))}"


def _counted(count: int, noun: str) -> str:
    """Return a count that may be large, and its noun."""
    return f"{count:,} {noun if count == 1 else plural_of(noun)}"


def _few_users_text(compared: Compared, units: int) -> str:
    """Return that few users, or clusters, decide; empty if many do."""
    differing = compared.sums.greater + compared.sums.less
    if units < min(FEW_USERS, compared.sums.users):
        few = f"few clusters: {units}"
    elif 0 < differing < FEW_USERS:
        few = f"few {compared.units.users}: {differing} differ"
    else:
        few = f"few {compared.units.users}: {units}" if units < FEW_USERS else ""
    return few and f"{few}, so the bounds are rough"


def _bounds_text(estimate: Estimate, margin: Margin, confidence: float) -> str:
    """Return the one-sided bounds: in percent of the baseline's value, where the margin is and they exist."""
    low, high = relative_interval(estimate, 2 * confidence - 1)
    if margin.is_relative and not math.isnan(low):
        return f"{_two_digits(100 * low)} % to {_two_digits(100 * high)} %"
    low, high = t_interval(estimate, 2 * confidence - 1)
    return f"{_two_digits(low)} to {_two_digits(high)}"


def _two_digits(number: float) -> str:
    """Return a signed number with two digits, or as a whole number without an exponent."""
    return f"{number:+.2g}" if abs(number) < 99.5 else f"{number:+,.0f}"


class _Decision(NamedTuple):
    """What would decide a claim, if the difference stays as it is."""

    units: float  # that many; NaN if the difference is at the margin, infinite if no number decides
    holds: bool  # what they would show
    is_shown_by_t: bool  # the t test shows it already, of units of which too few differ


def _decision(claim: Claim, compared: Compared, estimate: Estimate, margin: Margin, confidence: float) -> _Decision:
    edges = {"better": [(margin, 1)], "no_worse": [(-margin, 1)], "equivalent": [(-margin, 1), (margin, -1)]}[claim]
    if compared.direction == "lower":
        edges = [(-edge, -side) for edge, side in edges]
    contrasts = [(contrast_at(estimate, edge), side, edge) for edge, side in edges]
    _, _, nearest = min(contrasts, key=lambda one: abs(one[0].difference))
    return _Decision(
        units_to_show(estimate, nearest, confidence),
        all(side * contrast.difference > 0 for contrast, side, _ in contrasts),
        all(p_by_t(estimate, contrast, side) <= level_of(confidence) for contrast, side, _ in contrasts),
    )


def _needed_text(decision: _Decision, estimate: Estimate, noun: str, would: str) -> str:
    """Return how many users would decide; empty if the difference is at the margin."""
    if math.isinf(decision.units) and estimate.has_runs:
        return f"more training runs would decide, more {plural_of(noun)} alone would not"
    if not decision.units <= _MOST_USERS:
        return ""
    unless = "" if noun.startswith("identical") else ", if the difference stays as it is"
    return f"about {decision.units:,.0f} {plural_of(noun)} {would}{unless}"


_DECISIONS: dict[tuple[Claim, bool], str] = {
    ("better", True): "it is",
    ("better", False): "it is not",
    ("no_worse", True): "it is not",
    ("no_worse", False): "it is",
    ("equivalent", True): "they do not",
    ("equivalent", False): "they do",
}
"""What more users would show of an undecided claim, which would then hold or not."""


PASSED = frozenset({"holds", "observed"})
"""The statuses of claims that pass."""

_ELEMENTS = {"error": "error"}  # any other status is a failure


class Case(NamedTuple):
    """A test case: its status is one that passes, "error" or the type of its failure."""

    name: str
    status: str
    text: str


def junit_report(cases: Iterable[Case]) -> str:
    """Return the report: a case that passes has its text as output, any other as the message of a failure or error."""
    cases = list(cases)
    errors = sum(case.status == "error" for case in cases)
    failures = sum(case.status not in {*PASSED, "error"} for case in cases)
    head = f'<testsuite name="exactk" tests="{len(cases)}" failures="{failures}" errors="{errors}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *map(_element, cases), "</testsuite>", ""])


def _element(case: Case) -> str:
    if case.status in PASSED:
        found = f"<system-out>{_escaped(case.text)}</system-out>"
    else:
        found = f'<{_ELEMENTS.get(case.status, "failure")} type="{case.status}" message="{_escaped(case.text)}"/>'
    return f'<testcase classname="exactk" name="{_escaped(case.name)}">{found}</testcase>'


def _escaped(text: str) -> str:
    """Return the text as XML has it, in an element or between double quotes. `xml.sax` would load urllib and ssl."""
    return escape(printable(text), quote=False).replace('"', "&quot;")
