"""Lists with one sequence, set or mapping per user, and mappings from user to such; None for a user without one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set as AbstractSet
from itertools import islice
from numbers import Integral, Number, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._inputs import long_format
from exactk._inputs.checks import asking, describe_dtype, entries_of, exact_float, id_array, import_dlpack, offsets_of
from exactk._inputs.containers.tables import RecordTable
from exactk._inputs.keys import column_roles, columns
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.keys.columns import is_missing
from exactk._inputs.model.rows import Rows, locate_in_frame, name_rows
from exactk._inputs.ways_on import each_row, is_foreign, of_hits, reads_as_pair, split
from exactk._runtime.errors import InputError, InputTypeError, input_error, type_error
from exactk._runtime.faults import Option, as_text

if TYPE_CHECKING:
    from exactk._inputs.containers.tables import ColumnTable
    from exactk._inputs.long_format import Encoding
    from exactk._runtime.faults import Text

VALUE_FIELDS = {"truth": "grades", "predictions": "scores", "scores": "scores"}  # of mappings, by argument

_ARRAY_PROTOCOLS = ("__dlpack__", "__array_interface__", "__array__")
_CORE_TYPES = {list, tuple, set, frozenset, dict, type(None)}  # row types that the core reads directly


def is_flat(value: object) -> bool:
    """Return whether the value is one sequence or set of ids, not one per user."""
    if isinstance(value, list):
        return len(value) > 0 and not (value[0] is None or is_row(value[0]))
    return isinstance(value, (Sequence, AbstractSet)) and not isinstance(value, (str, bytes))


def is_row(value: object) -> bool:
    """Return whether the value contains items, and is not an item itself."""
    if isinstance(value, (str, bytes, int, np.generic)):
        return False
    return isinstance(value, Iterable) or any(hasattr(value, protocol) for protocol in _ARRAY_PROTOCOLS)


def is_item(content: object) -> bool:
    """Return whether a user's value is a single item, as in leave-one-out evaluation."""
    return isinstance(content, (str, bytes, Number))


def rows_of_lists(value: object, argument: str, encoding: Encoding, *, is_keyed: bool = False) -> Rows:
    """Return the rows, which may be the values of a mapping from user. In the truth, a row may also be a set, a mapping from item to grade, or (item, grade) pairs.

    In predictions, mappings and pairs have scores.
    """
    assert isinstance(value, list)  # noqa: S101 - for the type checker
    value = value.copy()  # of which other threads know nothing
    types = set(map(type, value))
    if value:
        _check_first_row(value[0], argument)
    if not types <= _CORE_TYPES:
        if arrays := _rows_of_arrays(value, argument):
            return arrays
        value = [
            row if type(row) in _CORE_TYPES else _to_core_type(row, argument, user, is_keyed=is_keyed)
            for user, row in enumerate(value)
        ]
        types = set(map(type, value))
    if (rows := _rows_of_hits(value, argument, encoding)) is not None:
        return rows
    if argument in VALUE_FIELDS and types != {dict} and _holds_pairs(value, argument):
        value = [_mapping_of_pairs(row, argument, user, is_keyed) for user, row in enumerate(value)]
        types = set(map(type, value))
    has_values = dict in types and argument in VALUE_FIELDS
    if dict in types and not has_values:
        value = [tuple(row) if isinstance(row, dict) else row for row in value]
    if argument == "predictions" and types & {set, frozenset}:
        _refuse_sets(value, argument)
    try:
        return _encode_lists(value, argument, encoding, has_values=has_values)
    except InputTypeError as error:
        hint = _parts_hint(value, argument, error, is_keyed)
        if error.fault.hint or not hint:
            raise
        raise error.amended(hint=as_text(hint)) from None


def hint_to_order(values: dict[str, str]) -> Text:
    """Return how to select scores or ranks, if there are both."""
    if not {"score", "rank"} <= values.keys():
        return ()
    score, rank = Option("score", values["score"]), Option("rank", values["rank"])
    return (score, " or ", rank, " selects the one that orders them")


