"""Every warning about the values of a call: when it is given, and its words.

They come once the values are there, in the order of the table, and one for all systems of which the same holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from exactk._engine.chunks import Part
from exactk._engine.findings import Findings, fields_with_findings, has_counts_to_warn_of, has_no_hit
from exactk._engine.inspection import (
    FEWEST_UNKEYED_ITEMS,
    MOST_IRRELEVANT,
    find_in_keys,
    find_in_system,
    is_all_unexpected,
)
from exactk._inputs.alignment import ARGUMENT
from exactk._inputs.keys.column_roles import HIT, POSITIVE, usual_role
from exactk._inputs.readings import lines_of_ranks
from exactk._inputs.registry import ARRAY, MAPPING, ClassifiedValue
from exactk._plan.conventions import convention_option
from exactk._plan.values import as_plan
from exactk._report.counts import count_text
from exactk._report.state import plan_of_state
from exactk._report.statistics import describe_undefined, is_undefined_set
from exactk._report.system_warnings import describe_unreached_cutoffs, text_of_systems
from exactk._runtime.errors import warn
from exactk._runtime.faults import Option
from exactk._runtime.records import NamedTuple
from exactk._runtime.texts import DIGITS
from exactk._runtime.unit_names import USERS_AND_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from exactk._engine.findings import CandidateRows, CandidateUse, Examples, ExclusionUse, SystemFindings
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.matched_mappings import MatchedMappings
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Plan, Value
    from exactk._report.report import Report
    from exactk._report.state import State
    from exactk._report.sums import Label
    from exactk._runtime.faults import Text

TieRange: TypeAlias = "Callable[[Value], tuple[float, float]]"
"""A function that returns the lowest and the highest value over all orders of ties."""


class Evaluated(NamedTuple):
    """The part of all users of a call, and what else warnings about it need."""

    part: Part
    convention: Convention
    tie_ranges: Mapping[str, TieRange] | None = None  # None if the inputs are freed
    ranks_advice: Mapping[str, Text] = {}  # how to write scores that may be ranks, by system
    names_columns: str = "{}"  # the call that may name columns of data frames
    within: str = ""  # of what the items of both sides were compared, if not of all users
    of_one_user: bool = False  # whose values alone are shown

    @property
    def plan(self) -> Plan:
        """The values of all systems."""
        return plan_of_state(self.part.report.state)

    def texts(self, describe: Callable[[Report, SystemFindings], str], *advice: str | Option) -> Text:
        """Return what is to be said of all systems, with the advice; empty if that is nothing."""
        systems, reports = self.part.findings.systems, self.part.reports
        if len(reports) == 1:  # most often there is nothing to say
            ((name, report),) = reports.items()
            text = describe(report, systems[name])
            return text_of_systems({name: text}, *advice) if text else ()
        return text_of_systems({name: describe(one, systems[name]) for name, one in reports.items()}, *advice)


class Kind(NamedTuple):
    """A kind of warning."""

    name: str
    conditions: tuple[str, ...]  # when it is given, as the page about warnings begins to say it
    text: Callable[[Evaluated], Text]  # its words, or none
    field: str = ""  # of the findings of a call or a system, without which there are none
    of_all_values: bool = False  # not given where one user's values are shown


def warn_of(evaluated: Evaluated) -> None:
    """Give all warnings about a call; without reports, those that need none."""
    for _, text in warnings_of(evaluated):
        warn(*text)


def warnings_of(evaluated: Evaluated) -> Iterator[tuple[Kind, Text]]:
    """Yield each warning about a call with its kind, in the order of the table."""
    reports = evaluated.part.reports.values()
    of_counts = OF_COUNTS if any(map(has_counts_to_warn_of, reports)) else ()
    fields = fields_with_findings(evaluated.part.findings)
    for kind in (*OF_TRUTH, *OF_INPUTS, *of_counts, *OF_LISTS) if reports else OF_TRUTH:
        if evaluated.of_one_user and kind.of_all_values:
            continue
        if kind.field in fields and (text := kind.text(evaluated)):
            yield kind, text


def warn_of_plain_call(
    inputs: AlignedInputs,
    report: Report,
    matched: MatchedMappings | None,
    tie_range: TieRange,
    *,
    has_hit: bool,
    are_plain_lists: bool,
    is_array: bool,
) -> bool:
    """Give the warnings about a call without options; of plain lists only those that nothing matches, and return if so."""
    disjoint_items, candidates_of = (None, None) if matched is None else (matched.disjoint_items, matched.candidates_of)
    keys = find_in_keys(inputs, has_hit=has_hit, find_disjoint_items=disjoint_items)
    if are_plain_lists and not describe_disjoint_keys(report, keys):
        return False
    found = find_in_system(inputs, report, keys=keys, candidates_of=candidates_of)
    given = ClassifiedValue(None, ARRAY if is_array else None if matched is None else MAPPING)
    advice = {"": lines_of_ranks(given, {})} if found.readings.may_be_ranks else {}
    part = Part({"": report}, Findings({"": found}))
    warn_of(Evaluated(part, report.convention, {"": tie_range}, advice))
    return True


# What the truth looks like.


def _describe_unused_columns(evaluated: Evaluated) -> Text:
    """Return a warning about columns that could be grades or say what happened, and are not weights or groups."""
    used, grade, numbers, events = evaluated.part.findings.columns
    if not events and not numbers:
        return ()
    names = [*map(_describe_event, events), *map(repr, numbers)]
    is_of_predictions = not {"score", "rank"}.isdisjoint(map(usual_role, numbers))
    order = "; if these are the predictions, the truth comes first" if is_of_predictions else ""
    if grade is None:
        reason = "every item counts as relevant, because no grade column was found"
        of_hits = any(HIT in name for name in used)
        last: Text = ("{user: items}" if of_hits else f"truth[{list(used)!r}]", " leaves it out")
    else:
        reason = f"the rows count by {grade!r} alone"
        last = (Option("grade", grade, evaluated.names_columns), " keeps it so")
    lines: Text = (_rows_of_one_value(*events[0]),) if events else ()
    if numbers:
        lines += (Option("grade", numbers[0], evaluated.names_columns), " uses it as grades, ")
    verb = "is" if len(names) == 1 else "are"
    return (f"truth: {reason}, and {' and '.join(names)} {verb} not used{order}; ", *lines, *last)


def _rows_of_one_value(name: str, *values: str) -> str:
    if not values:
        return "pass the rows of one value if these alone count, "
    value = next((repr(value) for value in values if value.lower() in POSITIVE), "...")
    return f"truth[truth[{name!r}] == {value}] in pandas has the rows of {value.replace('...', 'one value')} alone, "


def _describe_event(event: tuple[str, ...]) -> str:
    """Return the name of a column, with some of its values, as far as they are known."""
    name, *values = event
    return f"{name!r} ({', '.join(map(repr, values[:_FEW_VALUES]))})" if values else repr(name)


_FEW_VALUES = 4


def _describe_ratings(evaluated: Evaluated) -> Text:
    """Return a warning if all ratings count, unless those above 0 are equal, or all at least the suggested grade."""
    column, lowest, highest = evaluated.part.findings.ratings
    if not lowest < highest < math.inf:  # infinite ratings are refused
        return ()
    four_fifths = highest - highest / 5  # 4 of 5, 8 of 10, 0.8 of 1; rounded up to an integer within the scale
    whole = math.ceil(four_fifths)
    high = whole if 1 < highest >= whole else float(f"{four_fifths:.2g}")
    if lowest >= high:
        return ()
    return (
        f"truth: every rating above 0 in the column {column!r} counts as relevant; ",
        convention_option(evaluated.convention, min_grade=high),
        f" counts ratings of {high} or more",
    )


# The catalogue and train.


def _describe_catalogue(evaluated: Evaluated) -> str:
    use = evaluated.part.findings.train
    is_warned_of = use.differs and not use.has_catalogue_item
    return _describe_disjoint("item", "the catalogue", "the predictions", use.examples) if is_warned_of else ""


def _describe_users_of_train(evaluated: Evaluated) -> str:
    use = evaluated.part.findings.train
    of, others = "train with items of the catalogue", "the truth or the predictions"
    is_warned_of = use.without_items and not use.evaluated
    return _describe_disjoint("user", of, others, use.user_examples) if is_warned_of else ""


def _describe_users_without_train(evaluated: Evaluated) -> str:
    """Return a warning if users without items in train count as the best."""
    use = evaluated.part.findings.train
    count = use.without_items // len(evaluated.part.reports)
    for value in evaluated.plan if count and use.evaluated else ():
        is_of_users = value.needs.history and not value.info.of_collection
        is_zero = value.rules["undefined"] == "zero" and not is_undefined_set(value, evaluated.convention)
        if is_of_users and value.info.direction == "lower" and is_zero:
            kind = "item with features" if use.need_features else "item"
            have = (
                f"user has no {kind} in train and counts" if count == 1 else f"users have no {kind} in train and count"
            )
            return f"{count} {have} as 0, the best value, in {value.spelling}; undefined=skip leaves them out"
    return ""


# The order of ties.


def _describe_ties(evaluated: Evaluated) -> Text:
    """Return a warning if the order of ties affects many users' values, with its effect on the first value."""
    ranges = evaluated.tie_ranges
    texts = {
        name: describe_ties(report, None if ranges is None else ranges[name])
        for name, report in evaluated.part.reports.items()
    }
    return text_of_systems(texts, *(() if ranges is not None else _tie_bounds(evaluated.part.report)))


