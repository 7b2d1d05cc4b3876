"""What a report keeps of its users: keys, values, what they are made of, weights and groups."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from exactk._inputs.checks import read_only
from exactk._inputs.keys.vocabulary import Snapshot, object_array, structured_keys, text_array
from exactk._plan.values import LEAST_OF_GEOMETRIC, is_in_unit_range, range_of
from exactk._report.export_forms import json_number
from exactk._report.state import State, plan_of_state
from exactk._report.state_shape import MAX_WEIGHT
from exactk._runtime.errors import StateMismatchError
from exactk._runtime.records import Record
from exactk._runtime.shapes import Anything, Fields, Many, OneOf, ShapeError, Whole, elements, read_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from exactk._plan.values import Plan, Value
    from exactk._report.sums import Label, Sums


def concatenate_users(
    parts: Sequence[Snapshot | NDArray[Any] | None], argument: str = "parts", part_noun: str = "part"
) -> NDArray[Any] | None:
    """Return the user keys of all parts; None if all have row numbers.

    A part without users does not fix the kind of keys. The argument and what its parts are called are for messages.
    """
    arrays = [part.array if isinstance(part, Snapshot) else part for part in parts if part is not None]
    keyed = [part for part in arrays if len(part)] or arrays[:1]
    if not keyed:
        return None
    if len(arrays) < len(parts) or len({kinds_of_keys(part) for part in keyed}) > 1:
        found = f"{part_noun}s without keys or keys of several kinds"
        raise StateMismatchError(
            f"{argument}: expected user keys of one kind in all {part_noun}s, found {found}", argument
        )
    names = keyed[0].dtype.names
    if names is None:
        users = _concatenate_column(keyed)
    else:
        users = structured_keys(names, [_concatenate_column([part[name] for part in keyed]) for name in names])
    seen: set[Any] = set()
    for user in users.tolist():
        if user in seen:
            hint = "users of the predictions count too: split truth and predictions by user"
            raise StateMismatchError(
                f"{argument}: expected each user in one {part_noun}, found {user!r} in several; {hint}", argument
            )
        seen.add(user)
    return users


def kinds_of_keys(users: NDArray[Any]) -> tuple[tuple[str, str], ...]:
    """Return the name of each column of the keys, empty if there is only one, and the kind of its values."""
    columns = user_columns(users, "")
    return tuple((name, _kind_of_column(column)) for name, column in columns.items())


def _kind_of_column(column: NDArray[Any]) -> str:
    if column.dtype.kind == "O":  # bytes, or strings that a string array would change or that would waste memory
        return type(column[0]).__name__ if len(column) else ""
    return {"i": "int", "u": "int", "U": "str"}.get(column.dtype.kind, "")  # an empty array may have float64


def _concatenate_column(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return one array of values of one kind, of the type that they would have in one evaluation."""
    if len(parts) == 1:
        return parts[0]
    if _kind_of_column(parts[0]) == "str":
        return text_array([text for part in parts for text in part.tolist()])
    if np.result_type(*parts).kind != "f":
        return np.concatenate(parts)
    integers = [integer for part in parts for integer in part.tolist()]  # int64 and uint64, which NumPy makes floats
    if min(integers) < 0 and max(integers) >= 2**63:
        message = "parts: expected user keys that all fit int64 or all fit uint64, found negative keys and keys of 2^63 or more"
        raise StateMismatchError(message, "parts")
    return np.array(integers, np.int64 if max(integers) < 2**63 else np.uint64)


