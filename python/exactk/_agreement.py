"""The public functions that say how much two systems' lists agree, and what changed between them: the one is the truth of the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.chunks import Part
from exactk._engine.core import core_engine, core_ranker
from exactk._engine.evaluation import evaluate_system
from exactk._engine.findings import Findings, has_no_hit
from exactk._engine.inspection import find_in_keys, find_in_pairs
from exactk._engine.problem import TopKProblem
from exactk._engine.request import Request
from exactk._engine.warnings import Evaluated, describe_disjoint_keys, describe_values_without_weight, warn_of
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.alignment import Alignment, align_scores, in_shared_vocabularies, name_rows_and_keys, without_truth
from exactk._inputs.base_predictions import most_items
from exactk._inputs.checks import parts_of_rows
from exactk._inputs.conversions import predictions_input
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, TruthColumns, validated_copy
from exactk._inputs.model.scores import SparseScores, check_input_order
from exactk._inputs.registry import check_columns_are_read, classify, opened
from exactk._inputs.restrictions import merge_restrictions
from exactk._inputs.values_by_user import Groups, Weights
from exactk._options import AgreementOptions, ListOptions
from exactk._plan.conventions import as_convention, conventions, with_complete_hint
from exactk._plan.fields import FIELDS, field_name
from exactk._plan.metric_strings import checked_cutoff, error_of_all_values, plan, warn_of_unused_fields
from exactk._plan.metrics import AGREEMENT_FIELDS, AGREEMENT_FIELDS_OF_VALUES
from exactk._report.drift import Drift, ListChanges
from exactk._runtime.errors import ExactkError, InUnits, input_error, type_error, warn
from exactk._runtime.faults import Option, plural
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from exactk._engine.problem import Engine, Ranker
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._inputs.types import PredictionsLike
    from exactk._plan.conventions import Convention, ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Value
    from exactk._report.report import Report

DEFAULT_AGREEMENT_METRICS = ("overlap@10", "rbo@10")
"""What is computed where no metrics are given."""


@takes_options(AgreementOptions)
def agreement(
    one: PredictionsLike,
    other: PredictionsLike,
    metrics: MetricsLike = DEFAULT_AGREEMENT_METRICS,
    **options: Unpack[AgreementOptions],
) -> Report:
    r"""Compare the lists that two systems, or two days of one system, recommend to the same users.

    Each value is the mean over the users who are in both. With A and B the first k items of a user's two lists:

    - ``overlap@k``: \|A & B\| / max(\|A\|, \|B\|), the share of the items that both have, from 0 to 1 [1]_;
    - ``jaccard@k``: \|A & B\| / \|A | B\|, from 0 to 1;
    - ``rbo@k(p=0.9)``: rank-biased overlap [2]_, from 0 to 1: the mean overlap of the first d items over all depths d,
      with weights (1 - p) p^(d - 1), so that a lower p puts more weight on the first ranks. The overlap below the lists is
      extrapolated from that at their end (RBO_ext); ``rbo_over=truncated`` divides the sum down to rank k by its weights;
    - ``kendall_tau@k``: (pairs in the same order - pairs in another) / pairs of A & B, from -1 to 1 [3]_. It is 0/0 for
      users whose lists share fewer than two items;
    - ``lip@k``: max(0, r - k), where r is the lowest rank in `one` of B's items: by how many ranks beyond k the lowest of
      them starts ("least item promoted"). Items that `one` does not have are left out, so give `one` beyond rank k;
      it is 0/0 for users where none is left. If `one` is a matrix of scores, all of its items are ranked, which takes 8
      bytes each.

    A list that agrees with itself has overlap, jaccard and rbo of exactly 1. Where one of a user's two lists is empty
    these are 0, where both are, 0/0. Users whose value is 0/0 are left out of the mean and counted as skipped.

    Parameters
    ----------
    one, other : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The lists to compare, in any containers that `exactk.evaluate` takes as predictions, also of different kinds.
        Scores are ranked first; ties are broken by the convention's ``ties``, in each list alone. Keyed users are matched
        by key, others by row number; all metrics but lip are the same if `one` and `other` are exchanged.
    metrics : str or iterable of str, default overlap and rbo at 10
        Metric strings as in `exactk.evaluate`, such as ``"rbo@[5,10](p=0.8)"``. Without ``@k`` the whole lists count.
        ``exactk.agreement_metrics`` lists the names.
    convention : Convention, str or mapping
        A mapping changes fields: ``rbo_over``, ``undefined`` (the value of 0/0, by default ``"skip"``; as in any other
        convention if `convention` is one), ``ties``, ``nan``, ``score_dtype``, ``negative_infinity`` and ``decimals``.
        The other fields do not apply.
    user, item, score, rank : str, optional
        Column names in data frames and files, for all arguments alike; `user` may name several columns, which together identify
        a user. Usual names are detected: user_id, query_id, ...; item_id, doc_id, ...; score, prediction, ...; rank. If frames
        differ in their column names, convert each with `exactk.as_predictions`.

    Returns
    -------
    Report
        A mapping from metric to value, as of `exactk.evaluate`: reports of shards merge exactly, and
        `exactk.compare_reports` compares several systems with `one`. Of its counts, ``missing_lists`` are users
        only in `one`, ``missing_truth`` users only in `other`, ``empty_truth`` users without items in `one`, and
        ``empty_predictions`` users without items in `other`.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, or an item is in a list twice. The message names `one` or `other`.

    Warns
    -----
    EvaluationWarning
        If users are only in one of the two, if they share no user or no item, if no list reaches a cutoff, or if ranks
        have gaps.

    See Also
    --------
    evaluate : The predictions of one system, beside what is relevant.
    compare : Which of several systems is better.

    References
    ----------
    .. [1] Fagin, Kumar, Sivakumar, "Comparing top k lists", 2003.
    .. [2] Webber, Moffat, Zobel, "A similarity measure for indefinite rankings", 2010, equation 32.
    .. [3] Kendall, "A new measure of rank correlation", 1938.

    Examples
    --------
    >>> import exactk
    >>> monday = {"ann": ["tea", "milk", "rice"], "bob": ["bread", "tea", "rice"], "eve": ["rice"]}
    >>> tuesday = {"ann": ["milk", "tea", "fish"], "bob": ["bread", "tea", "rice"], "eve": ["fish"]}
    >>> exactk.agreement(monday, tuesday, ["overlap@3", "jaccard@3", "rbo@3", "kendall_tau@3"])
    metric          value     std
    overlap@3      0.5556  0.4157
    jaccard@3      0.5000  0.4082
    rbo@3          0.5433  0.4128
    kendall_tau@3  0.0000  1.0000
    convention standard with users='both', undefined='skip'; 3 users, 1 user skipped in kendall_tau@3
    """
    engine, options_of_all = (
        ListEngine(core_engine, core_ranker),
        with_defaults(options, agreement, AgreementOptions, metrics),
    )
    return evaluate_agreement(engine, one, other, metrics, **options_of_all)


@takes_options(ListOptions, agreement)
def drift(one: PredictionsLike, other: PredictionsLike, k: int = 10, **options: Unpack[ListOptions]) -> Drift:
    r"""Say what changed between the lists of two systems, or of two days of one system, over all users of both.

    Each `agreement` is a mean over users: it says how much a user's list changed. This says which share of the users has
    another list, which items came and went, and how far the shares of the items shifted. With :math:`c_i` of all
    :math:`C` entries in the first k ranks of `one` with item i, and :math:`c'_i` of :math:`C'` in those of `other`, the
    exposure shift is :math:`\frac{1}{2} \sum_i |c'_i / C' - c_i / C|`, their total variation distance. If all lists have
    k items it is at most 1 - the mean overlap: the rest of what changed is items that others see now.

    Parameters
    ----------
    one, other : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The lists to compare, as in `exactk.agreement`.
    k : int
        How many items of each list count. The default is 10.
    convention : Convention, str or mapping
        A mapping changes fields: ``ties``, ``nan``, ``score_dtype`` and ``negative_infinity`` of scores, ``undefined`` and
        ``decimals`` of the mean overlap. The other fields do not apply.

    Returns
    -------
    Drift
        It prints, and has ``changed``, ``new_items``, ``lost_items``, ``new_share``, ``lost_share``, ``exposure_shift``
        and ``overlap``.

    Raises
    ------
    InputError, InputTypeError
        As `exactk.agreement`.

    Warns
    -----
    EvaluationWarning
        As `exactk.agreement`, such as of users who are only in one of the two: they are left out.

    See Also
    --------
    agreement : How much a user's two lists have in common.

    Examples
    --------
    >>> import exactk
    >>> monday = {"ann": ["tea", "milk", "rice"], "bob": ["bread", "tea", "rice"], "cy": ["rice", "tea", "milk"]}
    >>> tuesday = {"ann": ["milk", "tea", "fish"], "bob": ["bread", "tea", "rice"], "cy": ["rice", "tea", "milk"]}
    >>> exactk.drift(monday, tuesday, k=3)
    change          count   share
    changed users       1  0.3333
    new items           1  0.1111
    lost items          0  0.0000
    exposure shift         0.1111
    first 3 items of 3 users of both; mean overlap 0.8889
    """
    engine = ListEngine(core_engine, core_ranker)
    return evaluate_drift(engine, count_changes, one, other, k, **with_defaults(options, drift, ListOptions))


class ListEngine(NamedTuple):
    """An engine, and what ranks the scores of lists for it."""

    engine: Engine
    ranker: Ranker


class FirstItems(NamedTuple):
    """The first items of each user, as rows of an array, which begin at offsets."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]