_MANY_TIED_USERS = 0.01  # share of users
_SMALLEST_SPREAD = 50  # change of a mean, in millionths; less does not show in four decimals


def describe_ties(report: Report, tie_range: TieRange | None) -> str:
    """Return a warning if the order of ties affects many users' values, with its effect on the first value."""
    values = _tied_values(report)
    if not values:
        return ""
    first, dependent = values[0]
    users = f"{dependent} of {report.state.counts.users} users"
    order = f"ties={first.rules['ties']!r}"
    if first.info.reads_list or first.is_share:
        other = "lowest_id" if first.rules["ties"] == "highest_id" else "highest_id"
        message = f"items of equal score at the cutoff: their order may change {first.spelling} for {users}"
        message += f" ({order} in use; ties={other!r} is another order)"
    elif tie_range is None:
        message = f"the order of ties changes {first.spelling} for {users}"
        message += f" ({order} in use)"
    else:
        message = f"the order of ties changes {first.spelling} for {users}"
        lowest, highest = tie_range(first)
        message += f": {report[first.name]:.4f} with {order}, {lowest:.4f} to {highest:.4f} with other orders"
    if len(values) > 1:
        message += f" (the first of {len(values)} such values)"
    return message


def _tied_values(report: Report) -> list[tuple[Value, int]]:
    """Return the values that the order of ties may change much, each with the number of users whose value it is."""
    counts = report.state.counts
    if counts.ties is None or not any(ties.dependent for ties in counts.ties):
        return []
    evaluated = report.counts["evaluated"]
    return [
        (value, ties.dependent)
        for value, ties in zip(plan_of_state(report.state), counts.ties, strict=True)
        if ties.dependent > _MANY_TIED_USERS * counts.users and ties.spread >= _SMALLEST_SPREAD * evaluated[value.name]
    ]


