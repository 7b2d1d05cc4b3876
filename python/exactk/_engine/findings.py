"""What warnings need beside the states of the systems: small records, which add up over the users of a call.

Counts add up, flags are set once any users set them, and of examples the first by their texts is kept: the sum is the same
in any order and grouping. Only what is of the first users follows the order of the sum, as names of systems do.
"""

from __future__ import annotations

import math
from operator import add, attrgetter, or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from exactk._inputs.list_readings import Readings
from exactk._inputs.model.rows import TruthColumns
from exactk._report.state import plan_of_state
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from exactk._report.report import Report

Record = TypeVar("Record", bound="tuple[Any, ...]")
Adding: TypeAlias = "Callable[[Any, Any], Any]"
"""A function that returns what holds for both sets of users."""

Examples: TypeAlias = tuple[str, str]
"""One of each side, as messages show keys; empty if there is none, or it was not looked for."""

NO_EXAMPLES: Examples = ("", "")

NO_LEAST = 2**62
"""The least number of no users."""

_NONE: Mapping[str, Any] = MappingProxyType({})


class CandidateRows(NamedTuple):
    """What shows whether candidates are samples, of some users who have predictions and relevant items."""

    are_no_samples: bool = False  # certainly
    users: int = 0
    fewest: int = NO_LEAST  # candidates of a user
    most: int = 0
    fewest_irrelevant: int = NO_LEAST
    most_irrelevant: int = 0
    compared: int = 0  # users whose candidates are compared: the first ones
    distinct: int = 0  # of these, different sets of candidates
    items: int = 0  # in these sets; of several chunks, the most in any
    column: int = NO_LEAST  # of dense scores, if it has the relevant item of every user; else -1
    last_column: int = -1  # likewise


NO_SAMPLES = CandidateRows(are_no_samples=True)


class CandidateUse(NamedTuple):
    """Whether lists and sparse scores have candidates."""

    is_emptied: bool = False  # there were items of some users, none of them a candidate
    has_candidates: bool = False  # an item of any user is one
    examples: Examples = NO_EXAMPLES  # a candidate, and an item of a list


class ExclusionUse(NamedTuple):
    """Whether exclusions have users and items of the call. Items are compared among the users of a chunk alone."""

    has_any: bool = False  # of any users
    has_users: bool = False  # of users of the call
    has_match: bool = False  # of an item in the truth or the predictions, perhaps of another user
    differs: bool = False  # none has such an item in a chunk, most likely because ids differ
    user_examples: Examples = NO_EXAMPLES  # of the exclusions, and of the call, if no user is in both
    item_examples: Examples = NO_EXAMPLES  # likewise


class BaseUse(NamedTuple):
    """How many users and items the base predictions have."""

    users: int = 0  # users with predictions
    users_without_base: int = 0  # among them
    items: int = 0  # of all base lists
    is_keyed: bool = False  # whether items have keys
    user_examples: Examples = NO_EXAMPLES  # of both, if no user of a chunk is in both
    item_examples: Examples = NO_EXAMPLES  # likewise


class ItemUse(NamedTuple):
    """How many users have items of the catalogue in train, and whether their lists have any.

    If items without features are skipped, only items with features count. Each system counts its users.
    """

    evaluated: int = 0
    without_items: int = 0
    need_features: bool = False
    has_catalogue_item: bool = False  # any list
    differs: bool = False  # lists have none in a chunk, most likely because ids differ
    examples: Examples = NO_EXAMPLES  # of the catalogue, and of lists without any of its items
    user_examples: Examples = NO_EXAMPLES  # a user of train, and one of the call, where none is in both


class Ratings(NamedTuple):
    """The column of ratings all of which above 0 count as relevant, and what these are."""

    column: str = ""
    lowest: float = math.inf
    highest: float = -math.inf