def equal_arrays(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    if "O" in {one.dtype.kind, other.dtype.kind} <= {"O", "U"} or one.dtype.kind == other.dtype.kind == "V":
        return bool(one.tolist() == other.tolist())
    if one.dtype.kind != other.dtype.kind:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def user_columns(users: NDArray[Any], name: str) -> dict[str, NDArray[Any]]:
    """Return user keys as columns, one per part of the key; the only one has the name of a user."""
    if users.dtype.names is None:
        return {name: users}
    return {name: users[name] for name in users.dtype.names}


def users_to_plain(users: NDArray[Any]) -> list[Any]:
    """Return keys as plain data: their NumPy type and values, with bytes as hexadecimal text."""
    kind = users.dtype.descr if users.dtype.names else users.dtype.str
    return [kind, [_key_to_plain(key) for key in users.tolist()]]


def _key_to_plain(key: object) -> object:
    if isinstance(key, tuple):
        return [_key_to_plain(part) for part in key]
    return {"bytes": key.hex()} if isinstance(key, bytes) else key


_INTEGER_TYPE = r"[<>|][iu][1248]"
_TEXT_TYPE = r"[<>]U[0-9]{1,10}|\|O"


def users_from_plain(data: object, count: int) -> NDArray[Any] | None:
    """Return the keys that `users_to_plain` described; raise ValueError if they are invalid."""
    if data is None:
        return None
    kind, keys = elements(data, "users", 2)
    keys = elements(keys, "users[1]", count)
    users = _users_from_plain(kind, keys)
    if len(set(users.tolist())) < count:
        raise ShapeError("users", "distinct users")
    return users


def _users_from_plain(kind: object, keys: Sequence[Any]) -> NDArray[Any]:
    if isinstance(kind, str):
        return _column_from_plain(kind, keys)
    parts = elements(kind, "users[0]")
    labels, kinds = ([elements(part, "users[0]", 2)[index] for part in parts] for index in range(2))
    if not labels or not all(isinstance(label, str) and label for label in labels) or len(set(labels)) < len(labels):
        raise ShapeError("users", "distinct column names", labels)
    rows = [elements(key, f"users[1][{index}]", len(labels)) for index, key in enumerate(keys)]
    columns = [_column_from_plain(part, [row[i] for row in rows]) for i, part in enumerate(kinds)]
    return structured_keys(labels, columns)


def _column_from_plain(kind: object, keys: Sequence[Any]) -> NDArray[Any]:
    """Return one part of the keys. Memory for text follows the values, not the stated length."""
    if isinstance(kind, str) and re.fullmatch(_INTEGER_TYPE, kind):
        dtype = np.dtype(kind)
        info = np.iinfo(dtype)
        return np.array(read_at("users[1]", Many(Whole(int(info.min), int(info.max))), keys), dtype)
    if not isinstance(kind, str) or not re.fullmatch(_TEXT_TYPE, kind):
        raise ShapeError("users", "integer or string users", kind)
    texts = [_key_from_plain(key) for key in keys]
    if len(set(map(type, texts))) > 1:
        raise ShapeError("users", "users that are all strings or all bytes", kind)
    strings = [text for text in texts if isinstance(text, str)]
    return text_array(strings) if kind != "|O" and len(strings) == len(texts) else object_array(texts)


def _key_from_plain(key: object) -> str | bytes:
    if isinstance(key, str):
        return key
    if not isinstance(key, Mapping) or set(key) != {"bytes"} or not isinstance(key["bytes"], str):
        raise ShapeError("users", "a user that is a string or bytes", key)
    try:
        return bytes.fromhex(key["bytes"])
    except ValueError as error:
        raise ShapeError("users", f"bytes as hexadecimal digits ({error})", key["bytes"]) from error


class UserTable(Record, eq=False):
    """The rows of a report's users: a column per user.

    After the values come two rows for each value that is not a mean of the users' values: the numerators and the
    denominators of a micro average, and precision and recall of an F of means. NaN where a user has none.
    """

    rows: NDArray[np.float64]
    value_count: int
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None  # the position of each user's label; -1 for none
    labels: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in ("rows", "weights", "groups"):
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(array))

    @property
    def values(self) -> NDArray[np.float64]:
        """The values, one row each."""
        return self.rows[: self.value_count]

    def of_users(self, users: NDArray[np.intp]) -> Self:
        """Return the columns of some users; -1 is a user without values, weight or group."""
        present = users >= 0

        def columns(array: NDArray[Any], absent: float) -> NDArray[Any]:
            chosen = np.full((*array.shape[:-1], len(users)), absent, array.dtype)
            chosen[..., present] = array[..., users[present]]  # there may be no column at all
            return chosen

        return self._replace(
            rows=columns(self.rows, np.nan),
            weights=None if self.weights is None else columns(self.weights, 0),
            groups=None if self.groups is None else columns(self.groups, -1),
        )

    def with_labels(self, labels: tuple[Label, ...]) -> Self:
        """Return the same with the labels in another order."""
        if self.groups is None or self.labels == labels:
            return self
        position = {label: index for index, label in enumerate(labels)}
        positions = np.array([*(position[label] for label in self.labels), -1], np.int64)  # the last: no label
        return self._replace(groups=positions[self.groups], labels=labels)

    @classmethod
    def concatenate(cls, tables: Sequence[UserTable]) -> UserTable:
        """Return the columns of all tables; groups are matched by label."""
        first = tables[0]
        weights = [table.weights for table in tables if table.weights is not None]
        labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
        groups = [groups for table in tables if (groups := table.with_labels(labels).groups) is not None]
        return cls(
            np.concatenate([table.rows for table in tables], axis=1),
            first.value_count,
            np.concatenate(weights) if len(weights) == len(tables) else None,
            np.concatenate(groups) if len(groups) == len(tables) else None,
            labels if len(groups) == len(tables) else (),
        )

    def to_plain(self) -> tuple[Any, ...]:
        """Return the arguments of the constructor, for pickles."""
        return self.rows, self.value_count, self.weights, self.groups, self.labels

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserTable):
            return NotImplemented
        return (self.value_count, self.labels) == (other.value_count, other.labels) and all(
            equal_arrays(getattr(self, name), getattr(other, name)) for name in ("rows", "weights", "groups")
        )

    __hash__ = None  # type: ignore[assignment]