def evaluate_drift(
    engine: ListEngine,
    count: Callable[[FirstItems, FirstItems], ListChanges],
    one: object,
    other: object,
    k: object,
    *,
    convention: ConventionLike,
    unit_names: object,
    **options: Any,  # noqa: ANN401 - those of `ListOptions`
) -> Drift:
    """Return the drift by the given engine and counts; the other arguments are those of `exactk.drift`."""
    cutoff = checked_cutoff(k)
    metrics = f"overlap@{cutoff}"
    with InUnits(unit_names, as_convention(convention).name):
        report, inputs = _evaluated(
            engine,
            one,
            other,
            metrics,
            convention=convention,
            weights=None,
            groups=None,
            per_user=False,
            function="drift",
            **options,
        )
    assert isinstance(inputs.predictions, Rankings)  # noqa: S101 - as both are lists
    in_both = np.ones(len(inputs.truth), np.bool_)
    for lists in (inputs.truth, inputs.predictions):
        if lists.present is not None:
            in_both &= lists.present
    first = [_first_items(lists, cutoff, in_both) for lists in (inputs.truth, inputs.predictions)]
    (overlap,) = report.values()
    return Drift.of_counts(cutoff, count(*first), overlap, report.state.unit_names)


def _first_items(lists: Truth | Rankings, k: int, users: NDArray[np.bool_]) -> FirstItems:
    """Return the first k items of some users."""
    sizes = np.minimum(np.diff(lists.indptr), k)[users]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    begins = lists.indptr[:-1][users] - offsets[:-1]
    return FirstItems(offsets, lists.items[np.repeat(begins, sizes) + np.arange(offsets[-1])].astype(np.int64))


