"""The state of an evaluation: exact sums, which merge to the same bits in any order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from exactk._plan.conventions import Convention, description
from exactk._plan.metric_strings import plan
from exactk._report.counts import Counts
from exactk._report.sums import GroupSums, RunningGroupSums, group_sums_of
from exactk._runtime.errors import StateMismatchError, input_error, type_error
from exactk._runtime.faults import plural
from exactk._runtime.records import Record
from exactk._runtime.unit_names import USERS_AND_ITEMS, UnitNames

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from exactk._plan.metric_strings import Customs
    from exactk._plan.metrics import CustomInfo
    from exactk._plan.values import Plan, Value
    from exactk._report.state_shape import Catalogue, Shards
    from exactk._report.sums import Label, Scales, Sums
    from exactk._report.tallies import GroupTally, ItemTally, Tallies

_T = TypeVar("_T")


def by_name(customs: Iterable[CustomInfo]) -> Customs:
    """Return the descriptions by name."""
    return {one.name: one for one in customs}


def customs_of(values: Iterable[Value]) -> tuple[CustomInfo, ...]:
    """Return the description of each custom metric, in the order of the values."""
    return tuple({value.metric: value.custom for value in values if value.custom is not None}.values())


STATE_PREFIX = b"exactk-state\n"
_EXPECTED = "the output of State.to_dict"
_OTHER_VERSION = "states of other versions cannot be read: evaluate again"


class State(Record):
    """The exact, mergeable sums of an evaluation.

    `exactk.merge` adds states or reports of different users; the result equals one evaluation of all users, bit for
    bit. ``to_bytes`` and ``from_bytes`` carry a state between processes.

    Attributes
    ----------
    metrics : tuple of str
        Canonical names of the values.
    spellings : tuple of str
        The values as requested. Values whose spellings differ between merged states have their canonical names.
    convention : Convention
        The convention of the evaluation.
    weighted : bool
        Whether users had weights.
    counts : Counts
        The counts behind `Report.counts`, as exact integers.
    totals : tuple of Sums
        The sums of each value over all users. A value that is computed from means has the sums of its parts. Parts that
        several values share are held once, at the first of them.
    groups : Mapping of label to tuple of Sums, or None
        The same sums for each group.
    group_order : tuple of labels, or None
        The categories in order, if the groups were an ordered categorical. Otherwise the groups are sorted by label.
    grade_column : str or None
        The name of the grade column, if the truth was a data frame or file with one.
    truth_digest : int or None
        128 bits that tell one truth from another: the users with judged items, by key, and their items and grades, in any
        container and order. None if it is not known.
    catalogue : Catalogue or None
        The items that the values depend on: a digest of them and of their popularity, groups and values, in any container
        and order, their number, and which argument of `exactk.Items` has them. None if no value depends on items.
    item_tallies : tuple of ItemTally
        How many lists have each item, for the values of all lists together, such as coverage. Values of the same lists
        share one.
    group_tallies : tuple of GroupTally
        At which ranks lists have items of each group, for the values of groups of items, such as exposure.
    tallies_by_group : Mapping of label to Tallies
        The tallies of the lists of each group of users: ``items`` and ``groups``, as those of all lists. Empty without
        groups of users, and without metrics of all lists together.
    custom_metrics : tuple of CustomInfo
        The name, the range, the direction and a digest of the function of each metric of `exactk.custom`.
    shards : Shards or None
        The ``names`` of the shards that the state has, if it is of some shards of an evaluation, as the command line writes
        them; `exactk.merge` refuses a shard that is in several states. None for other states, and for all shards of a run.
        States are ``==`` whatever their shards.
    unit_names : tuple of str
        What a user and an item are called, such as ``("query", "document")``. Merged states that differ in it have users and
        items. States are ``==`` whatever their names.

    Examples
    --------
    >>> import exactk
    >>> state = exactk.evaluate([[1]], [[1, 2]], "P@2").state
    >>> state
    <State of 1 user: P@2; convention standard>
    >>> exactk.State.from_bytes(state.to_bytes()) == state
    True
    >>> exactk.merge([state, state])["P@2"]
    0.5
    """

    metrics: tuple[str, ...]
    spellings: tuple[str, ...]
    convention: Convention
    weighted: bool
    counts: Counts
    totals: tuple[Sums, ...]
    groups: Mapping[Label, tuple[Sums, ...]] | None = None
    group_order: tuple[Label, ...] | None = None
    grade_column: str | None = None
    truth_digest: int | None = None
    catalogue: Catalogue | None = None
    item_tallies: tuple[ItemTally, ...] = ()
    custom_metrics: tuple[CustomInfo, ...] = ()
    group_tallies: tuple[GroupTally, ...] = ()
    shards: Shards | None = None
    unit_names: UnitNames = USERS_AND_ITEMS
    tallies_by_group: Mapping[Label, Tallies] = MappingProxyType({})

    _uncompared = frozenset({"grade_column", "shards", "unit_names"})

    @classmethod
    def of_values(cls, values: Plan, *parts: Any, **named_parts: Any) -> State:  # noqa: ANN401 - the fields
        """Return the state of these values; the other arguments are its other fields."""
        state = cls(values.names, values.spellings, *parts, **named_parts)
        if not state.custom_metrics:
            state.__dict__["_plan"] = values  # which the property would work out again
        return state

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.spellings, self.convention, compares_lists=None, customs=by_name(self.custom_metrics))

    def __post_init__(self) -> None:
        """Freeze the groups, in the order of the categories or sorted by label."""
        if self.groups is None:
            return
        groups = self.groups
        if not isinstance(groups, GroupSums):
            groups = group_sums_of(groups, self.totals)
        labels = ordered_labels(groups, self.group_order)
        tallies = {label: self.tallies_by_group[label] for label in labels if label in self.tallies_by_group}
        object.__setattr__(self, "groups", groups.in_order(labels))
        object.__setattr__(self, "tallies_by_group", MappingProxyType(tallies))

    @property
    def tallies(self) -> Tallies:
        """The tallies of all lists."""
        from exactk._report.tallies import Tallies

        return Tallies(self.item_tallies, self.group_tallies)

    def __repr__(self) -> str:
        in_groups = "" if self.groups is None else f" in {plural(len(self.groups), 'group')}"
        users = plural(self.counts.users, self.unit_names.user)
        return f"<State of {users}{in_groups}: {', '.join(self.spellings)}; convention {description(self.convention)}>"

    def plus(self, other: State) -> State:
        """Return the state of both sets of users, which must have no user in common.

        Raises
        ------
        StateMismatchError
            If the states were computed differently. The message says what differs.
        """
        sums = StateSums(self)
        sums.add(other)
        return sums.state()

    def to_bytes(self) -> bytes:
        """Return the state as bytes for `from_bytes`: a header with a checksum, JSON, and the tallies of items."""
        import json
        import zlib

        from exactk._report.state_shape import HEAD, VERSION

        head = {**HEAD.write(self), "counts": self.counts.to_plain(self.metrics)}
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        body = b"".join(map(_with_size, [text, *self._tallies_as_bytes()]))
        return STATE_PREFIX + VERSION.to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """Return the state that `to_bytes` wrote.

        Raises
        ------
        InputError
            If the bytes are truncated or corrupted.
        """
        import json
        import zlib

        from exactk._report.state_shape import HEAD, VERSION
        from exactk._runtime.shapes import plain_data

        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise type_error("state", "bytes", type(data).__name__)
        data = bytes(data)
        header, body = data[: len(STATE_PREFIX) + 8], data[len(STATE_PREFIX) + 8 :]
        if len(header) < len(STATE_PREFIX) + 8 or not header.startswith(STATE_PREFIX):
            raise input_error("state", "the output of State.to_bytes", f"{data[:16]!r}, which is not an exactk state")
        version = int.from_bytes(header[-8:-4], "little")
        if version != VERSION:
            raise input_error("state", f"version {VERSION}", f"version {version}", hint=_OTHER_VERSION)
        if int.from_bytes(header[-4:], "little") != zlib.crc32(body):
            raise input_error("state", "an intact state", "a truncated or corrupted state (checksum mismatch)")
        text, *tallies = _split_by_size(body)
        with plain_data("state", _EXPECTED):
            return cls._of_fields(HEAD.read(json.loads(text)), tallies)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. Integers are hexadecimal text, as they exceed JSON numbers."""
        from exactk._report.state_shape import HEAD, VERSION
        from exactk._runtime.shapes import Binary

        tallies = [*map(Binary().write, self._tallies_as_bytes())]
        head = {**HEAD.write(self), "counts": self.counts.to_plain(self.metrics)}
        return {"version": VERSION, **head, "tallies": tallies}

    def _tallies_as_bytes(self) -> list[bytes]:
        """Return the tallies of items, then those of groups; if users have groups, of each, which add up to the whole."""
        sets = [*self.tallies_by_group.values()]
        if not sets and (self.item_tallies or self.group_tallies):
            sets = [self.tallies]
        return [data for tallies in sets for data in tallies.to_bytes()]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> State:
        """Return the state that `to_dict` described.

        Raises
        ------
        InputError
            If the sums or counts are impossible under the named metrics and convention.
        """
        from exactk._report.state_shape import STATE, VERSION
        from exactk._runtime.shapes import ShapeError, plain_data

        with plain_data("state", _EXPECTED):
            version = data.get("version") if isinstance(data, Mapping) else VERSION  # type: ignore[redundant-expr]
            if version != VERSION:
                raise ShapeError("version", f"{VERSION} ({_OTHER_VERSION})", version)
            fields: dict[str, Any] = STATE.read(data)
            del fields["version"]
            return cls._of_fields(fields, fields.pop("tallies"))

    @classmethod
    def _of_fields(cls, fields: Mapping[str, Any], tallies: Sequence[bytes]) -> State:
        """Return the state of checked fields and tallies; raise ValueError or ExactkError if there is no such state."""
        from exactk._report.state_shape import (
            check_group_order,
            check_groups,
            check_sums,
            checked_metrics,
            checked_tallies,
        )

        customs = fields["custom_metrics"]
        values = checked_metrics(fields["metrics"], fields["spellings"], fields["convention"], customs)
        counts = Counts.from_plain(fields["counts"], fields["metrics"])
        totals, groups, weighted = fields["totals"], fields["groups"], fields["weighted"]
        check_sums(totals, values, counts.users, "totals", weighted=weighted)
        if groups is not None:
            check_groups(groups, values, totals, weighted=weighted)
        check_group_order(fields["group_order"], groups)
        whole, by_group = checked_tallies(tallies, values, counts.users, fields["catalogue"], [*(groups or ())])
        of_tallies = {"item_tallies": whole.items, "group_tallies": whole.groups, "tallies_by_group": by_group}
        return cls(**{**fields, "counts": counts, "custom_metrics": customs_of(values), **of_tallies})

    def __reduce__(self) -> tuple[Any, ...]:
        return (State.from_dict, (self.to_dict(),))

    def __hash__(self) -> int:
        return hash((self.metrics, self.convention, self.weighted, self.totals))


