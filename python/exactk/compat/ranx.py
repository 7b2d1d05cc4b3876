"""A drop-in replacement for ranx 0.3.21: the same metrics, tables and files without compilation, and valid p-values.

>>> from exactk.compat.ranx import Qrels, Run, compare, evaluate
>>> qrels = Qrels({"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}})
>>> run = Run({"q1": {"d2": 0.9, "d5": 0.8, "d1": 0.7}, "q2": {"d4": 0.6, "d3": 0.5}}, name="bm25")
>>> evaluate(qrels, run, "mrr")
np.float64(0.75)
>>> evaluate(qrels, run, ["ndcg@3", "map@3-l2"])
{'ndcg@3': np.float64(0.7905820851806467), 'map@3-l2': np.float64(0.5)}

``optimize_fusion``, ``plot`` and what downloads (``from_ir_datasets``, ``from_ranxhub``) are left out.
`differences` says what is not equal; the rest is as the documentation of ranx says.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from exactk._compare import compare as compare_systems
from exactk._fuse import fuse as fuse_systems
from exactk._inputs.model.lists import Rankings
from exactk._inputs.truth import Truth
from exactk._runtime.errors import check_among
from exactk.compat._ranx_data import Qrels, Run, in_order
from exactk.compat._ranx_metrics import RanxMetric, ranked_documents
from exactk.compat._ranx_report import FrozensetDict, Report, pair_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from exactk._inputs.model.fused_scores import FusionMethod, ScoreNorm

    Documents: TypeAlias = Qrels | Run | Mapping[Any, Mapping[Any, float]]
    ValuesByMetric: TypeAlias = dict[str, NDArray[np.float64]]
    from collections.abc import Mapping

__all__ = ["Qrels", "Report", "Run", "compare", "differences", "evaluate", "fuse", "normalize"]


_LEFT_OUT = {"optimize_fusion", "plot"}
_FEWEST_FOR_THREADS = 10  # queries, below which ranx uses one thread
_TESTS: dict[str, PairTest] = {"student": "t", "fisher": "permutation", "tukey": "max_t"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - never returns
    message = f"module {__name__!r} has no attribute {name!r}"
    if name in _LEFT_OUT:
        message += f": import {name} from ranx, which takes ranx.Run(run.to_dict(), run.name) in place of a run"
    raise AttributeError(message)


def differences() -> tuple[str, ...]:
    """Return what is not equal to ranx, in sentences."""
    return (
        "Values may differ in the last digits: sums are exact here, and rounded once.",
        "ranx leaves bpref at 0 for the queries that a thread reaches after one without relevant documents.",
        "p-values are those of exactk.compare.",
        "Wins and losses are counted of exact values: those that are equal but for rounding in ranx are ties here.",
        "stat_test='student' is the same paired t test, except for runs with equal values: p is 1, where ranx has NaN.",
        "If all queries differ by the same amount, p is the share of sign flips as extreme as that; that of ranx is 0.",
        "stat_test='fisher' is exact if at most 20 queries differ, or else (b + 1) / (n_permutations + 1).",
        "ranx returns b / n_permutations for 'fisher', which may be 0, of numbers that are not seeded in all its threads.",
        "stat_test='tukey' is the max-T permutation test of all pairs of runs, and warns.",
        "Tukey's test of ranx takes the runs for independent samples, although their queries are the same.",
        "n_permutations is at least 99, at most 30 runs are compared, and p-values need SciPy.",
        "Plain dicts are paired by query, with a warning if their orders differ; ranx pairs their queries by position.",
        "Plain dicts may have queries without documents; other inputs, such as arrays and lists of Numba, are a TypeError.",
        "return_mean=False returns the values of a single metric of plain dicts, where ranx raises KeyError for 'ndcg@10'.",
        "Scores of plain dicts may not be True or False, which ranx takes for 1 and 0.",
        "Grades above 256 are a ValueError for 'dcg_burges' and 'ndcg_burges', whose gains may be infinite in ranx.",
        "What Numba refuses by an error of its own, such as integers as ids, is a TypeError.",
        "A document of more characters than any other of its Qrels or Run may be added by add_score.",
        "Levels below 0, such as in 'ndcg-l-1', are a ValueError for metrics of gains if a grade is negative.",
        "The persistence of RBP must be below 1, which digits with an exponent are not ('rbp.1e1').",
        "keys, qrels and run are plain dicts and views, which repr() shows as such; to_typed_list is left out.",
        "pd_kwargs are arguments of pandas.read_parquet; ranx passes their names alone.",
        "Columns of strings may have pandas' type of strings, which ranx refuses.",
        "Files of kind 'lz4' need the packages lz4 and cbor2.",
        "JSON has numbers such as 1e-07, which ranx writes as 1e-7.",
        "Fused and normalized scores are those of exactk.fuse: sums are rounded once, and ties are in the order of ids.",
        "Runs are sorted before they are fused; ranx takes documents of add_score in their order.",
        "Equal scores, as of a lone document, are 1 by 'min-max' and 1 / n by 'sum'; in ranx 0, as if they were missing.",
        "Equal scores have their mean rank by 'rank'; in ranx, the ranks of their order.",
        "Ranges below 1e-9 divide as others do, and 'max' needs a score above 0; ranx divides by at least 1e-9.",
        "By 'zmuv', a missing document counts as the run's last in 'sum' and 'wsum'; in ranx as 0, which beats many found.",
        "Other scores below 0 are an error in 'sum' and 'wsum', and all in 'mnz' and 'gmnz': missing documents beat them.",
        "By 'borda', 'min', 'max', 'med', 'anz', 'mnz' and 'gmnz' read the runs that have a document; in ranx, all have it.",
        "By 'borda', methods of ranks read those of the runs; ranx ranks in the order of a set, which differs by process.",
        "By None and 'borda', and in 'bordafuse', ranx cuts ids to the longest of another run: 'd13' may be its 'd1', or lost.",
        "'min' and 'max' read scores of any size; in ranx, missing documents have 1e9 and -1e9.",
        "A weight of 0 leaves out a run with its documents; weights and k below 0, and phi of 0 or 1, are a ValueError.",
        "Runs that share no document with the others are an EvaluationWarning.",
        "NaN is a ValueError in fuse and normalize, and so are infinite scores where they are read.",
        "optimize_fusion, plot, downloads, and the fusion methods that an error names are left out.",
    )


def evaluate(
    qrels: Documents,
    run: Documents,
    metrics: Iterable[str] | str,
    return_mean: bool = True,  # noqa: FBT001, FBT002 - as in ranx
    return_std: bool = False,  # noqa: FBT001, FBT002 - as in ranx
    threads: int = 0,
    save_results_in_run: bool = True,  # noqa: FBT001, FBT002 - as in ranx
    make_comparable: bool = False,  # noqa: FBT001, FBT002 - as in ranx
) -> Any:  # noqa: ANN401 - of many kinds, as in ranx
    """Evaluate a run. Documents with equal scores are in the order in which ranx sorts them.

    See Also
    --------
    exactk.evaluate : The means and all else about them: ``exactk.evaluate(qrels, run, ["ndcg@10"], convention="ranx")``.
    """
    num_threads = _num_threads(threads, len(qrels))
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run = run.make_comparable(qrels)
    judged, lists = _paired(qrels, run)
    names = _metric_names(metrics)
    parsed = {name: RanxMetric.parsed(name) for name in names}
    documents = ranked_documents(judged, lists, is_ranked=isinstance(run, Run))
    values = documents.values(parsed, num_threads)
    if isinstance(run, Run) and save_results_in_run:
        _save_results(run, values, has_std=return_std and return_mean)
    results = {name: _summary(of, return_mean, return_std) for name, of in values.items()}
    return next(iter(results.values())) if len(names) == 1 else results


def _num_threads(threads: int, queries: int) -> int | None:
    """Return the number of threads, or None for all that the process may use."""
    if queries < _FEWEST_FOR_THREADS:
        return 1
    return threads if threads != 0 else None


def _paired(qrels: Documents, run: Documents) -> tuple[list[Mapping[Any, float]], list[Mapping[Any, float]]]:
    """Return the judged documents and the list of each query, in the order of the judgements."""
    for one, kinds in ((qrels, (Qrels, dict)), (run, (Run, dict))):
        if not isinstance(one, kinds):
            raise _wrong_type(one, kinds[0].__name__)
    if qrels.keys() != run.keys():
        message = "qrels and run have different queries: make_comparable=True adds and removes queries of the run"
        raise AssertionError(message)
    for one in (qrels, run):
        if isinstance(one, (Qrels, Run)) and not one.sorted:
            one.sort()
    judged, lists = _entries(qrels), _entries(run)
    if list(judged) != list(lists):
        message = (
            "queries are paired by their ids: ranx pairs those of plain dicts by position, and their orders differ"
        )
        warnings.warn(message, stacklevel=3)
    return list(judged.values()), [lists[query] for query in judged]


def _wrong_type(documents: object, expected: str) -> TypeError:
    kind = type(documents)
    message = f"expected {expected} or dict, found {kind.__name__}"
    if kind.__module__.partition(".")[0] == "ranx":  # has the same name
        message = f"expected {expected} of {__name__} or dict, found that of ranx: use {expected}(found.to_dict())"
    return TypeError(message)


def _entries(documents: Documents) -> Mapping[Any, Mapping[Any, float]]:
    if isinstance(documents, Qrels):
        return documents.qrels
    return documents.run if isinstance(documents, Run) else documents


def _metric_names(metrics: Iterable[str] | str) -> list[str]:
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not all(isinstance(name, str) for name in names):
        message = "expected strings as metrics"
        raise AssertionError(message)
    return names


def _save_results(run: Run, values: ValuesByMetric, *, has_std: bool) -> None:
    for metric, of_queries in values.items():
        run.mean_scores[metric] = np.float64(np.mean(of_queries))
        if has_std:
            run.std_scores[metric] = np.float64(np.std(of_queries))
        run.scores[metric].update(zip(run.get_query_ids(), of_queries, strict=True))


def _summary(values: NDArray[np.float64], return_mean: bool, return_std: bool) -> Any:  # noqa: ANN401, FBT001 - as `evaluate`
    if not return_mean:
        return values
    return {"mean": np.mean(values), "std": np.std(values)} if return_std else np.mean(values)


def compare(
    qrels: Qrels,
    runs: Sequence[Run],
    metrics: Iterable[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,  # noqa: FBT001, FBT002 - as in ranx
    make_comparable: bool = False,  # noqa: FBT001, FBT002 - as in ranx
) -> Report:
    """Evaluate runs, and test how each pair of them differs.

    The p-values of ``"student"``, ``"fisher"`` and ``"tukey"`` are those of `exactk.compare` with ``test="t"``, with
    ``test="permutation"``, and with that and ``adjust="max_t"``; there are at least 99 permutations.

    See Also
    --------
    exactk.compare : With intervals, adjusted p-values, margins and groups of users.
    """
    names = _metric_names(metrics)
    values: dict[str, ValuesByMetric] = {}
    models = [run.name if run.name is not None else f"run_{number}" for number, run in enumerate(runs, 1)]
    for model, run in zip(models, runs, strict=True):
        found = evaluate(qrels, run, names, return_mean=False, threads=threads, make_comparable=make_comparable)
        values[model] = {names[0]: found} if len(names) == 1 else found
    return Report(
        model_names=models,
        results={model: {name: float(np.mean(values[model][name])) for name in names} for model in models},
        comparisons=_comparisons(values, names, stat_test, n_permutations, max_p, random_seed),
        metrics=names,
        max_p=max_p,
        win_tie_loss={
            (one, other): {name: _win_tie_loss(values[one][name], values[other][name]) for name in names}
            for one, other in pair_names(models)
        },
        rounding_digits=rounding_digits,
        show_percentages=show_percentages,
        stat_test=stat_test,
    )


def _comparisons(
    values: Mapping[str, ValuesByMetric],
    metrics: Sequence[str],
    stat_test: str,
    permutations: int,
    max_p: float,
    seed: int,
) -> FrozensetDict:
    """Return the p-values of all pairs of runs, by metric."""
    if stat_test not in _TESTS:
        message = f"the test {stat_test!r} is not supported: expected one of {', '.join(map(repr, _TESTS))}"
        raise NotImplementedError(message)
    if stat_test == "tukey" and len(values) < 2:
        message = "stat_test='tukey' compares at least two runs"
        raise ValueError(message)
    if stat_test == "tukey":
        message = (
            "stat_test='tukey' compares the permutations of all pairs of runs; Tukey's test is not for paired values"
        )
        warnings.warn(message, stacklevel=3)
    comparisons = FrozensetDict()
    for metric in metrics:
        of_systems = {model: of[metric] for model, of in values.items()}
        for pair, p in p_values(of_systems, _TESTS[stat_test], permutations, seed).items():
            result = {"p_value": np.float64(p), "significant": np.bool_(p <= max_p)}
            comparisons[pair] = {**comparisons.get(pair, {}), metric: result}
    return comparisons


def _win_tie_loss(one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, int]:
    """Return how many queries have a higher, an equal and a lower value in the one run."""
    counts = {"W": one > other, "T": one == other, "L": one < other}
    return {outcome: int(np.count_nonzero(is_so)) for outcome, is_so in counts.items()}


_MIN_MAX = ("min-max", "min_max", "min-max-inverted", "min_max_inverted")
_NORMS: dict[str, ScoreNorm] = dict.fromkeys(_MIN_MAX, "min_max")
_NORMS |= {"max": "max", "sum": "sum", "zmuv": "z", "rank": "rank", "borda": "borda"}
_METHODS: dict[str, tuple[FusionMethod, dict[str, Any]]] = {  # here, and the parameters in ranx with their defaults
    "min": ("min", {"name": "comb_min"}),
    "max": ("max", {"name": "comb_max"}),
    "med": ("median", {"name": "comb_med"}),
    "sum": ("sum", {"name": "comb_sum"}),
    "anz": ("anz", {"name": "comb_anz"}),
    "mnz": ("mnz", {"name": "comb_mnz"}),
    "gmnz": ("mnz", {"name": "comb_gmnz", "gamma": ...}),
    "isr": ("mnz", {"name": "isr"}),
    "rrf": ("rrf", {"name": "rrf", "k": 60}),
    "rbc": ("rbc", {"name": "rbc", "phi": ...}),
    "bordafuse": ("borda", {"name": "bordafuse"}),
    "w_bordafuse": ("borda", {"name": "weighted_bordafuse", "weights": ...}),
    "wsum": ("sum", {"name": "weighted_sum", "weights": ...}),
}
_ARGUMENTS = {"gamma": "power", "k": "rank_constant", "phi": "persistence", "weights": "weights"}
_METHODS_LEFT_OUT = (
    *("bayesfuse", "condorcet", "log_isr", "logn_isr", "mapfuse", "mixed", "posfuse", "probfuse"),
    *("segfuse", "slidefuse", "w_condorcet", "wmnz"),
)


def fuse(
    runs: Sequence[Run], norm: str | None = "min-max", method: str = "wsum", params: Mapping[str, Any] | None = None
) -> Run:
    """Fuse runs. Documents with equal scores have the ranks in which ranx sorts them.

    See Also
    --------
    exactk.fuse : With named weights, a depth, other norms, and predictions in all containers.
    """
    if method in _METHODS_LEFT_OUT:
        theirs = f"ranx.fuse([ranx.Run(run.to_dict(), run.name) for run in runs], {norm!r}, {method!r}, params)"
        message = f"method={method!r} is left out: write Run({theirs}.to_dict())"
        raise NotImplementedError(message)
    if norm is not None:
        check_among("norm", norm, _NORMS)
    check_among("method", method, _METHODS)
    if len(runs) < 2 or any(run.keys() != runs[0].keys() for run in runs):
        message = "expected at least two runs, all with the same queries"
        raise AssertionError(message)
    defaults = _METHODS[method][1]
    given = {**defaults, **(params or {})}
    if given.keys() != defaults.keys() or any(value is ... for value in given.values()):
        message = f"expected params of {method!r} with {', '.join(map(repr, defaults))}, found {params!r}"
        raise TypeError(message)
    return _fused(runs, norm, method, given.pop("name"), given)


def normalize(run: Run, norm: str = "min-max") -> Run:
    """Normalize the scores of a run."""
    check_among("norm", norm, [one for one in _NORMS if one != "borda"])
    return _fused([run], norm, "max", run.name, {})


def _fused(runs: Sequence[Run], norm: str | None, method: str, name: str | None, params: dict[str, Any]) -> Run:
    systems = {f"runs[{i}]": _scores_to_fuse(run, norm, method) for i, run in enumerate(runs)}
    options = {_ARGUMENTS[parameter]: value for parameter, value in params.items()}
    if "weights" in options:
        options["weights"] = {f"runs[{i}]": weight for i, weight in enumerate(options["weights"])}
    ours = _METHODS[method][0]
    if ours not in {"rrf", "rbc", "borda"}:
        options["norm"] = _NORMS[norm] if norm is not None and method != "isr" else "none"
    fused = fuse_systems(systems, ours, ties="input_order", unit_names=("query", "document"), **options)
    columns, indptr = fused.columns(), fused.indptr.tolist()
    entries = list(zip(columns["document"], columns["score"].tolist(), strict=True))
    run = Run(name=name)
    run.run = {
        query: dict(entries[begin:end])
        for query, begin, end in zip(systems["runs[0]"], indptr, indptr[1:], strict=False)
    }
    run.sorted = True
    return run


def _scores_to_fuse(run: object, norm: str | None, method: str) -> dict[str, dict[str, float]]:
    """Return the scores to fuse, in ranx's order."""
    if not isinstance(run, (Run, dict)):
        raise _wrong_type(run, "Run")
    lists: dict[str, dict[str, float]] = run.run if isinstance(run, Run) else run
    if not (isinstance(run, Run) and run.sorted):
        lists = in_order(lists)
    if norm is not None and norm.endswith("inverted"):
        lists = in_order({query: {item: -score for item, score in of.items()} for query, of in lists.items()})
    if method == "isr":
        lists = {query: {item: 1 / rank**2 for rank, item in enumerate(of, 1)} for query, of in lists.items()}
    return lists