def _tie_bounds(report: Report) -> Text:
    """Return how to compute the values under other orders of ties."""
    if any(value.info.reads_list or value.is_share for value, _ in _tied_values(report)[:1]):
        return ()
    lowest, highest = (convention_option(report.convention, ties=ties) for ties in ("pessimistic", "optimistic"))
    return ("; ", lowest, " and ", highest, " show the range of its mean")


# Inputs of which nothing matches the others.


def _describe_disjoint(noun: str, of: str, others: str, examples: Examples, *, among: str = "") -> str:
    from exactk._inputs.keys.key_lists import describe_disjoint

    return describe_disjoint(noun, of, others, examples, among=among)


def _describe_unmatched(evaluated: Evaluated) -> Text:
    def describe(report: Report, found: SystemFindings) -> str:
        disjoint = found.odd_items or describe_disjoint_keys(report, found, evaluated.within)
        return disjoint or describe_candidate_use(found.candidates)

    return evaluated.texts(describe)


_SIDES = ("the truth", "the predictions")


def describe_disjoint_keys(report: Report, found: SystemFindings, within: str = "") -> str:
    """Return a warning if truth and predictions share no user or no item, most likely because their ids differ.

    If items of some users were not looked for in the predictions of others, `within` says so.
    """
    if not found.shares_user and found.first_users[0]:
        is_disjoint = found.first_users[1] != ""
        return (
            _describe_disjoint("user", *_SIDES, found.first_users) if is_disjoint else "the predictions have no users"
        )
    fewest = FEWEST_UNKEYED_ITEMS if found.lacks_keys else 1
    if found.shares_item or min(found.truth_items, found.list_items) < fewest or not has_no_hit(report):
        return ""
    return _describe_disjoint("item", *_SIDES, found.first_items, among=within)