State.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


def _with_size(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little") + part


def _split_by_size(body: bytes) -> list[bytes]:
    parts: list[bytes] = []
    begin = 0
    while begin < len(body) or not parts:
        size = int.from_bytes(body[begin : begin + 8], "little")
        begin += 8
        if begin + size > len(body):
            raise input_error("state", "an intact state", "a truncated or corrupted state (sizes of its parts)")
        parts.append(body[begin : begin + size])
        begin += size
    return parts


def ordered_labels(labels: Collection[Label], order: Iterable[Label] | None) -> list[Label]:
    """Return the group labels in the order of the categories, which has all of them, or sorted."""
    if order is not None:
        return [label for label in order if label in labels]
    return sorted(labels, key=None if len(set(map(type, labels))) == 1 else _type_and_label)


def _type_and_label(label: Label) -> tuple[str, Label]:
    return type(label).__name__, label


def sums_of_groups(state: State) -> GroupSums | None:
    """Return the sums of each group with their table, which is no public part of a state."""
    groups = state.groups
    assert groups is None or isinstance(groups, GroupSums)  # noqa: S101 - as a state makes them
    return groups


class StateSums:
    """Running sums over states of different users, added in place, so that memory does not grow with their number."""

    def __init__(self, first: State, argument: str = "parts") -> None:
        self._first = first
        self._argument = argument  # which has the states, for messages
        self._spellings = first.spellings
        self._counts = first.counts
        self._totals = list(first.totals)
        self._grade_columns = {first.grade_column}
        self._unit_names = {first.unit_names} if first.counts.users else set()
        self._truth_digest = first.truth_digest
        self._catalogue = first.catalogue
        self._tallies = first.tallies
        self._tallies_by_group = dict(first.tallies_by_group)
        self._group_orders = {first.group_order}
        groups = sums_of_groups(first)
        self._groups = None if groups is None else RunningGroupSums(groups)
        self._shards = {0: first.shards}  # by the number of the state; of states without shards, only the first
        self._has_unsharded = first.shards is None
        self._size = 1  # states

    def copy(self) -> StateSums:
        """Return sums that grow independently."""
        return changed_copy(
            self,
            _groups=None if self._groups is None else RunningGroupSums(self._groups.sums()),
            _grade_columns=self._grade_columns.copy(),
            _unit_names=self._unit_names.copy(),
            _group_orders=self._group_orders.copy(),
            _tallies_by_group=self._tallies_by_group.copy(),
            _shards=self._shards.copy(),
        )

    def add(self, state: State) -> None:
        """Add a state; raise StateMismatchError if its plan, or the type of its group labels, differs."""
        check_same_plan(self._first, state, self._argument)
        groups = sums_of_groups(state)
        check_label_types([None if self._groups is None else self._groups.labels, groups], self._argument)
        if self._spellings != state.spellings:
            self._spellings = common_spellings([self._spellings, state.spellings], state.metrics)
        self._counts = self._counts.merge(state.counts)
        if self._groups is None:
            self._totals = [sums.plus(other) for sums, other in zip(self._totals, state.totals, strict=True)]
        self._grade_columns.add(state.grade_column)
        if state.counts.users:
            self._unit_names.add(state.unit_names)
        self._group_orders.add(state.group_order)
        self._truth_digest = _sum_of_digests(self._truth_digest, state.truth_digest)
        self._add_shards(state.shards)
        self._add_tallies(state)
        if self._catalogue is not None and state.catalogue is not None:
            self._catalogue = self._catalogue.merged(state.catalogue)
        if self._groups is not None and groups is not None:
            self._groups.add(groups)

    def _add_tallies(self, state: State) -> None:
        self._tallies = self._tallies.plus(state.tallies)
        for label, tallies in state.tallies_by_group.items():
            earlier = self._tallies_by_group.get(label)
            self._tallies_by_group[label] = tallies if earlier is None else earlier.plus(tallies)
        if self._tallies_by_group:
            from exactk._report.tallies import check_group_count

            check_group_count(self._tallies_by_group)

    def _add_shards(self, shards: Shards | None) -> None:
        if shards is not None or not self._has_unsharded:
            self._shards[self._size] = shards
        self._has_unsharded = self._has_unsharded or shards is None
        self._size += 1

    def state(self) -> State:
        """Return the state of all users added so far; raise StateMismatchError if a shard is in several of the states."""
        from exactk._report.state_shape import united_shards

        groups = None if self._groups is None else self._groups.sums()
        first = self._first
        totals = tuple(self._totals) if groups is None else groups.totals()
        grade_column = first.grade_column if len(self._grade_columns) == 1 else None
        unit_names = common_unit_names(self._unit_names or [first.unit_names])
        return State(
            first.metrics,
            self._spellings,
            first.convention,
            first.weighted,
            self._counts,
            totals,
            groups,
            next(iter(self._group_orders)) if len(self._group_orders) == 1 else None,
            grade_column,
            self._truth_digest,
            self._catalogue,
            self._tallies.items,
            first.custom_metrics,
            self._tallies.groups,
            united_shards({f"{self._argument}[{number}]": one for number, one in self._shards.items()}, self._argument),
            unit_names,
            self._tallies_by_group,
        )


def common_unit_names(names: Iterable[UnitNames]) -> UnitNames:
    """Return what all call their users and items; users and items, if they differ."""
    distinct = set(names)
    return distinct.pop() if len(distinct) == 1 else USERS_AND_ITEMS


def _sum_of_digests(one: int | None, other: int | None) -> int | None:
    """Return the digest of both truths, which have no user in common."""
    return None if one is None or other is None else (one + other) % 2**128


def common_spellings(spellings: Iterable[Sequence[str]], names: Sequence[str]) -> tuple[str, ...]:
    """Return how all spell each value; its canonical name, whatever the order of the others, if they differ."""
    return tuple(
        of_value[0] if len(set(of_value)) == 1 else name
        for name, of_value in zip(names, zip(*spellings, strict=True), strict=True)
    )


def check_same_plan(one: State, other: State, argument: str) -> None:
    """Raise StateMismatchError if the states have other metrics, another convention, or other kinds of sums."""
    differences = []
    if one.metrics != other.metrics:
        order = " in another order" if sorted(one.metrics) == sorted(other.metrics) else ""
        differences.append(f"metrics {one.metrics} and {other.metrics}{order}")
    if one.convention is not other.convention:
        differences += [
            f"{name} {value!r} and {other_value!r}"
            for name, (value, other_value) in one.convention.diff(other.convention).items()
        ]
    if one.weighted != other.weighted:
        differences.append(f"weighted {one.weighted} and {other.weighted}")
    if (one.groups is None) != (other.groups is None):
        differences.append("groups in only one of them")
    functions = {theirs.name: theirs for theirs in other.custom_metrics}
    for mine in one.custom_metrics:
        if functions.get(mine.name, mine) != mine:
            differences.append(f"other functions named {mine.name}")
    if one.catalogue or other.catalogue:
        from exactk._report.state_shape import describe_difference

        differences += filter(None, [describe_difference(one.catalogue, other.catalogue)])
    if not differences and _scales(one) != _scales(other):
        differences.append("sums of another precision (one is from exactk.reference)")
    if differences:
        message = f"{argument}: expected the same metrics and convention in all, found {'; '.join(differences)}"
        raise StateMismatchError(message, argument)


def _scales(state: State) -> tuple[Scales, ...]:
    groups = sums_of_groups(state)
    return tuple(sums.scales for sums in state.totals) if groups is None else groups.table.scales


def check_same_truth(states: Mapping[str, State], argument: str) -> None:
    """Raise InputError if systems were evaluated on several truths, as far as the states tell it."""
    digests = {system: state.truth_digest for system, state in states.items() if state.truth_digest is not None}
    first = next(iter(digests), None)
    for system, digest in digests.items():
        if first is not None and digest != digests[first]:
            one, other = (f"{name!r} ({_users_of_truth(states[name])})" for name in (first, system))
            if plan_of_state(states[first])[0].info.compares_lists:
                found = f"those of {one} and others of {other}"
                raise input_error(argument, "systems compared with the same lists (`one` of exactk.agreement)", found)
            found = f"one truth of {one} and another of {other}"
            hint = "they may be of different splits, or differ in grades or in keys of users: evaluate all on one truth"
            raise input_error(argument, "systems evaluated on the same truth", found, hint=hint)


def _users_of_truth(state: State) -> str:
    return plural(state.counts.users - state.counts.missing_truth, state.unit_names.user)


def check_label_types(groups: Iterable[Collection[Label] | None], argument: str) -> None:
    """Raise StateMismatchError if the labels of groups in several states have several types."""
    types = {type(next(iter(one))).__name__ for one in groups if one}
    if len(types) > 1:
        found = " and ".join(sorted(types))
        raise StateMismatchError(f"{argument}: expected group labels of one type, found {found}", argument)


def plan_of_state(state: State) -> Plan:
    """Return the plan that the state was computed by, with the caller's spellings."""
    return state._plan  # noqa: SLF001 - kept by the state, of whose class it is no public part


def changed_copy(instance: _T, **changes: Any) -> _T:  # noqa: ANN401 - the attributes
    """Return an object with the same attributes but these: `copy.copy` takes ten times as long, by way of pickling."""
    duplicate = object.__new__(type(instance))
    vars(duplicate).update(vars(instance), **changes)
    return duplicate
