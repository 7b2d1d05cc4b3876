"""What a comparison is asked: which pairs, which test, at which level, against which margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from numbers import Integral, Number, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from exactk._inference.margins import Margin
from exactk._inference.significance import Alternative, fewest_draws, level_of, round_draws
from exactk._plan.metric_strings import canonical_name
from exactk._plan.metrics import MetricEntry
from exactk._plan.values import is_in_unit_range
from exactk._runtime.errors import ExactkError, check_among, input_error, type_error
from exactk._runtime.faults import Option, one_of, plural
from exactk._runtime.shapes import Anything, Fields
from exactk._runtime.texts import as_double, did_you_mean, fold, parse_number

if TYPE_CHECKING:
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._report.paired_sums import Pair
    from exactk._report.sums import Label
    from exactk._runtime.faults import Text

Test: TypeAlias = Literal["t", "permutation", "wilcoxon", "sign"]
IntervalMethod: TypeAlias = Literal["t", "percentile", "bca"]
Adjustment: TypeAlias = Literal["holm", "max_t", "benjamini_hochberg", "bonferroni", "none"]
Family: TypeAlias = Literal["metric", "all"]
Missing: TypeAlias = Literal["drop", "error"]
MarginLike: TypeAlias = float | str | Mapping[str, float | str]
"""An absolute difference, a share of the baseline's value such as ``"1%"``, or either by metric."""

RunsLike: TypeAlias = Mapping[str, Sequence[str]]
"""The names of the training runs of each system that has several."""

MOST_SYSTEMS = 30
"""Of which every pair is compared."""

DEFAULT_PERMUTATIONS = DEFAULT_RESAMPLES = 9_999
"""So that (m + 1) times the usual levels is a whole number."""