def rows_from_lists(
    chosen: column_roles.ChosenColumns, selected: ColumnTable, argument: str, encoding: Encoding
) -> Rows:
    """Return one row of items per row of a frame with lists. Predictions without scores and ranks are best first."""
    _, item, values, _ = chosen
    indptr = selected.list_offsets[item]
    with name_rows(locate_in_frame(encoding.source, indptr)):
        ids, keys = long_format.encode_items(selected.columns[item], f"{argument}.{item}", encoding)
    rows = Rows(indptr, ids, item_vocabulary=keys)
    for role, name in values.items():
        if name not in selected.list_offsets or not np.array_equal(selected.list_offsets[name], indptr):
            raise input_error(f"{argument}.{name}", f"lists of the same lengths as {item}", "other lengths")
        with name_rows(locate_in_frame(encoding.source, indptr)):
            if role == "rank":  # after the scores
                ranks = long_format.rank_array(selected.columns[name], f"{argument}.{name}")
                rows = long_format.lists_by_rank(rows, ranks, argument, hint_to_order(values))
            elif role == "grade":
                rows = rows._replace(grades=long_format.grade_array(selected.columns[name], f"{argument}.{name}"))
            else:
                rows = rows._replace(scores=selected.columns[name].values(f"{argument}.{name}"))
    return rows


def _rows_of_hits(lists: list[Any], argument: str, encoding: Encoding) -> Rows | None:
    """Return the rows if they are lists of records with an item, and if any number orders the items; else None."""
    first = next((row[0] for row in lists if type(row) is list and row), None)
    if not isinstance(first, Mapping) or argument not in column_roles.VALUE_ROLES:
        return None
    table = RecordTable([{"hits": list(row or ())} for row in lists], [])
    names, roles = column_roles.Columns(table.names), column_roles.VALUE_ROLES[argument]
    try:
        item, values = column_roles.choose_items(names, {}, argument, roles)
    except InputError:
        return None
    if (roles and not values) or any(column_roles.names_user(name) for name in table.names):
        return None
    chosen = column_roles.ChosenColumns.of([], item, values)
    encoding = encoding._replace(source="the lists")
    rows = rows_from_lists(chosen, table.select(chosen.names, argument, encoding.source), argument, encoding)
    present = np.array([row is not None for row in lists])
    return rows if present.all() else rows._replace(present=present)


def _check_first_row(row: object, argument: str) -> None:
    """Raise InputTypeError if the rows are items, hits or records."""
    if is_item(row):
        raise type_error(argument, "a sequence of ids", type(row).__name__, row=0, hint=_flat_hint(row, argument))
    if column_roles.names_of_record(row):
        hint = f"pandas.DataFrame({argument}) makes a data frame of them"
        raise type_error(argument, "the items of each user", "records of users and items", row=0, hint=hint)
    if isinstance(row, Mapping) and is_foreign(row):
        raise type_error(argument, "the items of each user", "records of hits", row=0)


def other_numbers(mappings: list[dict[str, float]], others: list[tuple[str, ...]], argument: str) -> Rows:
    """Return rows of mappings from strings to scores, with the number that each string has among the distinct strings of the others, or -1."""
    rows = _core.other_numbers(mappings, others, float, argument, "scores")
    return Rows(rows.indptr, rows.items, scores=rows.values, present=rows.present, is_owned=True)


def _flat_hint(item: object, argument: str) -> str:
    """Return how to write a single sequence of items as one row per user."""
    if isinstance(item, str) and (way := split(item)):
        return f"{argument}=[{way} for items in {argument}] if each string holds several"
    if argument == "exclude":
        for_all = "{user: exclude for user in truth}" if isinstance(item, str) else "[exclude] * len(truth)"
        return f"exclude={for_all} excludes the same items for each user"
    if argument in {"predictions", "scores"} and isinstance(item, (float, np.floating)):
        return f"{argument}=np.array([{argument}]) gives the scores to one user"
    return f"{argument}=[[item] for item in {argument}] gives each user one item, {argument}=[{argument}] gives all items to one user"