def describe_candidate_use(use: CandidateUse, others: str = "the predictions") -> str:
    """Return a warning if no candidate is in these others, most likely because ids differ; or empty."""
    if use.has_candidates or not use.is_emptied:
        return ""
    return _describe_disjoint("item", "candidates", others, use.examples)


def _describe_base_use(report: Report, found: SystemFindings) -> str:
    """Return a warning if users have no base predictions, or these recommend no item of any list."""
    values, use = plan_of_state(report.state).readers_of_base, found.base
    if not values or not use.users:
        return ""
    if use.users_without_base == use.users:
        return _describe_disjoint("user", ARGUMENT, "the predictions", use.user_examples)
    if is_all_unexpected(report) and use.items >= (1 if use.is_keyed else FEWEST_UNKEYED_ITEMS):
        among = f" down to the cutoff of {values[-1].spelling}"
        return _describe_disjoint("item", ARGUMENT, "the predictions", use.item_examples, among=among)
    if use.users_without_base:
        count = use.users_without_base
        have, its = ("user has", "its list") if count == 1 else ("users have", "their lists")
        return f"{count} {have} predictions and no base predictions: every item of {its} is unexpected"
    return ""


def _describe_exclusions(evaluated: Evaluated) -> str:
    """Return a warning if nothing is excluded from any system."""
    texts = [describe_exclusion_use(found.exclusions) for found in evaluated.part.findings.systems.values()]
    return texts[0] if all(texts) else ""


def describe_exclusion_use(use: ExclusionUse, others: str = "the truth or the predictions") -> str:
    """Return a warning if nothing is excluded from these others, most likely because ids differ; or empty."""
    if use.has_any and not use.has_users:
        return _describe_disjoint("user", "exclude", others, use.user_examples)
    is_warned_of = use.differs and not use.has_match
    return _describe_disjoint("item", "exclude", others, use.item_examples) if is_warned_of else ""


# What scores and candidates may be.


def _describe_ranks(evaluated: Evaluated) -> Text:
    systems = evaluated.part.findings.systems
    name = next((name for name in evaluated.part.reports if systems[name].readings.may_be_ranks), None)
    if name is None:
        return ()
    lines = evaluated.ranks_advice.get(name) or lines_of_ranks(ClassifiedValue(None, None), {})
    return evaluated.texts(lambda _, found: found.readings.describe_ranks(), *lines)


_RANK_ALL = ": rank all items for each user, or the relevant ones among sampled others, as all of these are hits; the truth comes first"


_SCORE_ALL = ", and may order systems otherwise; score all items"
FEWEST_USERS = 20


def _describe_samples(rows: CandidateRows) -> str:
    has_equal_sizes = rows.fewest == rows.most
    if (
        rows.are_no_samples
        or rows.users < FEWEST_USERS
        or rows.column != rows.last_column
        or not (has_equal_sizes or rows.fewest_irrelevant == rows.most_irrelevant)
        or rows.most_irrelevant > MOST_IRRELEVANT
        or rows.items < 2 * rows.most
        or 2 * rows.distinct <= rows.compared
    ):
        return ""
    what = f"{rows.most} candidates" if has_equal_sizes else f"{rows.most_irrelevant} irrelevant candidates"
    if rows.column >= 0:
        what = f"{rows.most} scores and the relevant item in column {rows.column}"
    return f"every user has {what}, which look like sampled negatives: the values are not those of all items"


# Counts that make values misleading.


def _describe_values_without_users(report: Report) -> str:
    evaluated = report.counts["evaluated"]
    of_all = [value.spelling for value in plan_of_state(report.state) if value.item_group is None]
    # Of many groups of items some are in no truth.
    names = [name for name in (of_all if any(evaluated.values()) else evaluated) if evaluated[name] == 0]
    return f"no user was evaluated for {', '.join(names)}: NaN{_reason_of_no_users(report)}" if names else ""


