"""The public function that returns judged lists, for metrics of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from exactk._engine.core import core_engine
from exactk._engine.judging import checked_block_users, prepare_judging
from exactk._engine.options import JudgeOptions
from exactk._evaluate import takes_options, with_defaults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._report.judged_lists import JudgedLists


@overload
def judge(
    truth: TruthLike, predictions: PredictionsLike, k: int, *, block_users: None = None, **options: Unpack[JudgeOptions]
) -> JudgedLists: ...


@overload
def judge(
    truth: TruthLike, predictions: PredictionsLike, k: int, *, block_users: int, **options: Unpack[JudgeOptions]
) -> Iterator[JudgedLists]: ...


@takes_options(JudgeOptions)
def judge(
    truth: TruthLike,
    predictions: PredictionsLike,
    k: int,
    *,
    block_users: int | None = None,
    **options: Unpack[JudgeOptions],
) -> JudgedLists | Iterator[JudgedLists]:
    """Return the first k items of each user's list beside the truth: their grades, and which are hits.

    With these arrays, a metric of one's own is a line of NumPy. The lists are those that `exactk.evaluate` evaluates: in
    the convention's order of ties, without excluded items, of candidates alone.

    Parameters
    ----------
    truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        As in `exactk.evaluate`.
    predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        As in `exactk.evaluate`, but for an iterator of blocks. `exactk.Batches` are read as a whole.
    k : int
        The number of ranks, a positive integer below 2^31.
    convention
        It decides what is relevant (``min_grade``), what repeated items are, and how scores are ranked. Scores need
        ``ties`` in an order of the items: ``"lowest_id"``, ``"highest_id"``, ``"input_order"``, or ``"raise"``. All
        users are judged, whatever it says of users without relevant items or without a list. Where it has rules for
        single metrics, those of ``num_hits`` hold.
    block_users : int, optional
        The number of users at a time, where all do not fit into memory; the last block has the rest. Each block reads all
        ids once to check them, so blocks of few users cost time. The inputs are converted, checked and warned of by the
        call itself, once.

    Returns
    -------
    JudgedLists, or iterator of JudgedLists
        Arrays with a row per user: all users of the truth, then those of the predictions alone. With `block_users`, the
        blocks in this order; without users, one block which has none.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the argument, what was expected and what was found and, where it
        applies, the first row and position.
    CapacityError
        If the arrays need more memory than there is: 17 bytes per user and rank.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` does of the inputs; not of what matters to values alone, such as lists shorter than `k`, users
        without relevant items, and fields of the convention that have no effect.

    Examples
    --------
    Recall weighted by price:

    >>> import exactk
    >>> import numpy as np
    >>> price = {"book": 20.0, "film": 10.0, "song": 2.0}
    >>> truth = {"ann": ["film", "song"], "bob": ["book"]}
    >>> judged = exactk.judge(truth, {"ann": ["song", "book"], "bob": ["book", "song"]}, k=2)
    >>> judged.items
    array([['song', 'book'],
           ['book', 'song']], dtype=object)
    >>> judged.hits
    array([[ True, False],
           [ True, False]])
    >>> prices = np.array([price[key] for key in judged.item_keys])
    >>> gained = np.where(judged.hits, prices[judged.codes], 0).sum(axis=1)
    >>> possible = np.array([sum(price[item] for item in truth[user]) for user in judged.users])
    >>> gained / possible
    array([0.16666667, 1.        ])

    Some users at a time:

    >>> blocks = exactk.judge([[1], [2], [3]], [[1, 2], [2, 1], [1, 2]], k=2, block_users=2)
    >>> [judged.hits.sum(axis=1).tolist() for judged in blocks]
    [[1, 1], [0]]
    """
    size = None if block_users is None else checked_block_users(block_users)
    all_options = with_defaults(options, judge, JudgeOptions)
    judging = prepare_judging(core_engine, truth, predictions, k, **all_options)
    if size is not None:
        return judging.blocks(size)
    (judged,) = judging.blocks(max(1, judging.user_count))
    return judged