_FEWEST_DRAWS = 99
_CONFIDENCE_OF_DEFAULTS = 0.999
_MOST_PERMUTATIONS = 10_000_000
_MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How the systems of a comparison are compared."""

    baseline: str | None = None
    test: Test = "t"
    alternative: Alternative = "two_sided"
    confidence: float = 0.95
    interval: IntervalMethod = "t"
    adjust: Adjustment = "holm"
    family: Family = "metric"
    margin: MarginLike | None = None
    missing: Missing = "drop"
    runs: RunsLike | None = None
    permutations: int = DEFAULT_PERMUTATIONS
    resamples: int = DEFAULT_RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise InputError or InputTypeError if an option is invalid."""
        object.__setattr__(self, "runs", parse_runs(self.runs))
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        check_confidence(self.confidence)
        if self.baseline is not None and not isinstance(self.baseline, str):
            raise type_error("baseline", "the name of a system, or None", _shown(self.baseline))
        parse_margins(self.margin)
        for name, what in (("test", "test"), ("interval", "interval")):
            if self.runs and getattr(self, name) != "t":
                expected = f"'t' for several runs of a system, as no other {what} takes their variance into account"
                raise input_error(name, expected, repr(getattr(self, name)))
        self._check_random_numbers()

    def _check_random_numbers(self) -> None:
        """Raise InputError or InputTypeError unless the options of flips and resamples are valid, and used."""
        for name, least, most in (
            ("permutations", _FEWEST_DRAWS, _MOST_PERMUTATIONS),
            ("resamples", _FEWEST_DRAWS, _MOST_RESAMPLES),
            ("seed", 0, 2**64 - 1),
        ):
            object.__setattr__(self, name, _checked_integer(name, getattr(self, name), least, most))
        has_flips, has_resamples = self.test == "permutation", self.interval != "t"
        if self.adjust == "max_t" and not has_flips:
            hint = Option("test", "permutation")
            raise input_error("adjust", f"an adjustment of test={self.test!r}", "'max_t'", hint=hint)
        if self.permutations != DEFAULT_PERMUTATIONS and not has_flips:
            hint = Option("test", "permutation")
            raise input_error("permutations", f"none with test={self.test!r}", str(self.permutations), hint=hint)
        if self.resamples != DEFAULT_RESAMPLES and not has_resamples:
            hint = Option("interval", "percentile")
            raise input_error("resamples", "none with interval='t'", str(self.resamples), hint=hint)
        if self.seed and not (has_flips or has_resamples):
            hint = Option("test", "permutation")
            raise input_error("seed", "none, as t tests and intervals use no random numbers", str(self.seed), hint=hint)
        if has_flips:  # else no p-value is significant, as none is below 1 / (permutations + 1)
            self._check_draws("permutations", fewest_draws(self.level), _MOST_PERMUTATIONS)
        if has_resamples:  # else bounds are the least and the largest of the resamples, whatever the confidence
            self._check_draws("resamples", fewest_draws(self.level / 2), _MOST_RESAMPLES)

    def _check_draws(self, name: str, fewest: int, most: int) -> None:
        """Raise InputError unless there are as many random draws as the confidence needs."""
        advised, confidence = round_draws(fewest), as_double(self.confidence)
        if advised > most:
            expected = f"a confidence that up to {most} {name} can reach"
            raise input_error(
                "confidence", expected, repr(confidence), hint=Option("confidence", _CONFIDENCE_OF_DEFAULTS)
            )
        if getattr(self, name) < fewest:
            expected = f"at least {fewest} at a confidence of {confidence!r}"
            raise input_error(name, expected, str(getattr(self, name)), hint=Option(name, advised))

    @property
    def level(self) -> float:
        """The largest p-value that is significant."""
        return level_of(self.confidence)

    @property
    def needs_users(self) -> bool:
        """Whether differences need the users' values, not sums over pairs of systems alone."""
        return self.test in {"permutation", "wilcoxon"} or self.interval != "t"

    @property
    def has_random_numbers(self) -> bool:
        """Whether differences are those of sign flips or of resamples."""
        return self.test == "permutation" or self.interval != "t"

    @property
    def least_flipped_p(self) -> float:
        """The smallest p-value that random sign flips can give."""
        return 1 / (self.permutations + 1)

    @property
    def more_permutations(self) -> int | None:
        """About ten times as many sign flips, one less than a round number; None if there are as many as there may be."""
        more = min(round_draws(9 * self.permutations), _MOST_PERMUTATIONS - 1)
        return more if more > self.permutations else None

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data."""
        runs = None if self.runs is None else {system: list(runs) for system, runs in self.runs.items()}
        return {**asdict(self), "runs": runs}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ComparisonOptions:
        """Return the options that `to_dict` described; raise ValueError or ExactkError if there are none such."""
        options: ComparisonOptions = Fields(cls, {one.name: Anything() for one in fields(cls)}).read(data)
        return options

    def runs_of(self, system: str) -> tuple[str, ...]:
        """Return the names of the runs of a compared system: its own if it has one run."""
        return tuple((self.runs or {}).get(system, (system,)))

    def compared_systems(self, systems: Iterable[str]) -> list[str]:
        """Return the systems to compare, in order: one in place of its runs."""
        system_of = {run: system for system, runs in (self.runs or {}).items() for run in runs}
        return list(dict.fromkeys(system_of.get(system, system) for system in systems))

    def check_systems(self, systems: Iterable[str]) -> None:
        """Raise InputError unless the runs and the baseline are among the systems."""
        names = list(systems)
        for system, runs in (self.runs or {}).items():
            for run in runs:
                check_among("runs", run, names)
            if system in names:
                raise input_error("runs", "a name that no system has, for the mean of runs", repr(system))
        if self.baseline is None:
            return
        for system, runs in (self.runs or {}).items():
            if self.baseline in runs:
                found = f"{self.baseline!r}, a run of {system!r}"
                raise input_error("baseline", "a system", found, hint=Option("baseline", system))
        check_among("baseline", self.baseline, self.compared_systems(names))

    def pairs(self, systems: Iterable[str]) -> list[Pair]:
        """Return the pairs to compare: with the baseline, or every pair, the later system with the earlier one.

        None for too many systems without a baseline.
        """
        systems = self.compared_systems(systems)
        if self.baseline is not None:
            return [(system, self.baseline) for system in systems if system != self.baseline]
        if len(systems) > MOST_SYSTEMS:
            return []
        return [(later, earlier) for earlier, later in combinations(systems, 2)]

    def family_size(self, pairs: int, metrics: int) -> int:
        """Return over how many comparisons p-values are adjusted."""
        return pairs * (metrics if self.family == "all" else 1)

    @property
    def runs_texts(self) -> list[str]:
        """The number of training runs of each system that has several, in words."""
        return [f"{system}: mean of {len(runs)} runs" for system, runs in (self.runs or {}).items()]

    def test_text(self, exact: Sequence[bool]) -> str:
        """Return the test, its baseline and its side in words; `exact` is whether each p-value is that of all sign flips."""
        tests = {
            "t": "paired t test",
            "permutation": "exact permutation test" if exact and all(exact) else "permutation test",
            "wilcoxon": "Wilcoxon signed-rank test",
            "sign": "sign test",
        }
        sides = {"two_sided": "", "greater": ", one-sided (greater)", "less": ", one-sided (less)"}
        against = "" if self.baseline is None else f" against {self.baseline}"
        text = f"{tests[self.test]}{against}{sides[self.alternative]}"
        if self.test != "permutation" or all(exact):
            return text
        some = f" (exact for {sum(exact)} of {len(exact)} differences)" if any(exact) else ""
        return f"{text}, {self._flips_text}{some}"

    @property
    def _flips_text(self) -> str:
        return f"{self.permutations:,} random sign flips"

    def adjustment_text(self, pairs: int, metrics: int) -> str:
        """Return the adjustment of p-values in words."""
        if self.adjust == "none":
            return "p-values not adjusted"
        size, each = self.family_size(pairs, metrics), "" if self.family == "all" else " per metric"
        if size == 1:
            return f"no adjustment: one comparison{each}"
        flips = f" of {self._flips_text}" if self.adjust == "max_t" else ""
        return f"{_ADJUSTMENTS[self.adjust]}{flips} over {plural(size, 'comparison')}{each}"

    def checked_margins(self, convention: Convention, values: Sequence[Value]) -> Mapping[str, Margin]:
        """Return the margins of these values. Raise InputError also for one that no difference exceeds."""
        margins = self.margins(convention, {value.name: value.spelling for value in values})
        for value in values:
            if value.name in margins:
                check_is_tested(values, value.name, "margin")
            check_size(margins.get(value.name, margins.get("")), value, "margin")
        return margins

    def margins(self, convention: Convention, spellings: Mapping[str, str]) -> Mapping[str, Margin]:
        """Return the margin of each metric, by canonical name; that of all others under the empty name.

        Raise InputError if a metric is none of these, which are spellings by canonical name.
        """
        parsed, metrics = parse_margins(self.margin), list(spellings)
        margins = {
            name_of_metric(metric, convention, "margin", spellings) if metric else "": margin
            for metric, margin in parsed.items()
        }
        for metric, name in zip(parsed, margins, strict=True):
            if name and name not in metrics:
                hint = did_you_mean(name, metrics)
                raise input_error("margin", f"metrics among {', '.join(metrics)}", repr(metric), hint=hint)
        return margins


def check_is_tested(values: Sequence[Value], name: str, argument: str) -> None:
    """Raise InputError for the canonical name of a value that all lists together have, which no test can compare."""
    value = next((value for value in values if value.name == name and value.info.of_collection), None)
    if value is not None:
        expected = "a metric of which each user has a value, for a test to compare"
        found = f"{value.spelling}, which all lists together have"
        raise input_error(
            argument, expected, found, hint=f"comparison[{value.spelling!r}] has the value of each system"
        )


def asked_labels(asked: object, labels: Sequence[Label], argument: str, word: str = "every") -> list[Label]:
    """Return the groups that are asked for: one, some, or all by a word that is the name of none."""
    if not labels:
        raise input_error(argument, "groups of users, which groups= of the call names", "none")
    if isinstance(asked, str) and asked == word:
        if word in labels:
            raise input_error(argument, f"no group whose name is that of all groups, {word!r}", "one", hint="rename it")
        return list(labels)
    some = [asked] if isinstance(asked, (str, Integral)) or not isinstance(asked, Iterable) else list(asked)
    for label in some:
        if label not in labels:
            hint = did_you_mean(label, [*labels, word])
            raise input_error(argument, f"{word!r}, or {one_of(labels)}", repr(label), hint=hint)
    if not some:
        raise input_error(argument, "at least one group", "none")
    return [labels[labels.index(label)] for label in dict.fromkeys(some)]


def parse_runs(runs: object) -> dict[str, tuple[str, ...]] | None:
    """Return the names of the runs of each system; None if no system has several."""
    if runs is None:
        return None
    if not isinstance(runs, Mapping):
        expected = "a mapping from a system's name to those of its runs"
        raise type_error("runs", expected, type(runs).__name__, hint=_runs_hint(runs))
    parsed: dict[str, tuple[str, ...]] = {}
    system_of: dict[str, str] = {}
    for system, names in runs.items():
        _check_text("runs", "system names as keys", system)
        if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
            raise type_error("runs", f"a sequence of names for {system!r}", type(names).__name__)
        parsed[system] = tuple(names)
        for run in parsed[system]:
            _check_text("runs", f"names of systems for {system!r}", run)
            if run in system_of:
                twice = (
                    f"{run!r} twice" if system_of[run] == system else f"{run!r} in {system_of[run]!r} and {system!r}"
                )
                raise input_error("runs", "each run in one system, once", twice)
            system_of[run] = system
        if len(parsed[system]) < 2:
            expected = f"at least two runs of {system!r}, whose variance is estimated"
            raise input_error("runs", expected, ", ".join(map(repr, parsed[system])) or "none")
    return parsed or None


def _runs_hint(runs: object) -> Text | str:
    """Return how to name the runs of one system; an example for what are no names of runs."""
    names = list(runs) if isinstance(runs, (list, tuple)) and all(isinstance(run, str) for run in runs) else []
    if len(names) < 2:
        return "such as runs={'als': ['als-1', 'als-2']}"
    return (Option("runs", {"mean": names}),)


def _checked_integer(argument: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise type_error(argument, "an integer", _shown(value))
    number = int(value)
    if not least <= number <= most:
        raise input_error(argument, f"an integer from {least} to {most}", str(number))
    return number


def _shown(value: object) -> str:
    """Return a value in a line: of a container, its type."""
    return repr(value) if isinstance(value, (Number, str, bytes)) else type(value).__name__


def _check_text(argument: str, expected: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise type_error(argument, expected, _shown(name))


def name_of_metric(metric: str, convention: Convention, argument: str, spellings: Mapping[str, str]) -> str:
    """Return the canonical name of a metric, which may be spelled as one by name; errors are of this argument."""
    for name, spelling in spellings.items():
        if metric in {name, spelling}:
            return name
    try:
        return canonical_name(metric, convention)
    except ExactkError as error:
        raise error.amended(argument=argument) from None


def check_confidence(confidence: object) -> None:
    """Raise InputError or InputTypeError unless this is a confidence."""
    if isinstance(confidence, bool) or not isinstance(confidence, Real):
        raise type_error("confidence", "a number such as 0.95", repr(confidence))
    number = as_double(confidence)
    if not 0.5 <= number < 1:
        hint: Option | str = ""
        if 50 <= number < 100 or 0 < number < 0.5:  # a percentage, or the level of a test
            hint = Option("confidence", float(f"{number / 100 if number >= 50 else 1 - number:g}"))
        raise input_error("confidence", "at least 0.5 and below 1", repr(confidence), hint=hint)


def check_power(power: object) -> None:
    """Raise InputError or InputTypeError unless this is the power of a test."""
    if isinstance(power, bool) or not isinstance(power, Real):
        raise type_error("power", "a number such as 0.8", repr(power))
    if not 0 < as_double(power) < 1:
        raise input_error("power", "a number above 0 and below 1", repr(power))


_ADJUSTMENTS = {
    "holm": "Holm",
    "max_t": "max-T (Westfall-Young)",
    "benjamini_hochberg": "Benjamini-Hochberg",
    "bonferroni": "Bonferroni",
}

CHOICES: dict[str, tuple[str, ...]] = {
    "test": get_args(Test),
    "alternative": get_args(Alternative),
    "interval": get_args(IntervalMethod),
    "adjust": get_args(Adjustment),
    "family": get_args(Family),
    "missing": get_args(Missing),
}
"""The values of the options that have few."""


_OTHER_NAMES = {
    "test": {
        **dict.fromkeys(("student", "ttest", "pairedt", "pairedttest"), "t"),
        **dict.fromkeys(("fisher", "randomization", "randomisation", "signflip", "signflips"), "permutation"),
        "signedrank": "wilcoxon",
    },
    "alternative": {"larger": "greater", "smaller": "less"},
    "interval": {"student": "t", "normal": "t", "bootstrap": "bca"},
    "adjust": {
        **dict.fromkeys(("bh", "fdr", "fdrbh"), "benjamini_hochberg"),
        "bonf": "bonferroni",
        "westfallyoung": "max_t",
    },
}
"""Names of choices in other libraries, folded, by option."""


def similar_choice(option: str, choice: str, choices: Sequence[str]) -> str:
    """Return a hint with the choice of an option that is meant, or an empty string."""
    other = _OTHER_NAMES.get(option, {}).get(fold(choice))
    return f"did you mean {other!r}?" if other in choices else did_you_mean(choice, choices)


def check_choice(name: str, choice: object, choices: Sequence[str]) -> None:
    """Raise InputError or InputTypeError unless this is one of the choices of an option."""
    expected = f"{'one of ' if len(choices) > 1 else ''}{', '.join(map(repr, choices))}"
    if not isinstance(choice, str):
        hint = Option(name, "none") if choice is None and "none" in choices else ""
        raise type_error(name, expected, repr(choice), hint=hint)
    if choice not in choices:
        raise input_error(name, expected, repr(choice), hint=similar_choice(name, choice, choices))


def parse_margins(margin: object, argument: str = "margin") -> dict[str, Margin]:
    """Return margins by metric; one for all metrics is under the empty name."""
    if margin is None:
        return {}
    if isinstance(margin, Mapping):
        return {_checked_metric(metric, argument): parse_margin(one, argument) for metric, one in margin.items()}
    return {"": parse_margin(margin, argument)}


def _checked_metric(metric: Any, argument: str) -> str:  # noqa: ANN401 - a key of the caller's mapping
    metric = str(metric) if isinstance(metric, MetricEntry) else metric
    if not isinstance(metric, str) or not metric:
        raise type_error(argument, "metrics as keys", repr(metric))
    return metric


def parse_margin(margin: object, argument: str = "margin") -> Margin:
    """Return a margin such as 0.002, or "1%" of the baseline's value."""
    expected = "a number above 0 such as 0.002, or a share of the baseline's value below 100 % such as '1%'"
    if isinstance(margin, bool) or not isinstance(margin, (Real, str)):
        raise type_error(argument, expected, repr(margin))
    text = margin.strip() if isinstance(margin, str) else repr(as_double(margin))
    number, is_relative = text.removesuffix("%"), text.endswith("%")
    size = parse_number(number)
    if size is None:
        raise input_error(argument, expected, repr(margin))
    size = size / 100 if is_relative else size
    if not (0 < size < math.inf) or (is_relative and size >= 1):
        raise input_error(argument, expected, repr(margin))
    return Margin(size, is_relative)