def _describe_lists_without_items(evaluated: Evaluated) -> Text:
    """Return a warning if there are relevant items and no list has an item, unless another warning says why."""

    def describe(report: Report, found: SystemFindings) -> str:
        counts = report.state.counts
        if counts.longest_list or (counts.relevant_not_rankable and not found.is_partial):
            return ""
        judged = counts.users - counts.empty_truth - counts.missing_truth  # of one, the list may well be empty
        infos = [value.info for value in plan_of_state(report.state).readers_of_truth]
        is_warned_of = judged > 1 and any(info.reads_predictions and not info.of_collection for info in infos)
        return "no list has an item" if is_warned_of else ""

    return () if _describe_unmatched(evaluated) else evaluated.texts(describe)


def _describe_rank_gaps(evaluated: Evaluated) -> Text:
    if not any(report.state.counts.rank_gaps for report in evaluated.part.reports.values()):
        return ()
    keep_gaps = convention_option(evaluated.convention, rank_gaps="keep")
    advice = (", which are closed: only the order counts; ", keep_gaps, " keeps each item at its rank")
    return evaluated.texts(
        lambda report, _: _count(report, "rank_gaps", "user has ranks with gaps", "users have ranks with gaps"), *advice
    )


def _describe_not_rankable(evaluated: Evaluated) -> Text:
    """Return a warning about relevant items without a column, of systems that give all items.

    If a system gives only its best items, as is usual in long format, missing items are no reason to warn.
    """
    systems = evaluated.part.findings.systems
    complete = [report for name, report in evaluated.part.reports.items() if not systems[name].is_partial]
    have_candidates = any(report.state.counts.candidates is not None for report in complete)
    one, many = (f", {be} not among the candidates" if have_candidates else "" for be in ("is", "are"))
    of_one = f"relevant item has no column in the scores{one}, or is dropped for a score of -inf or NaN, and counts as a miss"
    of_many = f"relevant items have no column in the scores{many}, or are dropped for a score of -inf or NaN, and count as misses"

    def describe(report: Report, found: SystemFindings) -> str:
        text = "" if found.is_partial else _count(report, "relevant_not_rankable", of_one, of_many)
        return text + found.item_without_column if text else ""

    return evaluated.texts(describe)


_EXCLUDED = (
    "relevant item is in exclude and counts as a miss",
    "relevant items are in exclude and count as misses",
)


def _count(report: Report, name: str, one: str, many: str) -> str:
    """Return a count with a text for one or for several; empty for 0."""
    count = getattr(report.state.counts, name)
    return f"{count} {one if count == 1 else many}" if count else ""


def _numbers_of_item_groups(report: Report, value: Value) -> dict[Label | None, float]:
    """Return what the value has of each group of items; other values may have others."""
    return {label: row[value.name] for label, row in report.by_item_group.items() if value.name in row}


def _describe_groups_left_out(report: Report) -> str:
    """Return a warning if a value leaves out groups of items, as there is nothing of them to recommend."""
    for value in plan_of_state(report.state):
        if not (value.info.reads_groups and value.info.reads_history and report.counts["evaluated"][value.name]):
            continue
        numbers = _numbers_of_item_groups(report, value)
        lacking = [label for label, number in numbers.items() if math.isnan(number)]
        if lacking:
            kind = "relevant item" if value.info.reads_truth else "item"
            has, is_ = ("has", "is") if len(lacking) == 1 else ("have", "are")
            groups = f"{len(lacking)} of {len(numbers)} groups of items"
            return f"{groups} {has} no {kind} outside train for {value.spelling} and {is_} left out, such as {lacking[0]!r}"
    return ""


def _describe_groups_of_nothing(report: Report) -> str:
    """Return a warning if a value of groups of items is 0 / 0, which counts as the best."""
    for value in plan_of_state(report.state):
        if not value.info.reads_groups or value.rules["undefined"] != "zero":
            continue
        if is_undefined_set(value, report.convention):
            continue
        if not report.counts["evaluated"][value.name]:
            continue
        defined = [number for number in _numbers_of_item_groups(report, value).values() if not math.isnan(number)]
        if len(defined) < 2 or not any(defined):
            recommended = "relevant item of a group" if value.info.reads_truth else "item of a group"
            reason = f"no {recommended} is recommended" if not any(defined) else "one group alone has such items"
            return f"{value.spelling} is 0 / 0 and counts as 0, the best value: {reason}; undefined=nan makes it NaN"
    return ""


