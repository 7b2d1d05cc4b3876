"""The public function that returns judged lists, for metrics of one's own: an evaluation whose outcome they are."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from exactk._engine.chunks import Chunk, Part
from exactk._engine.core import core_engine
from exactk._engine.evaluation import evaluate_system, judged_users
from exactk._engine.inspection import find_in_system
from exactk._engine.problem import JudgedRows
from exactk._engine.request import align_systems, request_of_arguments
from exactk._engine.systems import ONE_SYSTEM
from exactk._engine.warnings import Evaluated, warnings_of
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.alignment import explain_repeats
from exactk._inputs.registry import BLOCKS, classify
from exactk._options import JudgeOptions
from exactk._plan.conventions import as_convention, with_complete_hint
from exactk._plan.metric_strings import checked_cutoff, plan
from exactk._plan.values import Plan
from exactk._runtime.errors import ExactkError, InUnits, input_error, type_error, warn
from exactk._runtime.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from exactk._engine.problem import Engine, JudgedCells
    from exactk._engine.request import Request
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
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
    the convention's order of ties, without excluded items, of candidates alone, and without the items that are not judged
    if the convention says ``unjudged="remove"``.

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


_POLICIES = "users=union,empty_truth=compute,empty_list=compute,missing_list=compute,average=macro"
"""All users are judged: which of them count is for their caller to say."""


class Judging(NamedTuple):
    """Aligned inputs, whose lists are judged when they are asked for."""

    inputs: AlignedInputs
    judge: Callable[[range], JudgedCells]
    progress: Progress
    call: _Call

    @property
    def user_count(self) -> int:
        """The number of users."""
        return len(self.inputs.truth)

    def blocks(self, block_users: int) -> Iterator[JudgedLists]:
        """Yield the users in blocks: one block without users if there are none."""
        size = self.user_count
        rows = JudgedRows(self.inputs)
        with self.progress.track(size):
            for begin in range(0, max(1, size), block_users):
                block = range(begin, min(begin + block_users, size))
                with self.call.explained():
                    cells = self.judge(block)
                    lists = rows.lists(cells, block)
                self.progress.add_finished(len(block))
                yield lists


class _Call(NamedTuple):
    """What is needed to explain an error."""

    convention: Convention
    value: Value
    predictions: ClassifiedValue
    units: InUnits

    @contextmanager
    def explained(self) -> Iterator[None]:
        with self.units:
            try:
                yield
            except ExactkError as error:
                if error.argument == "metrics":  # of which the caller has none
                    error = error.amended(argument="convention")
                with_hint = with_complete_hint(error, self.convention, (self.value,))
                raise ONE_SYSTEM.amended(with_hint, self.predictions, (self.value,)) from error.__cause__


def prepare_judging(
    engine: Engine,
    truth: object,
    predictions: object,
    k: object,
    *,
    convention: Any,  # noqa: ANN401 - like the others, as in `exactk.evaluate`
    unit_names: object,
    **options: Any,  # noqa: ANN401 - likewise
) -> Judging:
    """Convert and align the inputs, and warn of what an evaluation would warn of."""
    convention = as_convention(convention)
    value = _value_of_lists(checked_cutoff(k), convention)
    classified = classify(predictions, "predictions")
    if classified.container is BLOCKS:
        hint = "judge the truth and the predictions of each block"
        raise type_error("predictions", "the predictions of all users", type(predictions).__name__, hint=hint)
    if truth is None:
        raise type_error("truth", "the relevant items of each user", "None")
    call = _Call(convention, value, classified, InUnits(unit_names, convention.name))
    with call.explained():
        request = request_of_arguments(engine, ONE_SYSTEM, truth, classified, Plan([value]), convention, **options)
        aligned = align_systems(request)
        (name,) = aligned.systems
        inputs = aligned.inputs(name)
        with explain_repeats(request.given.truth, request.given.systems[name]):
            _warn_of_inputs(request, inputs, aligned)
    return Judging(inputs, judged_users(request, inputs), request.progress, call)


def _value_of_lists(k: int, convention: Convention) -> Value:
    """Return the value by whose rules the lists are judged."""
    (value,) = plan(f"num_hits@{k}({_POLICIES})", convention)
    return value._replace(spelling=f"num_hits@{k}")  # in warnings


def _warn_of_inputs(request: Request, inputs: AlignedInputs, aligned: Chunk) -> None:
    """Warn of what the hits tell about the inputs, as for any metric; of no users, they say nothing."""
    request = request._replace(progress=Progress(progress=False))
    report, _ = evaluate_system(request, inputs)
    findings = aligned.of_truth._replace(
        systems={"": find_in_system(inputs, report, aligned.exclude, request.candidates)}
    )
    reports = {"": report} if len(inputs.truth) else {}
    for kind, text in warnings_of(Evaluated(Part(reports, findings), request.convention)):
        if kind.name == "ties":
            warn(str(text[0]).replace(request.values[0].spelling, "the number of hits"))
        elif kind.name != "cutoffs":
            warn(*text)


def checked_block_users(block_users: object) -> int:
    """Return the number of users in a block, or raise if it is no positive integer."""
    if isinstance(block_users, bool) or not isinstance(block_users, (int, np.integer)):
        raise type_error("block_users", "an integer", repr(block_users))
    if block_users < 1:
        raise input_error("block_users", "at least 1", str(block_users))
    return int(block_users)
