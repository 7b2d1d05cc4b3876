"""Mappings of strings, whose items are numbered user by user.

The items of each user's predictions are numbered among those of the truth, without a vocabulary of all. Numbers of
different users have nothing to do with each other, so that only values of users may be computed of them.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from exactk import _core
from exactk._inputs.alignment import AlignedInputs
from exactk._inputs.checks import exact_float
from exactk._inputs.containers.sequences import MOST_COLUMNS
from exactk._inputs.conversions import truth_input
from exactk._inputs.keys.column_roles import name_columns
from exactk._inputs.keys.columns import key_columns
from exactk._inputs.long_format import Encoding, rows_by_user
from exactk._inputs.model.predictions import predictions_from_rows
from exactk._inputs.model.rows import Rows, resize
from exactk._inputs.registry import classify
from exactk._inputs.truth import Truth

if TYPE_CHECKING:
    from exactk._inputs.keys.vocabulary import Snapshot

_PLAIN_DICTS = frozenset({dict, OrderedDict, defaultdict})
_JUDGED = frozenset({dict, set, frozenset, list, tuple})
_RANKED = frozenset({list, tuple, type(None)})
_SCORED = frozenset({dict, type(None)})
_STRINGS = frozenset({str})


class MatchedMappings(NamedTuple):
    """The inputs with numbers of items, and the truth with the codes of its items."""

    inputs: AlignedInputs
    coded: Rows


def match_mappings(truth: object, predictions: object, num_threads: int) -> MatchedMappings | None:
    """Return the inputs if users and items are strings, in mappings; None if not, or if they may be misread."""
    if not (_is_plain_dict(truth) and _is_plain_dict(predictions) and truth and predictions):
        return None
    first = next((row for row in predictions.values() if row is not None), ())
    has_scores = type(first) is dict
    if any(
        name_columns(islice(keys, MOST_COLUMNS)) for keys in ((predictions, first) if has_scores else (predictions,))
    ):
        return None
    others = [] if predictions.keys() <= truth.keys() else [key for key in predictions if key not in truth]
    judged, ranked = list(truth.values()), [*map(predictions.get, truth), *map(predictions.get, others)]
    types = (_JUDGED, judged), (_SCORED if has_scores else _RANKED, ranked), (_STRINGS, others)
    if not all(expected.issuperset(map(type, values)) for expected, values in types):
        return None
    to_float = exact_float if has_scores else None
    rows, numbers = _core.numbered_rows(ranked, [*judged, *[None] * len(others)], to_float, "predictions", "scores")
    encoding = Encoding(num_threads, outlives_call=False)
    coded = truth_input(classify(truth, "truth"), {}, encoding)
    if not (isinstance(coded, Rows) and _are_strings(coded.user_vocabulary) and _are_strings(coded.item_vocabulary)):
        return None
    users = _users_of_all(coded.user_vocabulary, others, encoding)
    if not _are_strings(users) or (users.size, len(coded.items)) != (len(ranked), len(numbers)):
        return None  # if lengths differ, another thread has changed the mappings meanwhile
    coded = resize(coded, users.size)._replace(user_vocabulary=users)
    matched_truth = Truth.from_valid_rows(coded._replace(items=numbers, item_vocabulary=None))
    lists = predictions_from_rows(
        Rows(rows.indptr, rows.items, scores=rows.values, present=rows.present, is_owned=True)
    )
    return MatchedMappings(AlignedInputs(matched_truth, lists, None), coded)


def _is_plain_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return type(value) in _PLAIN_DICTS


def _users_of_all(users: Snapshot, others: list[Any], encoding: Encoding) -> Snapshot | None:
    """Return the keys of the truth's users, and of others after them."""
    if not others:
        return users
    empty = Rows(np.zeros(len(others) + 1, np.int64), np.zeros(0, np.int64))
    return rows_by_user(
        key_columns(others, "predictions.user"), ["user"], empty, "predictions", encoding
    ).user_vocabulary


def _are_strings(keys: Snapshot | None) -> TypeGuard[Snapshot]:
    return keys is not None and keys.kinds == ("str",)