_VALUE_OF_FIRST_ITEM = "dcg@1"
_CONVENTION = {"base": "ranx", "min_grade": "any"}
_FEWEST_PERMUTATIONS, _MOST_PERMUTATIONS = 99, 10_000_000  # of exactk.compare
_SEEDS = 1 << 64

PairTest = Literal["t", "permutation", "max_t"]


def p_values(
    values: Mapping[str, NDArray[np.float64]], test: PairTest, permutations: int, seed: int
) -> dict[frozenset[str], float]:
    """Return the p-value of each pair of systems; NaN for pairs with a value that is NaN.

    With ``"max_t"``, p-values are those of permutations, adjusted for all pairs.
    """
    pairs = {frozenset([one, other]): np.nan for one in values for other in values if one != other}
    defined = {name: one for name, one in values.items() if not np.isnan(one).any()}
    if len(defined) < 2 or not len(next(iter(defined.values()))):
        return pairs
    draws: dict[str, Any] = {} if test == "t" else {"permutations": _drawable(permutations), "seed": seed % _SEEDS}
    comparison = compare_systems(
        _graded_items(list(defined.values())),
        {name: _single_items(len(one), item) for item, (name, one) in enumerate(defined.items())},
        _VALUE_OF_FIRST_ITEM,
        convention=_CONVENTION,
        test="t" if test == "t" else "permutation",
        adjust="max_t" if test == "max_t" else "none",
        **draws,
    )
    for one in comparison.differences:
        pairs[frozenset([one.system, one.baseline])] = one.p_adjusted
    return pairs


def _drawable(permutations: int) -> int:
    return min(max(permutations, _FEWEST_PERMUTATIONS), _MOST_PERMUTATIONS)


def _graded_items(values: Sequence[NDArray[np.float64]]) -> Truth:
    """Return a truth with an item for each system, whose grade is the value: the DCG of a list of this item alone."""
    systems, users = len(values), len(values[0])
    items = np.tile(np.arange(systems), users)
    return Truth(np.arange(0, users * systems + 1, systems), items, np.stack(values, axis=1).ravel())


def _single_items(users: int, item: int) -> Rankings:
    return Rankings(np.arange(users + 1), np.full(users, item))