def count_changes(one: FirstItems, other: FirstItems) -> ListChanges:
    """Return what changed between lists of the same users."""
    sizes, other_sizes = np.diff(one.offsets), np.diff(other.offsets)
    same_size = sizes == other_sizes
    differs = one.items[np.repeat(same_size, sizes)] != other.items[np.repeat(same_size, other_sizes)]
    changed = ~same_size
    changed[np.repeat(np.flatnonzero(same_size), sizes[same_size])[differs]] = True
    of_sides = [np.unique(lists.items, return_counts=True) for lists in (one, other)]
    items = np.union1d(*(shown for shown, _ in of_sides))
    before, after = np.zeros((2, len(items)), np.int64)
    for counts, (shown, entries) in zip((before, after), of_sides, strict=True):
        counts[np.searchsorted(items, shown)] = entries
    new, lost = before == 0, after == 0
    size, other_size = len(one.items), len(other.items)
    of_items = zip(before.tolist(), after.tolist(), strict=True)
    return ListChanges(
        users=len(sizes),
        changed_users=int(changed.sum()),
        entries=(size, other_size),
        new_items=int(new.sum()),
        lost_items=int(lost.sum()),
        new_entries=int(after[new].sum()),
        lost_entries=int(before[lost].sum()),
        shift=sum(abs(there * size - here * other_size) for here, there in of_items),
    )