class Coverage(NamedTuple):
    """How many users several systems cover by predictions, of those whom the convention may count."""

    any: int = 0  # users of any system
    several: int = 0  # users of two or more
    by_system: Mapping[str, int] = _NONE
    in_all: Mapping[str, int] = _NONE  # by value: users whom it has a number for in all systems, if it may skip some


class SystemFindings(NamedTuple):
    """What warnings need to know of one system's predictions."""

    shares_user: bool = False  # a user has both truth and predictions, or users have no keys
    lacks_keys: bool = False  # items are numbers of a chunk whose users have no keys either
    shares_item: bool = False  # an item of the truth is in any list, or a chunk with scores does not tell
    truth_items: int = 0
    list_items: int = 0  # or columns
    is_partial: bool = False  # predictions are only the best items, not all that may be ranked
    readings: Readings = Readings()
    candidate_rows: CandidateRows = CandidateRows()
    candidates: CandidateUse = CandidateUse()
    exclusions: ExclusionUse = ExclusionUse()
    base: BaseUse = BaseUse()
    first_users: Examples = NO_EXAMPLES  # of the truth and of the predictions, in chunks where no user is in both
    first_items: Examples = NO_EXAMPLES  # likewise
    item_without_column: str = ""  # a relevant item that cannot be ranked, with where columns end
    odd_items: str = ""  # what items that are texts of several or none look like

    def __add__(self, other: SystemFindings) -> SystemFindings:  # type: ignore[override] # tuples add otherwise
        """Return what holds of both sets of users."""
        return plus(self, other)


class Findings(NamedTuple):
    """What warnings need to know of all systems of a call, beside their states."""

    systems: Mapping[str, SystemFindings] = _NONE
    coverage: Coverage = Coverage()
    train: ItemUse = ItemUse()
    ratings: Ratings = Ratings()
    columns: TruthColumns = TruthColumns()  # of the first users, where columns are not used that could be grades
    pairs: Examples = NO_EXAMPLES  # what tuples of the first users look like
    rows: int = 0  # of the largest bucket
    chunks: int = 0

    def __add__(self, other: Findings) -> Findings:  # type: ignore[override] # tuples add otherwise
        """Return what holds of both sets of users; names of systems follow the order of the sum."""
        return plus(self, other)

    def to_plain(self) -> list[Any]:
        """Return lists, mappings, numbers and texts, as JSON has them; defaults that end a record are left out."""
        plain = to_plain(self)
        assert isinstance(plain, list)  # noqa: S101 - of a record
        return plain

    @classmethod
    def from_plain(cls, plain: object) -> Findings:
        """Return the findings that `to_plain` described; raise TypeError or ValueError for others."""
        findings: Findings = from_plain(cls(), plain)
        return findings


NO_FINDINGS = Findings()


def plus(one: Record, other: Record) -> Record:
    """Return the record of both sets of users."""
    fields = zip(ADDING[type(one)], one, other, _NOTHING[type(one)], strict=True)
    return type(one)(
        *[
            a if b is none or b == none else b if a is none or a == none else adding(a, b)
            for adding, a, b, none in fields
        ]
    )