def _describe_empty_lists_at_best(report: Report) -> str:
    """Return a warning if lists without items have 0 where lower values are better."""
    for value in plan_of_state(report.state):
        users = _users_of_empty_lists(report, value)
        is_zero = value.rules["undefined"] == "zero" and not is_undefined_set(value, report.convention)
        if users and value.info.direction == "lower" and is_zero:
            have = (
                "user has no item in the list and counts"
                if users == 1
                else "users have no item in their lists and count"
            )
            return f"{users} {have} as 0, the best value, in {value.spelling}; undefined=skip leaves them out"
    return ""


def _users_of_empty_lists(report: Report, value: Value) -> int:
    """Return how many users without items in their lists a mean over the list counts."""
    if not value.info.walks_list or value.info.of_collection:
        return 0
    counts, rules = report.state.counts, value.rules
    empty = counts.empty_predictions if rules["empty_list"] == "compute" else 0
    missing = counts.missing_lists if rules["missing_list"] == "compute" else 0
    return empty + (missing if rules["users"] in {"truth", "union"} else 0)


def _reason_of_no_users(report: Report) -> str:
    """Return what the counts tell of the truth."""
    counts = report.state.counts
    if not counts.users:
        return "; there are no users"
    if counts.missing_truth == counts.users:
        return "; the truth has no users"
    return f"; {count_text('empty_truth', counts.empty_truth, USERS_AND_ITEMS)}" if counts.empty_truth else ""


def describe_values_without_weight(report: Report) -> str:
    if not report.state.weighted:
        return ""
    from exactk._runtime.table import format_number

    names = _weightless_values(report)
    is_micro = {
        name: value.rules["average"] == "micro" for name, value in zip(report, plan_of_state(report.state), strict=True)
    }
    ratios = [f"{name} ({format_number(report[name], DIGITS)})" for name in names if is_micro[name]]
    means = [name for name in names if not is_micro[name]]
    texts = [f"all weights are 0 for {', '.join(means)}: NaN"] if means else []
    texts += [f"all weights or divisors are 0 for {', '.join(ratios)}"] if ratios else []
    return "; ".join(texts)


def _weightless_values(report: Report) -> list[str]:
    """Return the values whose users all have weight 0."""
    totals, indices = report.state.totals, as_plan(plan_of_state(report.state)).part_indices
    parts = {name: [totals[i] for i in row] for name, row in zip(report, indices, strict=True)}
    return [name for name, sums in parts.items() if any(part.users and not part.weight for part in sums)]


def _one(describe: Callable[[Evaluated], str]) -> Callable[[Evaluated], Text]:
    """Return a function that makes one text of what holds of a call."""

    def text(evaluated: Evaluated) -> Text:
        message = describe(evaluated)
        return (message,) if message else ()

    return text


def _each(describe: Callable[[Report, SystemFindings], str], *advice: str) -> Callable[[Evaluated], Text]:
    """Return a function that makes one text of what holds of systems."""
    return lambda evaluated: evaluated.texts(describe, *advice)


def _each_of_values(describe: Callable[[Report, SystemFindings], str], advice: str) -> Callable[[Evaluated], Text]:
    """Return the same for what matters to values of whole lists, but not to those of pairs of items."""

    def text(evaluated: Evaluated) -> Text:
        text = evaluated.texts(describe, advice)
        return text if text and not all(value.info.pairwise for value in evaluated.plan.readers_of_truth) else ()

    return text


def _each_report(describe: Callable[[Report], str]) -> Callable[[Evaluated], Text]:
    """Return the same for what reports show."""
    return lambda evaluated: evaluated.texts(lambda report, _: describe(report))


def _each_state(describe: Callable[[State], str]) -> Callable[[Evaluated], Text]:
    """Return the same for what states show."""
    return _each_report(lambda report: describe(report.state))


OF_TRUTH = (
    Kind(
        "items of parts",
        ("scores of each list are 1 to n, as ranks would be",),
        _one(lambda call: call.part.findings.pairs[0]),
        "pairs",
    ),
    Kind(
        "pairs",
        ("each pair of strings is read as one user's list",),
        _one(lambda call: call.part.findings.pairs[1]),
        "pairs",
    ),
    Kind(
        "unused columns",
        (
            "every item counts as relevant, and columns of numbers",
            "the rows count by a column of grades alone, and a column of what happened is not used",
        ),
        _describe_unused_columns,
        "columns",
    ),
    Kind("ratings", ("every rating above 0 counts as relevant",), _describe_ratings, "ratings"),
)
"""Those that need no report."""