def is_pair(value: object) -> bool:
    """Return whether the value is a tuple of an item and a number."""
    return (
        isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Real) and not isinstance(value[1], bool)
    )


def has_parts(item: object) -> bool:
    """Return whether this is a tuple, or an item and a number in a list as JSON has them, rather than a user's items."""
    is_of_both = isinstance(item, list) and is_pair((*item,)) and (isinstance(item[0], str) or item[1] % 1 != 0)
    return isinstance(item, tuple) or is_of_both


def _holds_pairs(rows: list[Any], argument: str) -> bool:
    """Return whether the first item is a pair; a plain tuple is not an item."""
    first = next((item for row in rows if row is not None and not isinstance(row, dict) for item in row), None)
    return first is not None and is_pair(first) and reads_as_pair(first, argument)


def _is_no_item(value: object) -> bool:
    return not isinstance(value, (str, int)) and (value is None or is_row(value) or not isinstance(value, Hashable))


def _mapping_of_pairs(row: Any, argument: str, user: int, is_keyed: bool) -> dict[Any, Any] | None:  # noqa: ANN401, FBT001 - a row of any kind
    """Return a row of pairs as a mapping; raise if items repeat."""
    if row is None or isinstance(row, dict):
        return row
    mapping: dict[Any, Any] = {}
    for position, pair in enumerate(row):
        if not is_pair(pair) or _is_no_item(pair[0]):
            expected = f"an (item, {VALUE_FIELDS[argument][:-1]}) tuple, like the first item"
            raise type_error(argument, expected, repr(pair), row=user, position=position)
        if pair[0] in mapping:
            hint = _repeated_pair_hint(row, argument, is_keyed)
            raise input_error(argument, "distinct items", f"{pair[0]!r} again", row=user, position=position, hint=hint)
        mapping[pair[0]] = pair[1]
    return mapping


def _encode_lists(lists: list[Any], argument: str, encoding: Encoding, *, has_values: bool) -> Rows:
    field = VALUE_FIELDS.get(argument, "values")
    kind = _item_kind(lists)
    if kind == "other":
        user, item = next((user, item) for user, row in enumerate(lists) if row for item in row)
        if is_foreign(item):
            raise type_error(argument, "integers or strings as ids", type(item).__name__, row=user, position=0)
        lists, kind = [_to_text(row, argument, user) for user, row in enumerate(lists)], "str"
    item_vocabulary = None
    rows: _core.IntegerRows | _core.TextRows
    to_float = exact_float if has_values else None
    if kind == "int":
        rows = _core.integer_rows(lists, to_float, argument, field)
    else:
        vocabulary = encoding.items.of_kinds([kind])
        rows = _core.text_rows(vocabulary.parts[0], lists, kind == "bytes", to_float, argument, field)
        item_vocabulary = vocabulary.snapshot()
    is_truth = argument == "truth"
    return Rows(
        rows.indptr,
        rows.items,
        grades=rows.values if is_truth else None,
        present=rows.present,
        scores=None if is_truth else rows.values,
        item_vocabulary=item_vocabulary,
        is_owned=True,
    )


def _repeated_pair_hint(row: Any, argument: str, is_keyed: bool) -> str:  # noqa: ANN401, FBT001 - as of its caller
    """Return how to write a row of pairs in which a first part repeats: numbers that are not whole are no parts of items."""
    rows, values = (f"{argument}.items()" if is_keyed else f"enumerate({argument})"), VALUE_FIELDS[argument]
    pairs = f"[(user, *pair) for user, items in {rows} for pair in items]"
    frame = f"{argument}=pd.DataFrame({pairs}, columns=['user', 'item', '{values[:-1]}'])"
    if any(is_pair(pair) and pair[1] % 1 for pair in row):
        return f"{frame} may repeat items"
    as_items = each_row({} if is_keyed else [], argument, AS_ITEMS)
    return f"{as_items} if the tuples are items of two parts, {frame} may repeat items with {values}"


AS_ITEMS, WITH_NUMBERS = "list(map(str, items))", "dict(items)"
"""What makes a row of a user's pairs: items of two parts, or items with numbers."""