def evaluate_agreement(
    engine: ListEngine,
    one: object,
    other: object,
    metrics: MetricsLike,
    *,
    convention: ConventionLike,
    unit_names: object,
    **options: Any,  # noqa: ANN401 - those of the next function
) -> Report:
    """Return the report of the given engine; the other arguments are those of `exactk.agreement`."""
    with InUnits(unit_names, as_convention(convention).name):
        return _evaluated(engine, one, other, metrics, convention=convention, **options)[0]


def _evaluated(
    engine: ListEngine,
    one: object,
    other: object,
    metrics: MetricsLike,
    *,
    convention: ConventionLike,
    weights: object,
    groups: object,
    per_user: object,
    function: str = "agreement",
    num_threads: object,
    progress: object,
    user: str | Sequence[str] | None,
    item: str | None,
    score: str | None,
    rank: str | None,
) -> tuple[Report, AlignedInputs]:
    """Return the report, and the lists that it is of."""
    given = _checked_convention(convention, function)
    changes: dict[str, Any] = {**_FIXED, "undefined": _undefined(convention)}
    applied = given.replace(**changes)
    values = plan(metrics, applied, compares_lists=True)
    _check_values(values, applied)
    warn_of_unused_fields(applied, values)
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank}
    with _naming({"predictions": "one or other"}, given, values):
        lists = {"one": classify(one, "predictions"), "other": classify(other, "predictions")}
        check_columns_are_read(
            columns, [("predictions", one) for one in lists.values()], weights=weights, groups=groups
        )
    threads, tracker, depths = resolve_threads(num_threads), Progress(progress), _depths(values)
    encoding = Encoding(threads, outlives_call=False)
    rows: dict[str, Rows] = {}
    gaps: dict[str, int] = {}
    for name, given_lists in lists.items():
        with _naming({"predictions": name, "scores": name}, given, values):
            lists[name] = opened(given_lists, "predictions", columns)
            converted = predictions_input(lists[name], columns, encoding)
            ranked = ranked_rows(engine.ranker, converted, depths[name], given, encoding)
            rows[name], gaps[name] = without_rank_gaps(ranked)
    pairs = find_in_pairs(lists["one"], [lists["other"]], ("one", "other"))
    with _naming({"predictions": "other", "truth": "one"}, given, values):
        truth = _ranks_as_grades(rows["one"], depths["one"])
        request = Request(
            engine.engine,
            values,
            applied,
            threads,
            tracker,
            columns,
            encoding,
            weights=None if weights is None else Weights.from_argument(weights, columns, truth),
            groups=None if groups is None else Groups.from_argument(groups, columns, truth),
            per_user=bool(per_user),
        )
        request.check_user_values(truth)
        alignment = Alignment(truth, [rows["other"]], None, encoding)
        inputs = alignment.inputs(rows["other"])
        with tracker.track(alignment.user_count), name_rows_and_keys(inputs):
            report, _ = evaluate_system(request, inputs)
    warn_of(Evaluated(Part({}, Findings(pairs=pairs)), applied))
    longest = {name: _longest(one) for name, one in rows.items()}
    _warn_of_both(report, values, inputs, longest, gaps, function)
    return report, inputs


_FIXED: Mapping[str, Any] = {
    "average": "macro",
    "gain": "linear",
    "gain_table": (),
    "users": "both",
    "empty_list": "compute",
    "missing_list": "compute",
    "duplicate_items": "raise",
    "duplicate_truth": "raise",
    "negative_grades": "raise",
    "unjudged": "keep",
    "min_grade": None,
    "rank_gaps": "close",
}
"""The fields that would tell the two lists apart, or take an item twice, and so are not the caller's."""

_FIELDS_OF = {"agreement": AGREEMENT_FIELDS, "drift": tuple(name for name in AGREEMENT_FIELDS if name != "rbo_over")}
_TIES = ("lowest_id", "highest_id", "input_order", "raise")