def _describe_differing_users(call: Evaluated) -> tuple[str, str]:
    if len(call.part.reports) == 1:
        return "", ""
    from exactk._engine.differing_users import describe_differing_users

    return describe_differing_users(call.part.reports, call.part.findings)


OF_INPUTS = (
    Kind("catalogue", ("no item of the catalogue is in the predictions",), _one(_describe_catalogue), "train"),
    Kind("train", ("no user of train with items of the catalogue is in",), _one(_describe_users_of_train), "train"),
    Kind(
        "users without train",
        ("users without an item in train count as 0",),
        _one(_describe_users_without_train),
        "train",
        of_all_values=True,
    ),
    Kind("ties", ("the order of ties changes a value",), _describe_ties, of_all_values=True),
    Kind(
        "unmatched",
        (
            "the predictions have no users",
            "no user of the truth is in the predictions",
            "no item of the truth is in the predictions",
            "no item of `candidates` is in the predictions",
            "an item of the truth or of `exclude` is a text with several parts",
            "an item of the truth and of the predictions is `nan`",
        ),
        _describe_unmatched,
    ),
    Kind(
        "base predictions",
        ("users with predictions have no base predictions", "no item of `base_predictions` is in the predictions"),
        _each(_describe_base_use),
        "base",
    ),
    Kind("ranks", ("scores of each list are 1 to n, as ranks would be",), _describe_ranks, "readings"),
    Kind(
        "test items alone",
        ("all items of the lists of 10 or more users are relevant",),
        _each_of_values(lambda _, found: found.readings.describe_relevance(), _RANK_ALL),
        "readings",
    ),
    Kind(
        "exclusions",
        ("no user of `exclude` is in the truth", "no item of `exclude` is in the truth"),
        _one(_describe_exclusions),
        "exclusions",
    ),
    Kind(
        "coverage",
        ("systems cover different users",),
        _one(lambda call: _describe_differing_users(call)[0]),
        "coverage",
    ),
    Kind(
        "means",
        ("systems cover different users",),
        _one(lambda call: _describe_differing_users(call)[1]),
        "coverage",
    ),
)

OF_COUNTS = (
    Kind(
        "no users",
        ("no user was evaluated for a metric",),
        _each_report(_describe_values_without_users),
        of_all_values=True,
    ),
    Kind("no items", ("no list has an item",), _describe_lists_without_items),
    Kind(
        "empty lists",
        ("users without items in their lists count as 0",),
        _each_report(_describe_empty_lists_at_best),
        of_all_values=True,
    ),
    Kind(
        "groups left out",
        ("groups have no value of a metric",),
        _each_report(_describe_groups_left_out),
        of_all_values=True,
    ),
    Kind(
        "groups of nothing",
        ("groups have no value of a metric",),
        _each_report(_describe_groups_of_nothing),
        of_all_values=True,
    ),
    Kind(
        "0 / 0", ("a metric is 0 / 0 for users and counts as 0",), _each_state(describe_undefined), of_all_values=True
    ),
    Kind(
        "weights", ("all weights are 0 for a metric",), _each_report(describe_values_without_weight), of_all_values=True
    ),
    Kind("rank gaps", ("users have ranks with gaps, which are closed",), _describe_rank_gaps),
    Kind(
        "excluded items",
        ("relevant items are in `exclude`",),
        _each_report(lambda report: _count(report, "relevant_excluded", *_EXCLUDED)),
    ),
    Kind("no column", ("relevant items have no column in the scores",), _describe_not_rankable),
)
"""Those that are never given where no report `has_counts_to_warn_of`."""

OF_LISTS = (
    Kind(
        "sampled candidates",
        ("candidates look like sampled negatives",),
        _each_of_values(lambda _, found: _describe_samples(found.candidate_rows), _SCORE_ALL),
        "candidate_rows",
    ),
    Kind("cutoffs", ("no list is longer than n",), _each_state(describe_unreached_cutoffs)),
)

WARNINGS = (*OF_TRUTH, *OF_INPUTS, *OF_COUNTS, *OF_LISTS)
"""All kinds, in the order in which they are given."""
