"""The best items of each user: a question that a ranker answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from exactk._inputs.alignment import align_scores
from exactk._inputs.containers.registry import as_candidate_items
from exactk._inputs.conversions import as_scored, exclusions_of
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._inputs.restrictions import restrict
from exactk._plan.conventions import checked_choice
from exactk._plan.metric_strings import checked_cutoff
from exactk._runtime.errors import input_error
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.predictions import Scored


class TopK(NamedTuple):
    """The best items of each user and their scores, best first, padded at the end of a row.

    Attributes
    ----------
    ids : array of int64 or of object, shape (n_users, k)
        Column numbers or the ids of candidates, and -1 as padding: as `exactk.evaluate` takes rankings. Of
        candidates whose items have names, these, and None as padding.
    scores : array of the scores' type, shape (n_users, k)
        Their scores, of embeddings float64; NaN as padding, or 0 where they are integers.
    """

    ids: NDArray[Any]
    scores: NDArray[Any]


class TopKProblem(NamedTuple):
    """What is asked of each user, past waist 1."""

    scores: Scored
    k: int
    exclude: Exclusions | None
    candidates: CandidateItems | None  # beside a matrix and embeddings alone
    ties: str
    nan: str
    num_threads: int
    finished: Callable[[int], object]  # to be called often, with the number of users done


Best: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64] | None]"  # places, and scores if they are embeddings'
Ranker = Callable[[TopKProblem], Best]

_PLACES = 1 << 20  # that are looked up at a time


def rank_with(
    ranker: Ranker,
    scores: object,
    k: object,
    exclude: object,
    candidates: object,
    ties: object,
    nan: object,
    num_threads: object,
    progress: object,
) -> TopK:
    """Rank by the given ranker; the other arguments are those of `exactk.topk`."""
    told = Progress(progress)
    scored, names = as_scored(scores), None
    known = Encoding(scored.user_vocabulary, scored.item_vocabulary) if isinstance(scored, SparseScores) else Encoding()
    left_out = exclusions_of(exclude, {}, known)
    if isinstance(scored, SparseScores):
        case = align_scores(scored, left_out)
        assert isinstance(case.predictions, SparseScores)  # noqa: S101 - as they were
        scored, left_out, names = case.predictions, case.exclude, case.item_keys
    question = TopKProblem(
        scored,
        checked_cutoff(k),
        left_out,
        as_candidate_items(candidates),
        checked_choice("ties", ties, "ties"),
        checked_choice("nan", nan, "nan"),
        resolve_threads(num_threads),
        told.at_hand,
    )
    columns, excluded = restrict(question.scores, question.candidates, question.exclude)
    users = len(question.scores)
    if excluded is not None and len(excluded) != users:
        raise input_error("exclude", f"one entry for each of {users} users", str(len(excluded)))
    with told.of(users):
        places, own_scores = ranker(question._replace(candidates=columns, exclude=excluded))
        told.add(users)
    if own_scores is not None:
        return TopK(places, own_scores)
    if isinstance(question.scores, SparseScores):
        return _named(_of_candidates(places, question.scores), names)
    assert isinstance(question.scores, Scores)  # noqa: S101 - embeddings have scores of their own
    return TopK(places, _scores_of(places, question.scores.values))


def _named(best: TopK, names: NDArray[Any] | None) -> TopK:
    """Return the same with the names of the items, if they have some."""
    if names is None:
        return best
    items = np.full(best.ids.shape, None, object)
    filled = best.ids >= 0
    items[filled] = names[best.ids[filled]]
    return TopK(items, best.scores)


def _padded(shape: tuple[int, ...], values: NDArray[Any]) -> NDArray[Any]:
    return np.full(shape, math.nan if values.dtype.kind == "f" else 0, values.dtype)


def _scores_of(ids: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    best = _padded(ids.shape, values)
    if values.shape[1] == 0:
        return best
    for piece in _pieces(ids.shape):
        found = np.take_along_axis(values[piece[0]], np.maximum(ids[piece], 0), axis=1)
        np.copyto(best[piece], found, where=ids[piece] >= 0)
    return best


def _of_candidates(places: NDArray[np.int64], candidates: SparseScores) -> TopK:
    """Look the places up in the arrays of the candidates, in place."""
    best = TopK(places, _padded(places.shape, candidates.scores))
    for piece in _pieces(places.shape):
        filled = places[piece] >= 0
        found = places[piece][filled]
        best.scores[piece][filled] = candidates.scores[found]
        best.ids[piece][filled] = candidates.items[found]
    return best


def _pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Cut users and places, so that a piece takes little memory; signals are handled between them."""
    users, k = shape
    some = max(1, _PLACES // k)
    return (
        np.s_[user : user + some, place : place + _PLACES]
        for user, place in product(range(0, users, some), range(0, k, _PLACES))
    )
