"""The public function that fuses the lists of several systems to one list for each user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import numpy as np

from exactk._engine.core import core_fuser
from exactk._engine.problem import FusionProblem
from exactk._engine.systems import in_system, open_systems, systems_of_mapping
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.alignment import Alignment, name_rows_and_keys, truth_without_items, without_truth
from exactk._inputs.conversions import predictions_input
from exactk._inputs.keys.vocabulary import KIND_HINT
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.fused_scores import FusedScores, FusionMethod, FusionTies, MissingScore, ScoreNorm
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows, count_users
from exactk._inputs.model.scores import Scores, SparseScores
from exactk._inputs.registry import EMBEDDINGS, SCORES, TOP_K, ClassifiedValue, check_columns_are_read, classify
from exactk._options import ReadingOptions
from exactk._plan.fields import FIELDS
from exactk._plan.metric_strings import checked_cutoff
from exactk._runtime.errors import Amending, ExactkError, InUnits, check_among, input_error, type_error, warn
from exactk._runtime.faults import listed
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads
from exactk._runtime.unit_names import unit_names_of_call
from exactk._topk import topk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from exactk._engine.problem import Fuser
    from exactk._engine.systems import Systems
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.model.top_k import TopK
    from exactk._inputs.types import PredictionsLike
    from exactk._plan.literals import Nan, RankingTies

_OF_RANKS = ("rrf", "rbc", "borda")
_RANK_NORMS = ("rank", "borda")
_WITH_WEIGHTS = ("rrf", "sum", "mnz", "rbc", "borda")
_READ_BY = {"rank_constant": ("rrf",), "persistence": ("rbc",), "power": ("mnz",), "weights": _WITH_WEIGHTS}
"""The methods that read an argument."""
_NUMBERS = ("rank_constant", "persistence", "power")
_EXACT = 2.0**53  # float64 holds all integers below
_ALL = 2**31 - 1  # the most that a cutoff may be


@takes_options(ReadingOptions)
def fuse(
    systems: Mapping[str, PredictionsLike],
    method: FusionMethod = "rrf",
    *,
    norm: ScoreNorm | None = None,
    weights: Mapping[str, float] | None = None,
    missing: MissingScore | None = None,
    depth: int | None = None,
    k: int | None = None,
    rank_constant: float = 60,
    persistence: float = 0.8,
    power: float = 1,
    low: float | Mapping[str, float] | None = None,
    ties: FusionTies = "lowest_id",
    nan: Nan = "raise",
    **options: Unpack[ReadingOptions],
) -> FusedScores:
    r"""Fuse the lists of several systems to one list for each user.

    Each system's list is cut at `depth`, its scores are normalised, and each item gets a fused score of its values in the
    systems that have it. The result is predictions.

    Parameters
    ----------
    systems : mapping from str to predictions
        The predictions of each system by its name, in any container that `exactk.evaluate` takes. A user whom a system
        lacks has an empty list there; the result has the users of all systems, in the order in which they first appear.
        Scores of all items (arrays and embeddings) need `depth`. Of scores and ranks in one table, name one: ``score="score"``.
    method : {"rrf", "sum", "mnz", "anz", "max", "min", "median", "rbc", "borda"}
        How the values of an item become its fused score. The sums run over the systems :math:`s` that have item
        :math:`d`: :math:`c` of them, with weights :math:`w_s`, the item's ranks :math:`r_s` and its normalised scores
        :math:`n_s`; :math:`U` is the number of items that any system has.

        - ``"rrf"``, reciprocal rank fusion: :math:`\sum w_s / (\kappa + r_s)`, with `rank_constant` as :math:`\kappa` [1]_.
        - ``"sum"``, CombSUM; with weights, the linear or convex combination: :math:`\sum w_s n_s` [2]_, [3]_.
        - ``"mnz"``, CombMNZ: :math:`c^p \sum w_s n_s`, with `power` as :math:`p` [2]_.
        - ``"anz"``, CombANZ: :math:`\sum n_s / c`, the mean.
        - ``"max"``, ``"min"``, ``"median"``: of the :math:`n_s`.
        - ``"rbc"``, rank-biased centroid: :math:`\sum w_s (1 - \varphi) \varphi^{r_s - 1}`, with `persistence` as
          :math:`\varphi` [4]_.
        - ``"borda"``: :math:`\sum w_s (U - r_s + 1)`. The items that a list of length :math:`L` lacks share the points that
          it leaves: :math:`w_s (U - L + 1) / 2` each.
    norm : {"none", "min_max", "max", "sum", "z", "theoretical_min_max", "rank", "borda", "distribution"}, optional
        The normalised score :math:`n` of a score :math:`x`, over the scores of one list. By default ``"min_max"``; the methods of
        ranks (rrf, rbc, borda) read no scores.

        - ``"min_max"``: :math:`(x - \min) / (\max - \min)`; 1 if all scores are equal.
        - ``"max"``: :math:`x / \max`, an error unless :math:`\max > 0`.
        - ``"sum"``: :math:`(x - \min) / \sum (x - \min)`; one divided by the number of items if all scores are equal.
        - ``"z"``: :math:`(x - \text{mean}) / \text{sd}`, with the standard deviation of the population; 0 if all are equal.
        - ``"theoretical_min_max"``: :math:`(x - \text{low}) / (\max - \text{low})`; 1 if :math:`\max = \text{low}`.
        - ``"rank"``: :math:`1 - (r - 1) / L`, with the mean rank of tied items.
        - ``"borda"``: the points of the method ``"borda"`` divided by :math:`U`; items that a list lacks share the rest here too.
        - ``"distribution"``: :math:`(x - (\text{mean} - 3\,\text{sd})) / (6\,\text{sd})`; 1/2 if all are equal.
    weights : mapping from str to float, optional
        The weight of each system, from 0 to :math:`2^{256}`, by default 1 each. A weight of 0 leaves the system's items out. The
        methods ``"anz"``, ``"max"``, ``"min"`` and ``"median"`` have none.
    missing : {"zero", "lowest"}, optional
        What an item that a system lacks counts there, for ``"sum"`` and ``"mnz"``: 0, or the lowest normalised score of the
        system's list (0 if that is empty). By default ``"zero"``, and ``"lowest"`` for ``norm="z"``, below whose mean an item
        would else lose by being found.
    depth : int, optional
        How many items of each list are read: the best, before scores are normalised. By default all.
    k : int, optional
        The most items of a fused list. By default all.
    rank_constant : float
        :math:`\kappa` of ``"rrf"``, at least 0.
    persistence : float
        :math:`\varphi` of ``"rbc"``, between 0 and 1.
    power : float
        :math:`p` of ``"mnz"``, from -64 to 64: 0 is ``"sum"``.
    low : float or mapping from str to float, optional
        The lowest possible score, of all systems or of each: 0 for BM25, -1 for a cosine. Only for
        ``norm="theoretical_min_max"``, which needs it.
    ties : {"lowest_id", "highest_id", "input_order", "shared", "expected"}
        The ranks of equal scores of a system: in an order of the items; the last rank of the tie for all (``"shared"``); or the
        mean of what its ranks count (``"expected"``). At `depth`, the last two cut a tie by lowest id. Equal fused scores are
        ordered by lowest id, of keys in their order.
    nan : {"raise", "last"}
        What a NaN score is: an error, or the last rank, for which several tie. Where scores are read, it is an error.

    Returns
    -------
    FusedScores
        The fused lists with their scores, best first.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid; if rankings are fused by scores, or scores are beyond :math:`2^{500}` or integers that float64
        does not hold; if an item is twice in a list; if a score is below its `low`; or if normalised scores are negative under
        ``"mnz"``, or under ``"sum"`` where missing items count 0, since an item would lose by being found.
    CapacityError
        If the result needs more memory than there is.

    Warns
    -----
    EvaluationWarning
        If a system has no items, or no item of any user in common with the others.

    Notes
    -----
    Sums of the values, which are rounded themselves, are rounded once, so fused scores do not depend on the order of the
    systems, on threads or platforms, and items with equal ranks in other systems tie: in sums that are rounded step by step,
    :math:`1/61 + 1/62 + 1/68` depends on the order of its terms.

    References
    ----------
    .. [1] G. V. Cormack, C. L. A. Clarke, S. Büttcher. *Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank
       Learning Methods.* SIGIR 2009.
    .. [2] E. A. Fox, J. A. Shaw. *Combination of Multiple Searches.* TREC-2, 1994.
    .. [3] S. Bruch, S. Gai, A. Ingber. *An Analysis of Fusion Functions for Hybrid Retrieval.* ACM TOIS, 2023.
    .. [4] P. Bailey, A. Moffat, F. Scholer, P. Thomas. *Retrieval Consistency in the Presence of Query Variations.* SIGIR 2017.

    Examples
    --------
    >>> import exactk
    >>> bm25 = {"q1": {"d1": 9.0, "d2": 6.5, "d3": 4.0}}
    >>> dense = {"q1": {"d3": 0.75, "d1": 0.5, "d4": 0.25}}
    >>> exactk.fuse({"bm25": bm25, "dense": dense})
    user  rank  item      score
    q1       1  d1    0.0325225
    q1       2  d3    0.0322665
    q1       3  d2     0.016129
    q1       4  d4     0.015873
    method rrf; 2 systems, 1 user
    >>> convex = exactk.fuse({"bm25": bm25, "dense": dense}, "sum", weights={"bm25": 0.75, "dense": 0.25})
    >>> convex.to_pandas()["score"].tolist()
    [0.875, 0.375, 0.25, 0.0]
    >>> exactk.evaluate({"q1": ["d3"]}, convex, "mrr@10")["mrr@10"]
    0.3333333333333333
    """
    given = {
        "norm": norm,
        "weights": weights,
        "missing": missing,
        "depth": depth,
        "k": k,
        "rank_constant": rank_constant,
        "persistence": persistence,
        "power": power,
        "low": low,
        "ties": ties,
        "nan": nan,
    }
    return fuse_systems(core_fuser, systems, method, given | with_defaults(options, fuse, ReadingOptions))


class _Rules(NamedTuple):
    """The checked arguments about scores and ranks."""

    method: str
    norm: str
    missing: str
    weights: dict[str, float]
    lows: dict[str, float]
    depth: int | None
    ties: str
    nan: Nan

    @property
    def reads_scores(self) -> bool:
        return self.method not in _OF_RANKS and self.norm not in _RANK_NORMS

    @property
    def order_of_ties(self) -> RankingTies:
        """The order of equal scores at the depth."""
        return "lowest_id" if self.ties in {"shared", "expected"} else cast("RankingTies", self.ties)


def fuse_systems(fuser: Fuser, systems: object, method: object, options: dict[str, Any]) -> FusedScores:
    """Fuse with the given fuser; the other arguments are those of `exactk.fuse`."""
    columns: ColumnNames = {
        "user": options["user"],
        "item": options["item"],
        "score": options["score"],
        "rank": options["rank"],
    }
    threads, progress = resolve_threads(options["num_threads"]), Progress(options["progress"])
    with InUnits(options["unit_names"]):
        named = systems_of_mapping(classify(systems, "systems"), "exactk.fuse({'a': a, 'b': b}) fuses two systems")
        rules = _checked_rules(method, options, list(named))
        k = _ALL if options["k"] is None else checked_cutoff(options["k"])
        numbers = {name: float(options[name]) for name in _NUMBERS}
        check_columns_are_read(columns, [("predictions", system) for system in named.values()])
        inputs = _aligned(open_systems(named, columns), rules, columns, threads)
        problem = FusionProblem(
            [_lists_of(name, one, rules) for name, one in inputs.items()],
            list(rules.weights.values()),
            list(rules.lows.values()),
            rules.method,
            rules.norm,
            rules.missing or "zero",
            **numbers,
            depth=_ALL if rules.depth is None else rules.depth,
            k=k,
            ties=rules.ties,
            nan=rules.nan,
            num_threads=threads,
            report_progress=progress.report_finished,
        )
        users = len(problem.systems[0])
        with progress.track(users), Amending(_with_system_named, inputs):
            fused = fuser(problem)
            progress.add_finished(users)
        _warn_of_lists(problem, list(inputs), fused[-1], rules.depth)
        (one, *_) = inputs.values()
        return _result(fused, one, rules, len(inputs))


def _checked_rules(method: object, options: dict[str, Any], names: list[str]) -> _Rules:
    """Check the choices, and that each argument which is given is read."""
    method = _choice("method", method, FusionMethod)
    defaults = signature(fuse).parameters
    given = [name for name in _NUMBERS if _number(options[name], name) != defaults[name].default]
    for argument in [*given, *(["weights"] if options["weights"] is not None else [])]:
        if method not in _READ_BY[argument]:
            readers = " or ".join(map(repr, _READ_BY[argument]))
            raise input_error(argument, f"a method that reads it: {readers}", f"method={method!r}")
    of_ranks = method in _OF_RANKS
    norm = options["norm"]
    if norm is not None and of_ranks:
        raise input_error("norm", "none with a method that reads ranks", f"norm={norm!r} and method={method!r}")
    norm = "none" if of_ranks else _choice("norm", "min_max" if norm is None else norm, ScoreNorm)
    missing = options["missing"]
    adds = method in {"sum", "mnz"} and norm != "borda"
    if missing is not None and not adds:
        found = f"missing={missing!r} with method={method!r}" + (f" and norm={norm!r}" if norm == "borda" else "")
        raise input_error("missing", "a method that reads it, 'sum' or 'mnz', and a norm other than 'borda'", found)
    if missing is not None:
        missing = _choice("missing", missing, MissingScore)
    depth = options["depth"]
    nan = FIELDS["nan"].check(options["nan"], "nan")
    if nan == "last" and not (of_ranks or norm in _RANK_NORMS):
        raise input_error("nan", "'raise' with a method and a norm that read scores", "'last'")
    return _Rules(
        method,
        norm,
        (missing or ("lowest" if norm == "z" else "zero")) if adds else "",
        _numbers_by_system(options["weights"], "weights", names, 1.0),
        _lows(options["low"], norm, names),
        None if depth is None else checked_cutoff(depth, "depth"),
        _choice("ties", options["ties"], FusionTies),
        cast("Nan", nan),
    )


def _choice(argument: str, value: object, choices: Any) -> str:  # noqa: ANN401 - a Literal
    if not isinstance(value, str):
        raise type_error(argument, f"one of {', '.join(get_args(choices))}", repr(value))
    check_among(argument, value, get_args(choices))
    return value


def _number(value: object, argument: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (Real, np.number)):
        raise type_error(argument, "a number", type(value).__name__ if hasattr(value, "__len__") else repr(value))
    try:
        return float(value)
    except OverflowError:
        raise input_error(argument, "a number that float64 holds", "a larger one") from None


def _numbers_by_system(given: object, argument: str, names: list[str], default: float) -> dict[str, float]:
    """Return a number for each system; raise unless there is one for each, and no other."""
    if given is None:
        return dict.fromkeys(names, default)
    if not isinstance(given, Mapping):
        hint = f"{argument}={{{', '.join(f'{name!r}: ...' for name in names[:3])}}}"
        raise type_error(argument, "a mapping from each system's name to a number", type(given).__name__, hint=hint)
    for name in given:
        check_among(argument, name, names)
    if lacking := [name for name in names if name not in given]:
        raise input_error(argument, "a number for each system", f"none for {lacking[0]!r}")
    return {name: _number(given[name], argument) for name in names}


def _lows(low: object, norm: str, names: list[str]) -> dict[str, float]:
    is_read = norm == "theoretical_min_max"
    if (low is not None) != is_read:
        expected = "the lowest possible score" if is_read else "none with a norm other than 'theoretical_min_max'"
        found = f"norm={norm!r} without low" if is_read else f"low={low!r} with norm={norm!r}"
        raise input_error("low", expected, found)
    if low is None or isinstance(low, Mapping):
        return _numbers_by_system(low, "low", names, 0.0)
    return dict.fromkeys(names, _number(low, "low"))


def _aligned(systems: Systems, rules: _Rules, columns: ColumnNames, threads: int) -> dict[str, AlignedInputs]:
    """Return the lists of each system, with the same users and item ids in all."""
    encoding = Encoding(threads, outlives_call=False)
    converted: dict[str, Rows | Predictions] = {}
    for name, classified in systems.items():
        with in_system(name):
            converted[name] = predictions_input(_with_scores(classified, rules, threads), columns, encoding)
    _check_alike(converted)
    truth = truth_without_items(converted.values(), encoding.users)
    with without_truth("other systems"):
        alignment = Alignment(truth, converted.values(), None, encoding, in_key_order=True)
        inputs = {}
        for name, one in converted.items():
            with in_system(name):
                inputs[name] = alignment.inputs(one)
    return inputs


def _check_alike(converted: dict[str, Rows | Predictions]) -> None:
    """Raise unless users are matched in all systems by key, or in all by row, and items are of one kind."""
    (first_name, first), *_ = converted.items()
    kinds: dict[str, str] = {}  # each with the first system that has it
    for name, one in converted.items():
        if (one.user_vocabulary is None) != (first.user_vocabulary is None):
            with_keys, without = (name, first_name) if first.user_vocabulary is None else (first_name, name)
            found = f"keys in {with_keys!r}, and rows without keys in {without!r}"
            raise type_error("systems", "systems that all have user keys, or none", found)
        if one.user_vocabulary is None and count_users(one) != count_users(first):
            found = f"{count_users(first)} rows in {first_name!r}, and {count_users(one)} in {name!r}"
            raise input_error("systems", "as many rows in all systems, or user keys", found)
        assert isinstance(one, (Rows, Rankings, SparseScores))  # noqa: S101 - scores of all items were cut at the depth
        if len(one.items):
            kinds.setdefault("int" if one.item_vocabulary is None else one.item_vocabulary.kinds[0], name)
    if len(kinds) > 1:
        found = " and ".join(f"{kind} in {name!r}" for kind, name in kinds.items())
        raise type_error("systems", "items of one type", found, hint=KIND_HINT)


def _with_scores(classified: ClassifiedValue, rules: _Rules, threads: int) -> ClassifiedValue:
    """Return predictions with a score of every item, cut at the depth, and best items, as items with scores."""
    if classified.container is TOP_K:
        return classify(_items_with_scores(classified.value), "predictions")
    if not (classified.container is SCORES or classified.container is EMBEDDINGS or classified.is_matrix_of_floats):
        return classified
    if rules.depth is None:
        raise input_error("depth", "the number of items to read of scores of all items", "depth=None")
    scores = (
        Scores.for_argument(classified.value, "predictions") if classified.is_matrix_of_floats else classified.value
    )
    best = topk(scores, rules.depth, ties=rules.order_of_ties, nan=rules.nan, num_threads=threads)
    return classify(_items_with_scores(best), "predictions")


def _items_with_scores(best: TopK) -> SparseScores:
    filled = best.filled
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    return SparseScores(indptr, best.items[filled], best.scores[filled], users=best.users)


def _lists_of(name: str, inputs: AlignedInputs, rules: _Rules) -> Rankings | SparseScores:
    """Return a system's lists as the fuser reads them."""
    lists = inputs.predictions
    assert isinstance(lists, (Rankings, SparseScores))  # noqa: S101 - others were cut at the depth
    if not rules.reads_scores:
        return lists
    if isinstance(lists, Rankings) and not len(lists.items):
        return SparseScores.from_lists(lists, np.zeros(0), "predictions", is_complete=False)
    if isinstance(lists, Rankings):
        with in_system(name):
            hint = "method='rrf', 'rbc' or 'borda', or norm='rank' or 'borda', reads ranks; score= names a column of scores beside ranks"
            raise type_error("predictions", "scores", "rankings, which have none", hint=hint)
    if lists.scores.dtype.kind in "iu" and lists.scores.dtype.itemsize == np.dtype(np.int64).itemsize:
        scores = lists.scores.astype(np.float64)
        if (abs(scores) > _EXACT).any() and (scores.astype(object) != lists.scores.astype(object)).any():
            with in_system(name):
                raise input_error("predictions", "scores that float64 holds", "integers of more digits")
        return SparseScores.from_lists(lists.lists, scores, "predictions", lists.min_score, is_complete=False)
    return lists