def _parts_hint(lists: list[Any], argument: str, error: InputTypeError, is_keyed: bool) -> str:  # noqa: FBT001 - as of its caller
    """Return how to write tuples, or lists of a string and a number, in place of ids; empty if the error is about others."""
    row = None if error.row is None else lists[error.row]
    if not row or error.position is None:
        return ""
    item = next(islice(row, error.position, None))
    is_hit = isinstance(item, (list, tuple)) and any(isinstance(part, float) for part in item)
    if not has_parts(item) or ((is_hit or is_foreign(item)) and of_hits(row, argument)):
        return ""
    if isinstance(item, tuple) and isinstance(item[0], Real) and isinstance(item[-1], str):
        return ""  # ranks or scores before ids
    row_code = "{str(item): number for item, number in items.items()}" if isinstance(row, dict) else AS_ITEMS
    as_items = f"{each_row({} if is_keyed else [], argument, row_code)} if they are items of several parts"
    if isinstance(item, tuple) or argument not in VALUE_FIELDS:
        return as_items
    numbers = each_row({} if is_keyed else [], argument, WITH_NUMBERS)
    return f"{numbers} if they are items with {VALUE_FIELDS[argument]}, {as_items}"


def _item_kind(lists: list[Any]) -> str:
    """Return the kind of the first item; "other" if only ``str`` can tell."""
    first = next((item for row in lists if row for item in row), 0)
    if isinstance(first, (str, bytes)):
        return "str" if isinstance(first, str) else "bytes"
    # Objects that cannot be ids are refused by the core, with their location.
    return "int" if first is None or isinstance(first, (Number, np.generic, Iterable)) else "other"


def _to_text(row: Any, argument: str, user: int) -> Any:  # noqa: ANN401 - a row of any kind
    if row is None:
        return None
    for position, item in enumerate(row):
        if is_missing(item) or isinstance(item, (Number, np.generic, bytes)):
            found = f"{type(item).__name__} {item!r} and another kind"
            raise type_error(argument, "ids of one kind", found, row=user, position=position)
    texts = [str(item) for item in row]
    if not isinstance(row, dict):
        return texts
    values = dict(zip(texts, row.values(), strict=True))
    if len(values) < len(texts):
        position, text = next((i, text) for i, text in enumerate(texts) if text in texts[:i])
        raise input_error(argument, "items that str() tells apart", f"{text!r} again", row=user, position=position)
    return values


def _is_by_key(row: Any, argument: str, user: int) -> bool:  # noqa: ANN401 - a row of any kind
    """Return whether this is a Series with keys; raise if its numbers may be those of items in its index."""
    from exactk._runtime import optional

    if not optional.is_series(row) or optional.is_default_index(row.index):
        return False
    is_of_items = row.name == "count" or usual_role(str(row.index.name)) == "item"
    # Integers are ids if the index may be left of a frame.
    if row.dtype.kind in "iu" and (is_of_items or row.index.dtype.kind not in "iu"):
        hint = "row.to_dict() if items are in the index of a row, row.tolist() if they are its values"
        raise type_error(argument, "a sequence of ids", "a Series of numbers by key", row=user, hint=hint)
    return True


def _to_core_type(row: object, argument: str, user: int, *, is_keyed: bool) -> Any:  # noqa: ANN401 - a sequence that the core reads
    """Return the row as a list, tuple or dict."""
    if hasattr(row, "columns"):
        raise type_error(argument, "a sequence of ids", "a data frame", row=user)
    is_by_key = _is_by_key(row, argument, user)
    if hasattr(row, "to_numpy"):
        with asking(argument, "a sequence of ids"):
            row = row.to_numpy()
    row = import_dlpack(row, argument)
    if isinstance(row, np.ndarray) and row.dtype.kind in "OUS":
        return row.tolist()
    if isinstance(row, np.ndarray) and row.dtype.kind == "f" and row.size and argument == "predictions":
        hint = "" if is_keyed else "predictions=exactk.Scores(predictions) if these are scores of all items"
        if is_by_key:
            hint = "row.to_dict() has the scores of a row by item"
        raise type_error(argument, "integer ids", describe_dtype(row), row=user, hint=hint)
    if isinstance(row, np.ndarray):
        return id_array(row, argument, row=user).tolist() if row.size else ()  # np.array([]) has float64
    if isinstance(row, Mapping):
        return dict(row)
    if isinstance(row, AbstractSet):
        return frozenset(row)
    if isinstance(row, Sequence) and not isinstance(row, (str, bytes)):
        return list(row)
    raise type_error(argument, "a sequence of ids", type(row).__name__, row=user)


