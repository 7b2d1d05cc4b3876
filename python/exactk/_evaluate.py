"""The public function `evaluate`: containers in, a report out. Its signature is the only place with defaults."""

from __future__ import annotations

from functools import cache
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never, TypeVar

from exactk._engine.short_ways import evaluate_shortly
from exactk._options import CompareOptions, EvaluatorOptions, Options, UpdateOptions, with_parameters
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import DEFAULT_METRICS
from exactk._runtime.texts import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.parents import ParentsLike
    from exactk._inputs.types import (
        Blocks,
        CandidatesLike,
        ExclusionsLike,
        GroupsLike,
        PredictionsLike,
        TruthLike,
        WeightsLike,
    )
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report
    from exactk._runtime.progress import ProgressCallback


_Function = TypeVar("_Function", bound="Callable[..., object]")


def evaluate(
    truth: TruthLike | None,
    predictions: PredictionsLike | Blocks,
    metrics: MetricsLike = DEFAULT_METRICS,
    *,
    convention: ConventionLike = "standard",
    exclude: ExclusionsLike | None = None,
    candidates: CandidatesLike | None = None,
    items: CatalogueLike | None = None,
    base_predictions: PredictionsLike | None = None,
    parents: ParentsLike | None = None,
    weights: WeightsLike | None = None,
    groups: GroupsLike | None = None,
    per_user: bool = False,
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    grade: str | None = None,
    unit_names: tuple[str, str] | None = None,
    **unknown: Never,
) -> Report:
    """Evaluate the predictions of one system against the truth: rankings, scores or embeddings.

    Parameters
    ----------
    truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, path, or None
        The relevant items of each user, optionally with grades:

        - data frame: a row per user and item, with or without a column of grades;
        - mapping: ``{user: items}`` or ``{user: {item: grade}}``;
        - list: the items of each user, or ``{item: grade}``;
        - two-dimensional array: ids, padded with -1, if it is of integers; flags (multi-hot) if it is of bool. Together
          with dense scores, one of floats holds a grade per score, as in `exactk.Truth.from_dense`, and one of
          integers of the scores' shape could hold grades or ids and is an error;
        - SciPy sparse array or matrix: the stored values are grades;
        - ids and distances: the results of a nearest-neighbor search, such as faiss's;
        - string or path: a file, as `exactk.read` reads it, here and in the other arguments.

        See `exactk.as_truth`. None if `predictions` is an iterator, or for metrics that do not read the truth, which are
        ``list_fill``, ``user_coverage`` and others of the lists alone: the users are then those of the predictions.
    predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, path, or iterator
        What to evaluate:

        - data frame: a row per user and item, with a score (higher is better) or a rank; see `exactk.as_predictions`;
        - mapping: ``{user: items}``, best first, or ``{user: {item: score}}``;
        - list: the items of each user, best first, or ``{item: score}``; see `exactk.as_predictions`;
        - dense scores: a two-dimensional array of floats, one score per user and item, or a pivoted pandas frame; see
          `exactk.Scores`. A two-dimensional array of integers holds ids, best first: wrap integer scores in
          `exactk.Scores`;
        - sparse scores: a SciPy sparse array or matrix of the items that may be ranked; see `exactk.SparseScores`;
        - embeddings of users and items; see `exactk.Embeddings`;
        - an iterator of (truth, predictions) or (truth, predictions, exclude), one tuple per block of users.

        A mapping is from user; `exactk.compare` takes several systems by name.

        Keyed users (in mappings and data frames) are matched by key, in any order. A user who is only in the truth
        has missing predictions, which differ from an empty list; a user who is only in the predictions has missing
        truth. The convention decides which of them count. Users without keys are matched by row number.
    metrics : str or iterable of str, default precision, recall, ndcg, map and mrr at 10
        ``name[@k | @[k1,k2]][(parameter=value, ...)]``, such as ``"ndcg@10"``, ``"recall@[10,100]"``
        or ``"fbeta@10(beta=2)"``. Convention fields may also appear in the parentheses, and ``item_group=every`` for the
        relevant items of each group of `items`. Without ``@k`` the whole list counts. A string may have several metrics
        with commas between them. ``exactk.metrics`` lists the names; common aliases are accepted, and case, hyphens and
        underscores do not matter. The report shows each value as it is spelled here; a value that is requested twice is
        reported once, under its first spelling.
    convention : Convention, str or mapping
        The choices that fix what a metric's name means; ``exactk.conventions`` lists the presets. A mapping changes
        fields of the standard, such as ``{"nan": "last"}``, or of another preset: ``{"base": "ranx", "nan": "last"}``.
        The key ``"ndcg.gain"`` changes a field for one metric.
    exclude : Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        Items to remove from each user's list before truncation at k, such as training items. With scores, these items are
        not ranked. See `exactk.as_exclusions`.
    candidates : sequence of items, Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        The only items that may be ranked. Of dense scores and embeddings they are column numbers, or keys of items if the
        scores have some; lists and sparse scores are evaluated as if they held no other items. A flat sequence,
        one-dimensional array or Series of items applies to all users; other containers have one row per user, by key if
        the users of the predictions have keys. Repeated items count once.
    items : Items, optional
        The items that could be recommended, and what is known of them, for metrics that read the items of the lists. The
        training data in any container of `exactk.as_exclusions` is short for ``exactk.Items(train=...)``.
    base_predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        Other predictions of the same users, in any container of predictions, that ``unexpectedness`` compares the lists
        with: what a simple model recommends, such as the most popular items. The exclusions, candidates and ties of the
        predictions apply to them too. Their other users are left out; a user without them has nothing expected.
    parents : mapping from chunk to document, pandas Series, data frame, path, or Parents, optional
        The document of each chunk: lists of chunks are then judged as lists of documents, by the convention's ``chunk_score``
        (``"max"``: a document is where its best chunk is). A frame or file has two columns, of chunks and of documents;
        ``exactk.Parents(split="#")`` reads the document in the chunk's id. The truth may be of chunks, of which the
        highest grade counts for the document, or of documents, as `exclude`, `candidates` and `items` are.
    weights : mapping from user to float, pandas Series, data frame, path, or array of float, shape (n_users,), optional
        The weight of each user in the mean: 0, or from 2^-256 to 2^256. Keyed users need keyed weights: a mapping, a
        pandas Series (users in its index), or a data frame or file with the user columns and one other column. Users without
        keys need one weight per row: an array, a list, or a Series without an index or with the default one. Every
        user who counts under the convention's ``users`` needs a weight.
    groups : mapping from user to int or str, pandas Series, data frame, path, or sequence of int or str, optional
        The group of each user, in the same containers as the weights. The report then also has the values per group. Metrics
        of all lists together, such as coverage, have that of each group's lists, for at most 64 groups.
    per_user : bool
        Whether to keep each user's values, also for `exactk.compare_reports`: 8 bytes per user and value, and 24 where the
        average is ``"micro"`` or ``"of_means"``.
    num_threads : int, optional
        The number of threads. Defaults to EXACTK_NUM_THREADS, else to every CPU that the process may use (affinity,
        cgroup quota and LOKY_MAX_CPU_COUNT). The result is the same, bit for bit, for any number of threads and any
        instruction set (EXACTK_ISA: scalar, avx2 or avx512; by default the widest that the CPU has).
    progress : bool or callable
        True draws a progress bar on stderr if stderr is a terminal (needs rich: ``pip install 'exactk[progress]'``).
        A callable is called as ``progress(done, total)`` from the calling thread, at most every 0.05 s, with the
        number of finished users, which never falls, and of all users, in `exactk.compare` summed over systems. A short
        evaluation calls it once, at the end, when both are equal. The total of an iterator is None until then. An
        exception that the callable raises ends the evaluation.
    user, item, score, rank, grade : str, optional
        Column names in data frames and files, for all arguments alike; `user` may name several columns, which together identify
        a user. Usual names are detected: user_id, query_id, ...; item_id, doc_id, ...; score, prediction; rank; grade,
        relevance, label, rating, ... If frames differ in their column names, convert each with `exactk.as_truth`, `exactk.as_predictions` or `exactk.as_exclusions`.
    unit_names : tuple of (str, str), optional
        What a user and an item are called in tables, counts, warnings and errors, in the singular, such as
        ``("question", "chunk")``. By default ``("query", "document")`` where columns (query_id, qid, doc_id, docno, ...), TREC
        files or else the preset of a search library say so; otherwise ``("user", "item")``.

    Returns
    -------
    Report
        A mapping from metric to value, such as ``report["ndcg@10"]``, which prints as a table and has data frames.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the argument, what was expected and what was found and, where it
        applies, the first row and position.
    CapacityError
        If per-user values, or the sums of very many groups, need more memory than there is.

    Warns
    -----
    EvaluationWarning
        If the input is legal but suspicious. For example:

        - truth and predictions have no user or no item in common;
        - no user is evaluated;
        - relevant items are excluded, or cannot be ranked: they have no column in the scores, are not among the
          candidates, or are dropped for a score of -inf;
        - no list is as long as a cutoff;
        - a column of ratings is used without ``min_grade``;
        - candidates look like sampled negatives, whose values are not those of all items;
        - the order of ties that are broken by id or input order changes a value of more than 1 % of the users, and the
          mean by 0.00005 or more.

        The documentation, under *Counts, warnings and errors*, has the complete list.

    See Also
    --------
    compare : Several systems, by name.

    Examples
    --------
    >>> import exactk
    >>> truth = [[1, 4], [21], [7, 8, 9]]
    >>> predictions = [[1, 2, 3, 4, 5], [2, 21, 3], []]
    >>> exactk.evaluate(truth, predictions, ["precision@5", "recall@5", "ndcg@5"])
    metric        value     std
    precision@5  0.2000  0.1633
    recall@5     0.6667  0.4714
    ndcg@5       0.5027  0.3694
    convention standard; 3 users, 1 user with an empty list
    >>> truth = {"ann": ["film", "song"], "bob": {"film"}, "eve": ["book"]}
    >>> predictions = {"bob": ["book", "film"], "ann": ["song", "book"]}
    >>> report = exactk.evaluate(truth, predictions, "recall@2", per_user=True)
    >>> dict(zip(report.users.tolist(), report.per_user["recall@2"].tolist()))
    {'ann': 0.5, 'bob': 1.0, 'eve': 0.0}

    With data frames, columns are found by their usual names:

    >>> import pandas as pd
    >>> test = pd.DataFrame({"user_id": ["ann", "ann", "bob"], "item_id": ["film", "song", "film"]})
    >>> scored = pd.DataFrame({"user_id": ["bob", "ann"], "item_id": ["film", "book"], "score": [0.5, 0.75]})
    >>> exactk.evaluate(test, scored, "recall@1")["recall@1"]
    0.5
    """
    if unknown:
        check_names(unknown, evaluate, metrics=metrics)
    options = (
        exclude,
        candidates,
        items,
        base_predictions,
        parents,
        weights,
        groups,
        user,
        item,
        score,
        rank,
        grade,
        unit_names,
    )
    if per_user is progress is False and not any(option is not None for option in options):
        report = evaluate_shortly(truth, predictions, metrics, convention, num_threads)
        if report is not None:
            return report
    from exactk._engine.core import core_engine
    from exactk._engine.fold import evaluate_with_engine
    from exactk._engine.systems import ONE_SYSTEM

    return evaluate_with_engine(
        core_engine,
        ONE_SYSTEM,
        truth,
        predictions,
        metrics,
        convention=convention,
        exclude=exclude,
        candidates=candidates,
        items=items,
        base_predictions=base_predictions,
        parents=parents,
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
        unit_names=unit_names,
    ).report