def _checked_convention(convention: ConventionLike, function: str) -> Convention:
    """Return the caller's convention; raise InputError if it was changed where that has no effect."""
    given = as_convention(convention)
    changes, fields = convention if isinstance(convention, Mapping) else {}, _FIELDS_OF[function]
    for name in changes:
        field = field_name(name.rpartition(".")[2])
        if field is not None and field not in fields:
            raise input_error("convention", f"a field that {function} reads: {', '.join(fields)}", repr(name))
    if given.ties not in _TIES:
        expected = f"ties that are broken in each list alone: {', '.join(_TIES)}"
        raise input_error("convention", expected, repr(given.ties), hint=Option("convention", {"ties": "lowest_id"}))
    return given


def _undefined(convention: ConventionLike) -> str:
    """Return the value of 0/0: users without one are left out, unless the caller or another convention says otherwise."""
    if isinstance(convention, Mapping):
        is_standard = "base" not in convention and "undefined" not in map(field_name, convention)
    else:
        is_standard = isinstance(convention, str) and conventions.name_of(convention) == "standard"
    return "skip" if is_standard else as_convention(convention).undefined


def _check_values(values: Sequence[Value], convention: Convention) -> None:
    """Raise InputError if a value changes a field that is the same for all values."""
    rules = convention.rules("")
    for value in values:
        for name in FIELDS:
            if name not in AGREEMENT_FIELDS_OF_VALUES and value.rules[name] != rules[name]:
                raise error_of_all_values(value.metric, name, value.rules[name])


def _depths(values: Sequence[Value]) -> dict[str, int | None]:
    """Return down to which rank each list is read; None: to its end."""
    cutoffs = [value.cutoff for value in values]
    deepest = None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    reads_all_of_one = any(value.info.reads_beyond_cutoff for value in values)
    return {"one": None if reads_all_of_one else deepest, "other": deepest}


def _ranks_as_grades(rows: Rows, depth: int | None) -> Rows:
    """Return the items down to the depth as a truth."""
    if depth is not None:
        rows = rows._replace(lengths=np.minimum(_sizes(rows), depth))
    rows = validated_copy(rows, "truth")
    ranks = np.empty(len(rows.items), np.float64)
    for part in parts_of_rows(rows.indptr):
        begin, end = rows.indptr[part.start], rows.indptr[part.stop]
        ranks[begin:end] = np.arange(begin + 1, end + 1) - np.repeat(rows.indptr[part], _sizes(rows)[part])
    return rows._replace(grades=ranks, columns=TruthColumns())


def _sizes(rows: Rows) -> NDArray[np.int64]:
    return np.diff(rows.indptr) if rows.lengths is None else rows.lengths


def _longest(rows: Rows) -> int:
    return int(_sizes(rows).max(initial=0))


@contextmanager
def _naming(names: Mapping[str, str], convention: Convention, values: Sequence[Value]) -> Iterator[None]:
    """Call inputs by these names in errors of this block, and complete their hints."""
    try:
        yield
    except ExactkError as error:
        fault = error.fault
        parts = [
            _change_of_convention(part) if isinstance(part, Option) else _with_names(part, names) for part in fault.hint
        ]
        is_possible = all(not isinstance(part, Option) or _is_read(part) for part in parts)
        named = error.amended(
            argument=_with_names(fault.argument, names, also_scores=True),
            expected=_with_names(fault.expected, names),
            hint=tuple(parts) if is_possible else (),
        )
        raise with_complete_hint(named, convention, values) from error.__cause__


def _change_of_convention(option: Option) -> Option:
    """Return an option of `exactk.topk` as the field of the convention that it is here."""
    return Option("convention", {option.name: option.value}) if option.name in AGREEMENT_FIELDS else option


def _is_read(option: Option) -> bool:
    """Return whether the option changes fields that apply."""
    return option.name == "convention" and isinstance(option.value, dict) and {*option.value} <= {*AGREEMENT_FIELDS}


def _with_names(text: str, names: Mapping[str, str], *, also_scores: bool = False) -> str:
    """Return the text with other names of the inputs; `scores` is a name only of an argument."""
    for old, new in names.items():
        if old != "scores" or also_scores:
            text = re.sub(rf"\b(the )?{old}\b", new, text)
    return text


