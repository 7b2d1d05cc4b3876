"""Mappings of strings, whose items are numbered user by user.

The items of each user's predictions are numbered among those of the truth, without a vocabulary of all. Numbers of
different users have nothing to do with each other, so that only values of users may be computed of them.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

from exactk import _core
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.checks import exact_float
from exactk._inputs.keys.column_roles import MOST_COLUMNS, name_columns
from exactk._inputs.keys.columns import MISSING_TEXTS, SEPARATORS, key_columns, parts_of_text
from exactk._inputs.list_readings import ascend
from exactk._inputs.long_format import Encoding, rows_by_user
from exactk._inputs.model.rows import Rows, resize
from exactk._inputs.model.scores import predictions_from_rows
from exactk._inputs.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._inputs.keys.vocabulary import Snapshot

_PLAIN_DICTS = frozenset({dict, OrderedDict, defaultdict})
_JUDGED, _GRADED = frozenset({set, frozenset, list, tuple}), frozenset({dict})
_RANKED, _SCORED = frozenset({list, tuple, type(None)}), frozenset({dict, type(None)})
_STRINGS = frozenset({str})


DisjointItems: TypeAlias = "tuple[str, str] | tuple[()]"
"""An item of the truth and one of the predictions, as messages show them; empty if both have an item in common."""


class MatchedMappings(NamedTuple):
    """The inputs with numbers of items, and the truth with hashes of its items, and with the keys of its users."""

    inputs: AlignedInputs
    hashed: Truth
    users: Snapshot
    judged: list[Any]  # the rows of the truth, and those of the predictions of the same users and then of others
    ranked: list[Any]

    def candidates_of(self, user: int) -> Iterable[str]:
        """Return the items of a row of the predictions."""
        candidates: Iterable[str] = self.ranked[user]
        return candidates

    def disjoint_items(self) -> DisjointItems:
        """Return the first item of each side; none if an item is on both sides, or a side has none."""
        judged, ranked = [*filter(None, self.judged)], [*filter(None, self.ranked)]
        items = set[str]().union(*judged)
        if not (judged and ranked and all(map(items.isdisjoint, ranked))):
            return ()
        return repr(str.__str__(next(iter(judged[0])))), repr(str.__str__(next(iter(ranked[0]))))  # of subclasses, too


def match_mappings(truth: object, predictions: object, num_threads: int) -> MatchedMappings | None:
    """Return the inputs if users and items are strings, in mappings; None if not, or if they may be misread."""
    if not (_is_plain_dict(truth) and _is_plain_dict(predictions) and truth and predictions):
        return None
    if not (_STRINGS.issuperset(map(type, truth)) and _STRINGS.issuperset(map(type, predictions))):
        return None  # other keys may be equal that are different users
    users, judged = list(truth), list(truth.values())
    ranked, others = [*map(predictions.get, users)], []
    ranked_types = set(map(type, ranked))
    if len(predictions) != len(ranked) or type(None) in ranked_types:
        others = [key for key in list(predictions) if key not in truth]
        ranked.extend(map(predictions.get, others))
        ranked_types = set(map(type, ranked))
    has_grades, has_scores = _first_is_dict(judged), _first_is_dict(ranked)
    are_judged = (_GRADED if has_grades else _JUDGED).issuperset(map(type, judged))
    if not are_judged or not ranked_types <= (_SCORED if has_scores else _RANKED):
        return None
    if _may_be_columns(truth) or _may_be_columns(predictions):
        return None
    hashed = _core.hashed_rows(judged, exact_float if has_grades else None, "truth", "grades")
    to_float = exact_float if has_scores else None
    rows, numbers = _core.numbered_rows(ranked, [*judged, *[None] * len(others)], to_float, "predictions", "scores")
    may_be_misread = ascend(rows.indptr, rows.values) or _may_be_odd(judged, ranked)
    if may_be_misread or len(hashed.items) != len(numbers):
        return None  # or another thread has changed the mappings meanwhile
    keyed = rows_by_user(
        key_columns([*users, *others], "truth.user"),
        ["user"],
        resize(Rows(hashed.indptr, hashed.items, hashed.values, hashed.present, is_owned=True), len(ranked)),
        "truth",
        Encoding(num_threads, outlives_call=False),
    )
    lists = predictions_from_rows(
        Rows(rows.indptr, rows.items, scores=rows.values, present=rows.present, is_owned=True)
    )
    matched_truth = Truth.from_rows(keyed._replace(items=numbers))
    assert keyed.user_vocabulary is not None  # noqa: S101 - for the type checker
    inputs = AlignedInputs(matched_truth, lists, None)
    return MatchedMappings(inputs, Truth.from_valid_rows(keyed), keyed.user_vocabulary, judged, ranked)


def _may_be_odd(judged: list[Any], ranked: list[Any]) -> bool:
    """Return whether an item of the truth may be a text of none, or of several items that predictions have."""
    texts = list(chain.from_iterable(judged))
    if not MISSING_TEXTS.isdisjoint(texts):
        return True
    if not any(map("\0".join(texts).__contains__, SEPARATORS)):
        return False
    items = set[str]().union(*filter(None, ranked))
    return any(len(parts := parts_of_text(text)) > 1 and items.issuperset(parts) for text in texts)


def _is_plain_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return type(value) in _PLAIN_DICTS


def _first_is_dict(rows: list[Any]) -> bool:
    return type(next((row for row in rows if row is not None), None)) is dict


def _may_be_columns(mapping: dict[Any, Any]) -> bool:
    """Return whether the mapping, or its first row if that is a mapping, has the names of columns as keys."""
    first = next((row for row in list(mapping.values()) if row is not None), None)
    names = (mapping, first) if isinstance(first, dict) else (mapping,)
    return any(name_columns(list(islice(keys, MOST_COLUMNS))) for keys in names)