DEFAULTS: Mapping[str, Any] = MappingProxyType(evaluate.__kwdefaults__ or {})
"""The defaults of the options, which the command line shares."""


def takes_options(kind: type, *sources: Callable[..., object]) -> Callable[[_Function], _Function]:
    """Return a decorator that shows options of a kind, such as `Options`, in place of ``**options``, for ``help`` and notebooks.

    They are as in the sources, or else in `exactk.evaluate`: their order, their defaults, and what the docstring says of
    them, of other arguments with the same name, and of values with the same type.
    """
    sources = (*sources, evaluate)

    def decorate(function: _Function) -> _Function:
        target: Any = function
        if isinstance(function, type):
            target = target.__init__
        plain = signature(target)
        shown = {name: one for name, one in plain.parameters.items() if one.kind is not one.VAR_KEYWORD}
        declared: dict[str, Any] = {}
        for source in sources:
            declared |= {name: one for name, one in signature(source).parameters.items() if name not in declared}
        for name in declared:
            if name in kind.__annotations__ and name not in shown:
                shown[name] = declared[name].replace(annotation=kind.__annotations__[name].__forward_arg__)
        target.__signature__ = plain.replace(parameters=[*shown.values()])
        alike = [one for one in sources if signature(one).return_annotation == plain.return_annotation]
        texts, of_values = ([one.__doc__ or "" for one in some] for some in (sources, alike))
        function.__doc__ = with_parameters(function.__doc__, shown, texts, of_values)
        return function

    return decorate