def _plus_each(ones: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(ones)
    for name, other in others.items():
        both[name] = both[name] + other if name in both else other
    return both


def _either(ones: Examples, others: Examples) -> Examples:
    """Return the examples of one or the other, whichever come first."""
    return min(filter(any, (ones, others)), default=NO_EXAMPLES)


def _either_each(ones: Examples, others: Examples) -> Examples:
    """Return an example of each side, from one or the other."""
    if ones == others or not any(others):
        return ones
    first, second = (min(filter(None, side), default="") for side in zip(ones, others, strict=True))
    return first, second


def _either_text(one: str, other: str) -> str:
    return min(filter(None, (one, other)), default="")


def _first(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return one if any(one) else other


ADDING: Mapping[type, tuple[Adding, ...]] = MappingProxyType(
    {
        Readings: (add,) * len(Readings._fields),
        CandidateRows: (or_, add, min, max, min, max, add, add, max, min, max),
        CandidateUse: (or_, or_, _either),
        ExclusionUse: (or_, or_, or_, or_, _either, _either),
        BaseUse: (add, add, add, or_, _either, _either),
        ItemUse: (add, add, or_, or_, or_, _either, _either),
        Ratings: (_either_text, min, max),
        Coverage: (add, add, _plus_each, _plus_each),
        SystemFindings: (
            *(or_, or_, or_, add, add, or_),
            *(plus,) * 5,
            *(_either_each, _either_each, _either_text, _either_text),
        ),
        Findings: (_plus_each, plus, plus, plus, _first, _first, max, add),
    }
)
"""How the fields of each record add up."""

_NOTHING = {kind: kind() for kind in ADDING}


def fields_with_findings(findings: Findings) -> set[str]:
    """Return the fields of the findings, or of any system's, that differ from those of nothing; and the empty name."""
    fields = {""}
    records: list[Any] = [findings, *findings.systems.values()]
    for record in records:
        for name, one, none in zip(record._fields, record, _NOTHING[type(record)], strict=True):
            if one is not none and one != none:
                fields.add(name)
    return fields


_MAPPINGS = (dict, MappingProxyType)  # an abstract class would take a call of Python for each value
_WITH_PARTS = (tuple, *_MAPPINGS)
_WITHOUT_PARTS = frozenset({bool, int, float, str})


def to_plain(value: object) -> object:
    """Return a record, or a value of one, as lists, mappings, numbers and texts."""
    if isinstance(value, _MAPPINGS):
        return {name: to_plain(one) for name, one in value.items()}
    if not isinstance(value, tuple):
        return value
    size = len(value)
    if defaults := getattr(value, "_field_defaults", None):
        size = max(
            (index for index, pair in enumerate(zip(value, defaults.values(), strict=True), 1) if pair[0] != pair[1]),
            default=0,
        )
    return [to_plain(one) if isinstance(one, _WITH_PARTS) else one for one in value[:size]]


def from_plain(default: Any, plain: Any) -> Any:  # noqa: ANN401 - of any record
    """Return the value that `to_plain` described, of the type of its default."""
    if isinstance(default, _MAPPINGS):
        if not isinstance(plain, dict) or not all(isinstance(name, str) for name in plain):
            raise TypeError(plain)
        return {name: from_plain(SystemFindings() if isinstance(one, list) else 0, one) for name, one in plain.items()}
    if isinstance(default, tuple):
        if not isinstance(plain, (list, tuple)):
            raise TypeError(plain)
        if not hasattr(default, "_fields"):
            return tuple(from_plain(() if isinstance(one, (list, tuple)) else "", one) for one in plain)
        fields = [
            given if type(given) is type(one) in _WITHOUT_PARTS else from_plain(one, given)
            for one, given in zip(default, plain, strict=False)
        ]
        return type(default)(*fields, *plain[len(default) :])  # which raises for too many
    is_alike = type(plain) is type(default) or (isinstance(default, float) and isinstance(plain, int))
    if not (is_alike or (default is None and isinstance(plain, (str, type(None))))):
        raise TypeError(plain)
    return plain


# What a report shows of its inputs.


def has_no_hit(report: Report) -> bool:
    """Return whether no value shows a hit."""
    values, totals = plan_of_state(report.state), report.state.totals
    for index in values.parts_that_show_hits:  # without the values themselves
        if totals[index].total > 0 and not totals[index].undefined:
            return False
    return not any(report[value.name] > 0 for value in values if value.shows_hits)


def has_counts_to_warn_of(report: Report) -> bool:
    """Return whether there may be a warning about counts; most often there is none."""
    state, plan = report.state, plan_of_state(report.state)
    counts = state.counts
    return (
        state.weighted
        or plan.walks_lists
        or plan.of_collections
        or not counts.longest_list
        or not all(map(_USERS, state.totals))
        or bool(counts.undefined or counts.rank_gaps or counts.relevant_excluded or counts.relevant_not_rankable)
    )


_USERS = attrgetter("users")