def _rows_of_arrays(value: list[Any], argument: str) -> Rows | None:
    """Return the rows, concatenated, if all non-empty rows are arrays of one type."""
    lists = [import_dlpack(row, argument) for row in value]
    filled = [row for row in lists if isinstance(row, np.ndarray) and row.size]
    if (
        not all(row.dtype.kind in "iu" for row in filled)
        or not filled
        or any(
            not isinstance(row, np.ndarray) and not (row is None or (isinstance(row, (list, tuple)) and not row))
            for row in lists
        )
    ):
        return None
    checked = [
        id_array(row, argument, row=user) if isinstance(row, np.ndarray) and row.size else np.empty(0, np.int64)
        for user, row in enumerate(lists)
    ]
    if len({row.dtype for row in checked if row.size}) > 1:
        return None
    present = np.array([row is not None for row in value], dtype=np.bool_)
    return Rows(
        offsets_of([*map(len, checked)]),
        np.concatenate([row for row in checked if row.size]),
        present=None if present.all() else present,
        is_owned=True,
    )


def _refuse_sets(value: list[Any], argument: str) -> None:
    for user, row in enumerate(value):
        if isinstance(row, (set, frozenset)):  # a set has no order
            raise type_error(argument, "a sequence of ids, best first", type(row).__name__, row=user)


_PAIR = 2  # parts of a key that may be a user and an item


def rows_of_mapping(value: Mapping[Any, Any], argument: str, encoding: Encoding) -> Rows:
    """Return the rows, with the vocabulary of their users."""
    value = entries_of(value, argument)
    if _has_one_item_each(value) and argument in {"truth", "exclude"}:
        value = {user: None if item is None else [item] for user, item in value.items()}
    elif is_item(next((content for content in value.values() if content is not None), None)):
        hint = f"{argument}={{user: [item] for user, item in {argument}.items()}}"
        if all(isinstance(user, tuple) and len(user) == _PAIR for user in value):
            hint = f"pandas.Series({argument}) has a value for each user and item, if these are the keys"
        elif all(isinstance(items, str) and split(items) for items in value.values()):
            way = split(next(iter(value.values())))
            hint = f"{argument}={{user: {way} for user, items in {argument}.items()}} if each string holds several"
        raise type_error(argument, "the items of each user", "a single item instead of a list", hint=hint)
    if column_roles.name_columns(islice(value, column_roles.MOST_COLUMNS)):
        hint = f"pandas.DataFrame({argument}) makes a data frame of them"
        raise type_error(argument, "the items of each user", "columns of users and items", hint=hint)
    users = columns.key_columns(list(value), f"{argument}.user")
    labels = ["user"] if len(users) == 1 else [f"user_{part}" for part in range(len(users))]
    rows = rows_of_lists(list(value.values()), argument, encoding, is_keyed=True)
    return long_format.rows_by_user(users, labels, rows, argument, encoding)


def _has_one_item_each(value: Mapping[Any, Any]) -> bool:
    """Return whether each user has one item, as in leave-one-out evaluation, and not a number that cannot be one."""
    if is_row(next(iter(value.values()), None)):
        return False
    items = [item for item in value.values() if item is not None]
    types = set(map(type, items))
    are_numbers = any(issubclass(one, (Number, np.generic)) and not _is_integer_type(one) for one in types)
    return bool(items) and not are_numbers and not any(map(is_row, items))


def _is_integer_type(one: type) -> bool:
    return issubclass(one, Integral) and not issubclass(one, bool)