takes_options(Options)(evaluate)

_OF_OTHERS = (
    ("metrics", "metrics='{metric}@{value}' has the cutoff", "k K N topk top_k at_k cutoff cutoffs ks"),
    ("k", "did you mean 'k'?", "K N topk top_k at_k cutoff"),
    (
        "convention",
        "convention={{'min_grade': {value!r}}}",
        "relevance_threshold threshold rel_threshold relevance_level min_rel",
    ),
    ("num_threads", "did you mean 'num_threads'?", "threads n_threads nthreads n_jobs workers"),
    ("threads", "did you mean 'threads'?", "num_threads n_threads nthreads n_jobs workers"),
    ("items", "did you mean exclude=train, whose items leave the lists, or items=exactk.Items(train=train)?", "train"),
    ("exclude", "did you mean 'exclude'?", "train seen exclude_seen filter_already_liked_items"),
    ("groups", "did you mean 'groups'?", "by group_by"),
    ("items", "items=exactk.Items(catalogue) has it", "catalog catalogue"),
    ("adjust", "did you mean 'adjust'?", "correction"),
    ("baseline", "did you mean 'baseline'?", "reference control"),
    ("confidence", "confidence=1 - {value!r}", "alpha max_p"),
    ("seed", "did you mean 'seed'?", "random_state"),
    ("metrics", "exactk.compare(truth, systems, metrics, seed={value!r}) has random numbers", "random_state"),
)
"""What functions that take an option say of those of other libraries."""