def _warn_of_both(
    report: Report,
    values: Sequence[Value],
    inputs: AlignedInputs,
    longest: Mapping[str, int],
    rank_gaps: Mapping[str, int],
    function: str,
) -> None:
    """Warn of what the lists look like; `longest` and `rank_gaps` are of each list by its name."""
    for name, users in rank_gaps.items():
        if users:
            warn(f"{name}: {plural(users, 'user')} with gaps in the ranks, which are closed: only the order counts")
    disjoint = describe_disjoint_keys(report, find_in_keys(inputs, has_hit=not has_no_hit(report)))
    if disjoint:
        warn(disjoint.replace("the truth", "one").replace("the predictions", "other"))
    else:
        _warn_of_users(report)
    for name, size in longest.items():
        _warn_of_cutoffs(name, size, values, function)
    if without_weight := describe_values_without_weight(report):
        warn(without_weight)


def _warn_of_users(report: Report) -> None:
    counts = report.state.counts
    sides = {"one": counts.missing_lists, "other": counts.missing_truth}
    texts = [f"{plural(users, 'user')} only in {name}" for name, users in sides.items() if users]
    if texts:
        warn(f"{' and '.join(texts)}: left out")
    names = [name for name, users in report.counts["evaluated"].items() if users == 0]
    if names:
        warn(f"no user was evaluated for {', '.join(names)}: NaN")


def _warn_of_cutoffs(name: str, longest: int, values: Sequence[Value], function: str) -> None:
    """Warn if no list reaches a cutoff; for lip, which asks for ranks beyond the cutoff, if none goes beyond it."""
    for value in values:
        if not longest or value.cutoff is None:
            continue
        text = value.spelling if function == "agreement" else f"{function} at k={value.cutoff}"
        if name == "one" and value.info.reads_beyond_cutoff:
            if value.cutoff >= longest:
                warn(f"{name}: no list is longer than {longest}, so {text} is 0: it needs ranks beyond its cutoff")
                return
        elif value.cutoff > longest:
            warn(f"{name}: no list is longer than {longest}, so {text} has only these items")
            return


def ranked_rows(
    ranker: Ranker, predictions: Rows | Predictions, depth: int | None, convention: Convention, encoding: Encoding
) -> Rows:
    """Return the lists, or the best items by score down to the depth; None: all of them."""
    if isinstance(predictions, Rankings):
        return predictions.rows()
    if isinstance(predictions, Rows) and predictions.scores is None:
        return predictions
    with without_truth():
        inputs = align_scores(predictions, None, encoding)
    scored = inputs.predictions
    assert not isinstance(scored, Rankings)  # noqa: S101 - as they were
    check_input_order(scored, [convention.ties], "scores")
    if convention.score_dtype == "float32":
        scored = scored.with_float32_scores()
    if convention.negative_infinity == "exclude":
        scored = scored.without_negative_infinity()
    candidates, exclude = merge_restrictions(scored, None, None)
    most = most_items(scored)
    problem = TopKProblem(
        scored,
        max(1, most if depth is None else min(depth, most)),
        exclude,
        candidates,
        convention.ties,
        convention.nan,
        encoding.threads,
    )
    with name_rows_and_keys(inputs):
        indices, _ = ranker(problem)
    is_item = indices >= 0
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_item.sum(axis=1), dtype=np.int64)])
    best = indices[is_item]
    if isinstance(scored, SparseScores):
        assert isinstance(predictions, (Rows, SparseScores))  # noqa: S101 - as they were
        source = predictions if isinstance(predictions, Rows) else predictions.rows()  # whose items are codes
        return Rows(
            indptr,
            source.items[best],
            present=scored.present,
            user_vocabulary=source.user_vocabulary,
            item_vocabulary=source.item_vocabulary,
            column_count=source.column_count,
        )
    columns = Rows(
        indptr,
        best,
        present=scored.present,
        user_vocabulary=scored.user_vocabulary,
        item_vocabulary=scored.item_vocabulary,
        column_count=None if scored.item_vocabulary is not None else scored.item_count,
    )
    return in_shared_vocabularies(columns, "predictions", encoding)


def without_rank_gaps(rows: Rows) -> tuple[Rows, int]:
    """Return the lists, ranked 1, 2, 3, ..., and the number of users whose ranks had gaps."""
    return rows._replace(ranks=None), 0 if rows.ranks is None else Rankings.from_rows(rows).users_with_rank_gaps