def has_part_rows(value: Value) -> bool:
    """Return whether a value's statistics need more than the users' values."""
    return value.rules["average"] in {"micro", "of_means"}


def row_count(values: Sequence[Value]) -> int:
    """Return how many rows a table of these values has."""
    return len(values) + 2 * sum(map(has_part_rows, values))


def rows_of_values(values: Sequence[Value]) -> list[tuple[int, ...]]:
    """Return the rows of a table that each value is computed from: the users' values, or both parts."""
    rows: list[tuple[int, ...]] = []
    part_row = len(values)
    for row, value in enumerate(values):
        rows.append((part_row, part_row + 1) if has_part_rows(value) else (row,))
        part_row += 2 * has_part_rows(value)
    return rows


def is_unit(value: Value) -> bool:
    """Return whether each user's numbers are in [0, 1] by definition."""
    return value.rules["average"] != "micro" and all(map(is_in_unit_range, value.parts))


_TOLERANCE = 1e-9  # of a sum: users have doubles, sums are exact
_MOST_NUMBER = 2.0**640  # of a user: its product with any weight, and sums of these, are finite


def kept_to_plain(table: UserTable, values: Sequence[Value]) -> dict[str, Any]:
    """Return what is kept of users beside their values: the rows of averages, weights and the positions of groups."""
    part_rows = iter(table.rows[table.value_count :])
    rows = {
        value.spelling: [_row_to_plain(next(part_rows)) for _ in range(2)] for value in values if has_part_rows(value)
    }
    weights = None if table.weights is None else _row_to_plain(table.weights)
    return {"rows": rows, "weights": weights, "groups": None if table.groups is None else table.groups.tolist()}


def _row_to_plain(row: NDArray[np.float64]) -> list[float | None]:
    return [json_number(number) for number in row.tolist()]


def kept_from_plain(per_user: object, kept: object, state: State) -> UserTable | None:
    """Return what is kept of users, if anything; raise ValueError if it is impossible."""
    if not isinstance(per_user, Mapping):
        raise ShapeError("per_user", "a mapping", per_user)
    values, users = plan_of_state(state), state.counts.users
    spellings = [value.spelling for value in values if not value.info.of_collection]
    if not per_user and (kept is None or spellings):
        if kept is not None:
            raise ShapeError("kept", "null, as per_user is empty", kept)
        return None
    with_parts = [value for value in values if has_part_rows(value)]
    pair = Many(Anything(), 2)
    of_parts = Fields(dict, {value.spelling: pair for value in with_parts})
    read_at("per_user", Fields(dict, dict.fromkeys(spellings, Anything())), per_user)
    checked = read_at("kept", Fields(dict, {"rows": of_parts, "weights": Anything(), "groups": Anything()}), kept)
    rows = [
        _user_numbers(per_user[value.spelling], f"per_user.{value.spelling}", users, _range_of_own_values(value))
        if value.spelling in spellings
        else [math.nan] * users
        for value in values
    ]
    for value in with_parts:
        is_of_shares = value.rules["average"] == "of_means" and range_of(value) == (0, 1)
        limits = (0.0, 1.0) if is_of_shares else (-math.inf, math.inf)
        of_value = f"kept.rows.{value.spelling}"
        rows += [_user_numbers(row, of_value, users, limits) for row in checked["rows"][value.spelling]]
    weights = _weights(checked["weights"], state)
    groups = None
    labels = tuple(state.groups or ())
    if state.groups is not None:
        codes = read_at("kept.groups", Many(Whole(-1, len(labels) - 1), users), checked["groups"])
        groups = np.array(codes, np.int64)
    else:
        read_at("kept.groups", OneOf((None,)), checked["groups"])
    table = UserTable(np.array(rows, np.float64).reshape(len(rows), users), len(values), weights, groups, labels)
    _check_sums(table, values, state.totals, slice(None), "all users")
    for code, (label, sums) in enumerate((state.groups or {}).items()):
        _check_sums(table, values, sums, groups == code, f"group {label!r}")
    return table