_OTHER_FUNCTIONS = {
    "exactk.evaluate(truth, predictions, metrics, ...)": Options,
    "exactk.compare(truth, systems, metrics, ...)": CompareOptions,
    "Evaluator(metrics, ...)": EvaluatorOptions,
    "Evaluator.update(truth, predictions, ...)": UpdateOptions,
}


def _way_on(name: str, value: object, function: str, takes: Collection[str], metrics: object) -> str:
    """Return what to write instead of an option that a function does not take."""
    is_name = isinstance(metrics, str) and metrics.replace("_", "").replace("-", "").isalnum()
    metric = metrics if is_name else "overlap" if "one" in takes else "ndcg"
    for option, hint, names in _OF_OTHERS:
        if option in takes and name in names.split():
            return hint.format(metric=metric, value=value)
    if name in FIELDS and "convention" in takes:
        return f"convention={{{name!r}: {value!r}}}"
    for other, kind in _OTHER_FUNCTIONS.items():
        if name in kind.__annotations__ and other.startswith("Evaluator") == function.startswith("Evaluator"):
            return f"{other} takes it"
    return did_you_mean(name, takes)


def check_names(
    options: Mapping[str, Any], function: Callable[..., object], name: str = "", metrics: object = None
) -> None:
    """Raise TypeError, as Python would for the function, for an option that it does not take; of these metrics, if it has some."""
    takes = signature(function).parameters if options else {}
    for option in options:
        if option not in takes:
            shown = name or function.__qualname__
            hint = _way_on(option, options[option], shown, takes, metrics)
            message = f"{shown}() got an unexpected keyword argument {option!r}"
            raise TypeError(f"{message}; {hint}" if hint else message)


def with_defaults(
    options: Mapping[str, Any], function: Callable[..., object], kind: type = Options, metrics: object = None
) -> dict[str, Any]:
    """Return all options of a kind, as the function has them by default; raise TypeError if it does not take one."""
    check_names(options, function, metrics=metrics)
    return {**_defaults(function, kind), **options}


@cache
def _defaults(function: Callable[..., object], kind: type) -> dict[str, Any]:
    declared = signature(function).parameters
    return {name: declared[name].default for name in kind.__annotations__}