def check_size(margin: Margin | None, value: Value, argument: str) -> None:
    """Raise InputError for a margin that no difference exceeds: 1 or more, where the values are from 0 to 1."""
    if margin is None or margin.is_relative or margin.size < 1 or not is_in_unit_range(value):
        return
    noun = "difference" if argument == "difference" else "margin"
    expected = f"a {noun} of {value.spelling} below 1, as its values are from 0 to 1"
    hint = f"'{margin}%' is {margin} % of the baseline's value" if margin.size < 100 else ""
    raise input_error(argument, expected, str(margin), hint=hint)


ClaimsLike: TypeAlias = str | Iterable[str] | Mapping[str, float | str]
"""Metrics, or the margin of each."""


def claimed_margins(
    argument: str, claims: object, default: Mapping[str, Margin], convention: Convention, values: Sequence[Value]
) -> dict[str, Margin]:
    """Return the margin of each metric in a claim: those given, or those of the comparison; better by more than 0."""
    if isinstance(claims, Mapping):
        return parse_margins(claims, argument)
    if isinstance(claims, str):
        claims = [claims]
    if not isinstance(claims, Iterable):
        raise type_error(argument, "metrics, or a mapping from metric to margin", type(claims).__name__)
    margins = {}
    for metric in claims:
        _check_no_margin(_checked_metric(metric, argument), argument, values)
        name = name_of_metric(metric, convention, argument, {value.name: value.spelling for value in values})
        check_is_tested(values, name, argument)
        margin = default.get(name, default.get(""))
        if argument == "better":
            margin = Margin(0.0, is_relative=True)
        elif margin is None:
            raise input_error(argument, f"the margin of {metric}", "none", hint=Option(argument, {metric: "1%"}))
        margins[metric] = margin
    return margins


def _check_no_margin(text: str, argument: str, values: Sequence[Value]) -> None:
    """Raise InputError for a margin in place of a metric, or behind it as on the command line."""
    metric, _, margin = text.rpartition("=")
    try:
        parse_margin(margin)
    except ExactkError:
        return
    hint = Option(argument, {metric or values[0].spelling: margin})
    raise input_error(argument, "metrics, or a mapping from metric to margin", repr(text), hint=hint)