def _weights(data: object, state: State) -> NDArray[np.float64] | None:
    if not state.weighted:
        read_at("kept.weights", OneOf((None,)), data)
        return None
    weights = np.array(_user_numbers(data, "kept.weights", state.counts.users, (0.0, MAX_WEIGHT)), np.float64)
    if np.isnan(weights).any():
        raise ShapeError("kept.weights", "a weight of each user")
    return weights


def _check_sums(table: UserTable, values: Plan, totals: Sequence[Sums], where: Any, of_users: str) -> None:  # noqa: ANN401 - an index
    """Raise ValueError if the users' numbers do not add up to the sums of these users."""
    weights = (np.ones(table.rows.shape[1]) if table.weights is None else table.weights)[where]
    for value, parts, rows in zip(values, values.part_indices, rows_of_values(values), strict=True):
        average = value.rules["average"]
        if average == "micro" and not _are_ratios(table.rows[[values.index(value), *rows]][:, where]):
            raise ShapeError("users", f"users of {of_users} whose {value.spelling} are ratios of what is kept")
        of_rows = [(totals[part], part_of_sums) for part in parts for part_of_sums in ("total", "weight")]
        for row, (sums, name) in zip(rows, of_rows if average == "micro" else of_rows[::2], strict=bool(parts)):
            numbers = table.rows[row][where]
            is_given = ~np.isnan(numbers)
            if int(is_given.sum()) != sums.users - sums.undefined:
                expected = f"{sums.users - sums.undefined} users of {of_users} with {value.spelling}, as in its sums"
                raise ShapeError("users", expected, int(is_given.sum()))
            if average == "geometric":
                numbers = np.log(np.maximum(numbers, LEAST_OF_GEOMETRIC))
            _check_sum((numbers * weights)[is_given], sums, name, f"users of {of_users} whose {value.spelling}")
            if table.weights is not None and average != "micro":
                _check_sum(weights[is_given], sums, "weight", f"weights of {of_users} with {value.spelling} that")


def _check_sum(terms: NDArray[np.float64], sums: Sums, name: str, what: str) -> None:
    """Raise ValueError if terms do not add up to one of the sums, but for rounding."""
    scale = getattr(sums, f"{name}_scale")
    total = float(Fraction(getattr(sums, name), 1 << scale))
    unit = Fraction(1, 1 << min(scale, 1074))  # to which each user's number is rounded in sums, or as a double
    least = _TOLERANCE * float(abs(terms).sum()) + float(2 * len(terms) * unit)
    if not math.isclose(math.fsum(terms), total, rel_tol=_TOLERANCE, abs_tol=least):
        raise ShapeError("users", f"{what} add up to {total:.9g}, as in its sums", math.fsum(terms))


def _range_of_own_values(value: Value) -> tuple[float, float]:
    """Return between which numbers users' values are: between none, where users have no value of their own."""
    return (math.inf, -math.inf) if value.rules["average"] == "of_means" else range_of(value)


def _are_ratios(rows: NDArray[np.float64]) -> bool:
    """Return whether the first row is the second by the third, wherever that is above 0."""
    ratios, numerators, denominators = rows[:, rows[2] > 0]
    return np.allclose(ratios, numerators / denominators, rtol=_TOLERANCE, atol=_TOLERANCE)


def _user_numbers(data: object, what: str, users: int, limits: tuple[float, float]) -> list[float]:
    """Return a number for each user, NaN for null."""
    row, least, most = elements(data, what, users), max(limits[0], -_MOST_NUMBER), min(limits[1], _MOST_NUMBER)
    for position, number in enumerate(row):
        is_number = type(number) is float or (type(number) is int and abs(number) < 2**53)
        if number is not None and not (is_number and math.isfinite(number) and least <= number <= most):
            raise ShapeError(f"{what}[{position}]", "a user's number or null", number)
    return [math.nan if number is None else number for number in row]