def _warn_of_lists(problem: FusionProblem, names: list[str], shares: Sequence[bool], depth: int | None) -> None:
    """Warn of systems without items, and of those none of whose items of any user is in another system."""
    with_weight = [s for s in range(len(names)) if problem.weights[s]]
    empty = [names[s] for s in with_weight if not len(problem.systems[s].items)]
    if empty:
        warn(f"{_systems(empty)} no item of any user")
    apart = [names[s] for s in with_weight if not shares[s] and names[s] not in empty]
    if apart and len(with_weight) > len(empty) + 1:
        within = "" if depth is None else f" within depth={depth}"
        warn(f"{_systems(apart)} no item of any user in common with the others{within}: ids may be of other kinds")


def _systems(names: list[str]) -> str:
    return (
        f"system{'s' * (len(names) > 1)} {listed([repr(name) for name in names])} ha{'ve' if len(names) > 1 else 's'}"
    )


def _with_system_named(error: ExactkError, inputs: dict[str, AlignedInputs]) -> ExactkError:
    """Return an error about lists, which numbers their system, with its name, and the keys of the user and the item."""
    numbered = re.fullmatch(r"systems\[(\d+)\]", error.argument or "")
    names = list(inputs)
    name = names[int(numbered[1])] if numbered else names[0]
    named = error.amended(argument="predictions") if numbered else error
    try:
        with name_rows_and_keys(inputs[name]):
            raise named
    except ExactkError as with_keys:
        return with_keys.within(f"system {name!r}") if numbered else with_keys


def _result(fused: Any, inputs: AlignedInputs, rules: _Rules, systems: int) -> FusedScores:  # noqa: ANN401 - FusedRows
    indptr, items, scores, split_ties, _ = fused
    if inputs.item_ids is not None:
        items = np.argsort(inputs.item_ids)[items]
    rows = Rows(
        indptr,
        items,
        scores=scores,
        user_vocabulary=inputs.truth.user_vocabulary,
        item_vocabulary=inputs.item_vocabulary,
        is_owned=True,
    )
    facts = {
        "method": rules.method,
        "norm": "" if rules.method in _OF_RANKS else rules.norm,
        "missing": rules.missing,
        "split_ties": split_ties,
        "system_count": systems,
        "unit_names": unit_names_of_call().pair,
    }
    return FusedScores.from_fused(rows, facts)
