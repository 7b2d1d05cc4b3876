"""The one call: containers in, a report out. The only place where its defaults are written."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from exactk._engine.core import core_engine
from exactk._engine.pipeline import evaluate_with_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from exactk._engine.pipeline import Options
    from exactk._plan.conventions import AnyConvention
    from exactk._report.comparison import Comparison
    from exactk._report.report import Report
    from exactk._runtime.progress import ProgressCallback


# A mapping is an object too: the first that fits counts.
@overload
def evaluate(  # type: ignore[overload-overlap]
    truth: object, predictions: Mapping[str, Any], metrics: str | Iterable[str], **options: Unpack[Options]
) -> Comparison: ...
@overload
def evaluate(
    truth: object, predictions: object, metrics: str | Iterable[str], **options: Unpack[Options]
) -> Report: ...
def evaluate(
    truth: object,
    predictions: object,
    metrics: str | Iterable[str],
    *,
    convention: AnyConvention = "standard",
    exclude: object = None,
    candidates: object = None,
    weights: object = None,
    groups: object = None,
    per_user: bool = False,
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    grade: str | None = None,
) -> Report | Comparison:
    """Evaluate ranked lists, or scores or vectors that rank, against what the users found relevant.

    Parameters
    ----------
    truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, ids and distances, or None
        The relevant items of each user; see `exactk.as_truth`. None if `predictions` is an iterator. Beside scores of
        all items, a two-dimensional array of floats holds a grade for each score, as `exactk.Truth.from_dense` takes
        them; integers of the scores' shape could be grades or ids, which is an error.
    predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, ids and distances, or iterator
        The items recommended to each user, best first, also as an index of nearest neighbours returns
        them (`exactk.as_rankings`), or with scores in a mapping or data frame (`exactk.as_predictions`); or, as
        a two-dimensional array of floats, the score of every item for each user (`exactk.Scores`); or, as a
        sparse array or matrix of SciPy, those of the items that may be ranked (`exactk.SparseScores`); or the
        vectors that scores are made of (`exactk.Embeddings`). A mapping from a system's name to its predictions
        evaluates several systems on the same truth. An iterator yields (truth, predictions), or
        (truth, predictions, exclude), of one block of users after another. Where users have keys, in mappings
        and data frames, they are matched by key, in any order: a user of the truth who is not in the predictions
        is missing from them (not one with an empty list), and one of the predictions alone has no truth; which
        of them count is the convention's choice. Rows without keys are matched by number.
    metrics : str or iterable of str
        ``name[@k | @[k1,k2]][(parameter=value, ...)]``, such as ``"ndcg@10"``, ``"recall@[10,100]"``
        or ``"fbeta@10(beta=2)"``. Fields of the convention may also appear in the parentheses. Without
        ``@k`` the whole list counts. ``exactk.metrics`` has the names; the field's aliases are accepted.
    convention : Convention, str or mapping
        The choices behind the names; ``exactk.conventions`` has the presets. A mapping holds changes to the
        standard, such as ``{"nan": "last"}``, or to another preset: ``{"base": "ranx", "nan": "last"}``. The key
        ``"ndcg.gain"`` changes a field for one metric.
    exclude : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, or ids and distances, optional
        Items that are taken out of each user's list before it is cut, such as training items; of
        scores, items that are not ranked (`exactk.as_exclusions`).
    candidates : sequence of int, Exclusions, Truth, Rankings, list of sequences, sparse matrix, two-dimensional array, or ids and distances, optional
        Beside a matrix of scores, or embeddings, the only columns or items that may be ranked. A flat sequence
        of ids or a one-dimensional array is for all users; what has a row per user is for each. A repeated id
        counts once.
    weights : mapping from user to float, pandas Series, data frame, or array of float, shape (n_users,), optional
        Weights in the mean over users: 0, or from 2^-256 to 2^256. Where users have keys, so must the weights:
        a Series of pandas has them in its index, a data frame in its columns of users beside one other column.
        Where users are rows, an array or list, or a Series without an index, has one weight for each row.
        Every user whom a value counts (`users=`) needs one.
    groups : mapping from user to int or str, pandas Series, data frame, or sequence of int or str, optional
        The group of each user, in the same containers as the weights: the report has the values of each.
    per_user : bool
        Whether to keep each user's values: 8 bytes per user and value.
    num_threads : int, optional
        By default EXACTK_NUM_THREADS, or else as many as the CPU affinity, the cgroup's quota and
        LOKY_MAX_CPU_COUNT allow. No number changes a bit of the result, nor does EXACTK_ISA (scalar, avx2
        or avx512), by default the widest instruction set of the CPU.
    progress : bool or callable
        Whether to draw a bar on stderr, where that is a terminal (by rich: ``pip install 'exactk[progress]'``);
        or what is called by the calling thread, every 0.05 s at most, as ``progress(done, total)`` with the
        number of finished users, which never falls, and of all, of several systems together. A short call
        only calls it at its end, when both are the same. Before that, None is the total of an iterator. What
        it raises ends the evaluation.
    user, item, score, rank, grade : str, optional
        What the columns of data frames are called, in all arguments alike; of the user also several, whose values
        together name one. Columns of usual names are found without (`exactk.as_truth`). Where frames differ in
        this, `exactk.as_truth`, `exactk.as_predictions` and `exactk.as_exclusions` take the names of one.

    Returns
    -------
    Report, or Comparison for a mapping of systems

    Raises
    ------
    InputError, InputTypeError
        If an argument is not what it must be: which, what was expected, what came, where first.
    CapacityError
        If per-user values, or the sums of very many groups, need more memory than there is.

    Warns
    -----
    EvaluationWarning
        If no user is evaluated; no item of the truth is in any list; relevant items are excluded, have no column in
        the scores, are not among the candidates of a matrix or `exactk.SparseScores`, or are left out for a score of
        -inf; ranks have gaps, which are closed; or another order of tied items, which ids or the order of input decide,
        would change a value of more than 1 % of the users, and its mean by 0.00005 or more. Of several systems, each
        warning comes once, and names those that it holds for.

    Examples
    --------
    >>> import exactk
    >>> truth = [[1, 4], [21], [7, 8, 9]]
    >>> predictions = [[1, 2, 3, 4, 5], [2, 21, 3], []]
    >>> exactk.evaluate(truth, predictions, ["precision@5", "recall@5", "ndcg@5"])
    metric        value     std  evaluated  skipped
    precision@5  0.2000  0.1633          3        0
    recall@5     0.6667  0.4714          3        0
    ndcg@5       0.5027  0.3694          3        0
    convention standard; 3 users, 1 empty predictions
    >>> truth = {"ann": ["film", "song"], "bob": {"film"}, "eve": ["book"]}
    >>> predictions = {"bob": ["book", "film"], "ann": ["song", "book"]}
    >>> report = exactk.evaluate(truth, predictions, "recall@2", per_user=True)
    >>> dict(zip(report.users.tolist(), report.per_user["recall@2"].tolist()))
    {'ann': 0.5, 'bob': 1.0, 'eve': 0.0}
    """
    return evaluate_with_engine(
        core_engine,
        truth,
        predictions,
        metrics,
        convention=convention,
        exclude=exclude,
        candidates=candidates,
        weights=weights,
        groups=groups,
        per_user=per_user,
        num_threads=num_threads,
        progress=progress,
        user=user,
        item=item,
        score=score,
        rank=rank,
        grade=grade,
    )


DEFAULTS: Mapping[str, Any] = MappingProxyType(evaluate.__kwdefaults__ or {})
"""What the options are that are not given, for the reference and the command line too."""
