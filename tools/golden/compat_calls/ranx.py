"""Calls of ranx."""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "ranx"
MODULE = "ranx"
REQUIREMENTS = ("ranx==0.3.21", "numba==0.68.1", "numpy==2.4.6", "pandas==3.1.1", "scipy==1.17.1", "tabulate==0.10.0")
TOLERANCE = 1e-12
IMPORTS = ("from ranx import Qrels, Run, evaluate", "from exactk.compat.ranx import Qrels, Run, evaluate")

_GRADES = ([0, 1], [0, 1, 2, 3], [1], [-1, 0, 1, 2], [0], [0, 1, 5])
_NAMES = ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges")
_METRICS = (
    *_NAMES,
    *(f"{name}@{cutoff}" for name in _NAMES for cutoff in (1, 3, 10, 100)),
    *(f"{name}{cutoff}-l{level}" for name in _NAMES for cutoff in ("", "@3") for level in (0, 2, 3)),
    *("r-precision", "r-precision-l2", "rbp.5", "rbp.95", "rbp.8-l2", "rbp@9", "rbp.0", "ndcg@0", "map@0", "f1@ 2"),
)
_PLAIN: dict[str, Any] = {
    "qrels": {"q1": {"d01": 1, "d02": 0, "d03": 2}, "q2": {"d01": 1}},
    "run": {"q1": {"d01": 0.5, "d03": 0.25, "d04": 1.5}, "q2": {"d02": 1.0, "d01": 0.5}},
    "metrics": ["ndcg", "map@2"],
}
_METRICS_ASKED: tuple[Any, ...] = (
    *(None, [], "", [3], ["map", None], "mrr", ["mrr", "mrr"], ["map", "mrr", "map"]),
    *("MAP", "ndcg@x", "ndcg@", "ndcg@1.5", "ndcg@-1", "ndcg@5@6", "ndcg-l", "ndcg-lx"),
    *("rbp", "rbp.", "rbp.x", "rbp.5.6", "xrbp.5", "rbp.5@3", "rbp.5-l2-l3", "hits-l1.5"),
    *("r-precision@-1", "rbp.9_5", "ndcg@1_0", "P@5", "precision@5 ", "map-l2@3", "err"),
)
_NO_DICTS: tuple[Any, ...] = (None, [], {}, 3, "q1")
_NO_DOCUMENTS: tuple[Any, ...] = (None, 3, *({"d01": number} for number in (None, "x", "1", 1.7, 1, True)))
_FAULTY: tuple[dict[str, Any], ...] = (
    *({"metrics": metrics} for metrics in _METRICS_ASKED),
    *({argument: value} for argument in ("qrels", "run") for value in _NO_DICTS),
    *({argument: {"q1": value}} for argument in ("qrels", "run") for value in _NO_DOCUMENTS),
    {"run": {"q1": {"d01": 1.0}}},
    {"run": {"q1": {"d01": 1.0}}, "options": {"make_comparable": True}},
    {"run": {"q1": {"d01": 1.0}, "q9": {"d01": 1.0}}, "options": {"make_comparable": True}},
    {"run": {"q9": {"d01": 1.0}}, "options": {"make_comparable": True}},
    {"run": {"q1": {"d01": 1.0}, "q3": {"d01": 1.0}}},
    {"run": {"q1": {"d01": float("inf")}, "q2": {"d01": float("-inf"), "d02": 0.0}}},
    {"run": {"q2": {"d02": 1.0, "d01": 0.5}, "q1": {"d01": 0.5, "d03": 0.25}}},
    {"qrels": {"q1": {}, "q2": {"d01": 1}}},
    {"run": {"q1": {}, "q2": {"d01": 1.0}}},
    {"qrels": {"q1": {}}, "run": {"q1": {}}},
    {"options": {"threads": -1}},
    {"options": {"threads": 1}},
    {"options": {"return_mean": False, "return_std": True}},
    {"options": {"return_std": True}},
    {"options": {"return_std": True, "save_results_in_run": False}},
)
_FAULTY_COMPARISONS: tuple[dict[str, Any], ...] = ({"stat_test": "x"}, {"metrics": [1]}, {"runs": []})
_OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {"return_mean": False}, {"return_std": True}, {"threads": 2}, {"save_results_in_run": False}),
    {"make_comparable": True},
)
_STEPS: tuple[list[list[Any]], ...] = (
    [["add_score", "q1", "d01", 3]],
    [["add_score", "q9", "d01", 3], ["sort"]],
    [["add_score", "q0", "d01", 1], ["add_score", "q0", "d02", 2]],
    [["add", "q0", ["d01", "d02"], [1, 2]]],
    [["add", "q1", ["d01", "d02"], [1, 2]]],
    [["add", "q1", ["d01", "d02", "d01"], [1, 2, 3]]],
    [["add_multi", ["q5", "q4"], [["d01", "d02"], ["d03"]], [[1, 2], [2]]]],
    [["add_multi", ["q5", "q4"], [["d01", "d02"], ["d03"]], [[1, 2]]]],
    [["add", "q0", ["d01", "d02"], [1]]],
    [["add", "q0", ["d01"], [1, 2]]],
    [["add", "q0", ["d01"], ["x"]]],
    [["add", "q0", ["d01"], ["1"]]],
    [["add", "q0", ["d01"], [None]]],
    [["add_score", "q0", "d01", "x"]],
    [["add_score", "q0", "d01", 1.5]],
    [["add_score", "q0", "d01", None]],
    [["add_score", 3, "d01", 1]],
    [["add_score", "q0", 3, 1]],
    [["add", 3, ["d01"], [1]]],
    [["add", "q0", [3], [1]]],
)
_LINES: tuple[tuple[str, list[str]], ...] = (
    ("Run", ["q1 Q0 d01 1 2.5 tag", "q1 Q0 d02 2 3 other", "q0 Q0 d01 1 -1e3 tag"]),
    ("Run", ["q1\tQ0\td01\t1\t2.5\ttag"]),
    ("Run", []),
    ("Run", ["q1 Q0 d01 1 2.5 tag", ""]),
    ("Run", ["q1 Q0 d01 1 2.5 tag", "q1 Q0 d01 2 1.5 tag"]),
    ("Run", ["q1 Q0 d01 1 x tag"]),
    ("Run", ["q1 Q0 d01 1 2.5"]),
    ("Qrels", ["q1 0 d01 1", "q1 0 d02 2", "q0 0 d01 -1"]),
    ("Qrels", ["q1 0 d01 1", "q1 0 d01 2"]),
    ("Qrels", ["q1 0 d01 1.0"]),
    ("Qrels", ["q1 0 d1"]),
    ("Qrels", []),
)
_JSON: tuple[tuple[str, str], ...] = (
    ("Qrels", '{"q2": {"d01": 1, "d02": 2}, "q1": {"d01": 0}}'),
    ("Qrels", '{"q1": {"d01": 1.5}}'),
    ("Qrels", '{"q1": {"d01": null}}'),
    ("Qrels", "{"),
    ("Qrels", "{}"),
    ("Run", '{"q2": {"d01": 1, "d02": 2.5}, "q1": {"d01": 0}}'),
    ("Run", '{"q1": {"d01": NaN}}'),
    ("Run", '{"q1": ["d01"]}'),
    ("Run", "[]"),
)
_FRAMES: tuple[tuple[str, dict[str, list[Any]], dict[str, Any]], ...] = (
    ("Qrels", {"q_id": ["q2", "q1", "q2"], "doc_id": ["d01", "d01", "d02"], "score": [1, 2, 3]}, {}),
    ("Qrels", {"q_id": ["q2", "q1", "q2"], "doc_id": ["d01", "d01", "d01"], "score": [1, 2, 3]}, {}),
    ("Qrels", {"q_id": ["q2", None], "doc_id": ["d01", "d01"], "score": [1, 2]}, {}),
    ("Qrels", {"q_id": ["q2", "q1"], "doc_id": ["d01", None], "score": [1, 2]}, {}),
    ("Qrels", {"q_id": ["q2"], "doc_id": ["d01"], "score": [1.0]}, {}),
    ("Qrels", {"q_id": [2], "doc_id": ["d01"], "score": [1]}, {}),
    ("Qrels", {"q_id": ["q2"], "doc_id": [1], "score": [1]}, {}),
    ("Qrels", {"q": ["q2"], "d": ["d01"], "s": [1]}, {"q_id_col": "q", "doc_id_col": "d", "score_col": "s"}),
    ("Qrels", {"q": ["q2"], "d": ["d01"], "s": [1]}, {}),
    ("Run", {"q_id": ["q2", "q1", "q2"], "doc_id": ["d01", "d01", "d02"], "score": [1.0, 2.0, 3.5]}, {}),
    ("Run", {"q_id": ["q2", "q1"], "doc_id": ["d01", "d01"], "score": [1.0, 2.0]}, {"name": "bm25"}),
    ("Run", {"q_id": ["q2"], "doc_id": ["d01"], "score": [1]}, {}),
    ("Run", {"q_id": [], "doc_id": [], "score": []}, {}),
)
_KINDS = ("json", "trec", "txt", "gz", "csv", "")
NORMS = (None, "min-max", "min_max_inverted", "max", "sum", "zmuv", "rank", "borda")
FUSIONS: dict[str, dict[str, Any] | None] = {
    **dict.fromkeys(("min", "max", "med", "sum", "anz", "mnz", "isr", "rrf", "bordafuse")),
    "gmnz": {"gamma": 0.5},
    "rbc": {"phi": 0.8},
    "w_bordafuse": {"weights": [0.5, 0.3, 0.2]},
    "wsum": {"weights": [0.5, 0.3, 0.2]},
}
_BELOW_ZERO = "a missing document counts 0 in ranx, and beats those that a run found below its mean"
_ALL_HAVE_IT = "in ranx, a run has all documents that any has, those that it lacks with the points that its own leave"
_ORDER_OF_SET = "ranx ranks the documents in the order of a set, which changes with PYTHONHASHSEED"
UNEQUAL_FUSIONS = {
    **{(method, "zmuv"): _BELOW_ZERO for method in ("sum", "wsum", "mnz", "gmnz")},
    **{(method, "borda"): _ALL_HAVE_IT for method in ("min", "max", "med", "anz", "mnz", "gmnz")},
    **{(method, "borda"): _ORDER_OF_SET for method in ("isr", "rrf", "rbc", "bordafuse", "w_bordafuse")},
}
"""Why a method after a norm has other scores, or none, in the replacement if a run lacks documents of another."""
_FAULTY_FUSIONS: tuple[dict[str, Any], ...] = (
    *({"methods": {method: None}} for method in ("gmnz", "rbc", "w_bordafuse", "wsum", "x", "combsum")),
    *({"methods": {method: {"k": 9, "x": 1}}} for method in ("rrf", "sum")),
    {"methods": {"rrf": {"k": 9, "name": "mine"}, "med": {"name": None}, "wsum": {"weights": [1, 2]}}},
    {"norm": "x"},
    {"fused": []},
    {"fused": [{"q1": {"d1": 1.0}}]},
    {"fused": [{"q1": {"d1": 1.0}}, {"q2": {"d1": 1.0}}]},
    {"fused": [{"q1": {"d1": 1.0}}, {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}]},
)


def draw() -> list[dict[str, Any]]:
    """Return evaluations, comparisons, and what builds, changes, reads and writes judgements and runs."""
    random_number = random.Random(1)  # noqa: S311 - no secrets
    calls = [_evaluation(random_number) for _ in range(200)]
    calls += [_tied_run(random_number) for _ in range(30)]
    faulty = [{**_PLAIN, **fault, "objects": objects} for fault in _FAULTY for objects in (True, False)]
    calls += [call for call in faulty if call["objects"] or not _differs(call)]
    comparisons = [_comparison(random_number) for _ in range(60)]
    calls += [call for call in comparisons if "f1" not in call["metrics"]]  # whose rounding in ranx decides ties
    calls += [{**_comparison(random_number), **fault} for fault in _FAULTY_COMPARISONS]
    for name in ("Qrels", "Run"):
        calls += [{"class": name, "entries": _entries(random_number, name), "steps": steps} for steps in _STEPS]
        calls += [{"class": name, "entries": None, "steps": steps} for steps in _STEPS]
        calls += [{"class": name, "entries": _entries(random_number, name), "kind": kind} for kind in _KINDS]
    calls += [{"class": "Qrels", "entries": _PLAIN["qrels"], "kind": "lz4"}]
    calls += [{"class": "Qrels", "entries": _PLAIN["qrels"], "steps": [["set_relevance_level", n]]} for n in (-1, 1, 2)]
    calls += [{"class": name, "lines": lines, "kind": kind} for name, lines in _LINES for kind in ("trec", "txt", "gz")]
    calls += [{"class": name, "lines": [text], "kind": "json"} for name, text in _JSON]
    calls += [{"class": name, "frame": frame, "options": options} for name, frame, options in _FRAMES]
    return [*calls, *_reports(), *_fusions()]


def _differs(call: dict[str, Any]) -> bool:
    """Return whether ranx does with plain dicts what the replacement does not: empty lists, and queries in another order."""
    if not all(isinstance(one, dict) for one in (call["qrels"], call["run"])):
        return [] in (call["qrels"], call["run"])
    has_empty = any(of == {} for one in (call["qrels"], call["run"]) for of in one.values())
    return has_empty or (sorted(call["qrels"]) == sorted(call["run"]) and list(call["qrels"]) != list(call["run"]))


def _evaluation(draw_from: random.Random) -> dict[str, Any]:
    queries, documents = draw_from.choice([1, 2, 4, 12]), draw_from.choice([3, 8, 20])
    grades, objects = draw_from.choice(_GRADES), draw_from.random() < 0.7
    qrels = {
        f"q{query:02}": {
            f"d{document:02}": draw_from.choice(grades)
            for document in draw_from.sample(range(documents), draw_from.randrange(1, documents))
        }
        for query in range(queries)
    }
    options = draw_from.choice(_OPTIONS)
    asked = list(range(queries))
    if objects and options.get("make_comparable"):
        asked = draw_from.sample(range(queries + 2), draw_from.randrange(1, queries + 1))
    run = {f"q{query:02}": _list(draw_from, documents) for query in asked}
    metrics = draw_from.sample(_METRICS, draw_from.choice([1, 3, 6]))
    if objects and draw_from.random() < 0.3:
        metrics = ["bpref", *metrics]
        for of_query in qrels.values():  # ranx divides by the number of each
            of_query["d00"], of_query["d01"] = 1, 0
    if not objects and "return_mean" in options:
        metrics = [*metrics, "mrr"]  # ranx fails to find the values of a single metric
    return {"qrels": qrels, "run": run, "metrics": metrics, "options": options, "objects": objects}


def _list(draw_from: random.Random, documents: int) -> dict[str, float]:
    return {
        f"d{document:02}": draw_from.choice([round(draw_from.random(), 3), float(draw_from.randrange(3))])
        for document in draw_from.sample(range(documents), draw_from.randrange(1, documents))
    }


def _tied_run(draw_from: random.Random) -> dict[str, Any]:
    """Return an evaluation of long lists with ties, whose order is that of ranx's unstable sort."""
    documents, scores = draw_from.choice([16, 40, 90]), draw_from.choice([1, 3, 10])
    run = {f"d{document:02}": float(draw_from.randrange(scores)) for document in range(documents)}
    qrels = {f"d{document:02}": draw_from.randrange(3) for document in range(0, documents, 2)}
    metrics = ["ndcg", "map", "mrr", "precision@5", "rbp.9"]
    return {"qrels": {"q": qrels}, "run": {"q": run}, "metrics": metrics, "objects": draw_from.random() < 0.7}


def _comparison(draw_from: random.Random) -> dict[str, Any]:
    queries, runs = draw_from.choice([3, 5, 25]), draw_from.choice([1, 2, 3])
    qrels = {f"q{query:02}": {f"d{n:02}": draw_from.randrange(3) for n in range(6)} for query in range(queries)}
    call: dict[str, Any] = {
        "qrels": qrels,
        "runs": [{query: _list(draw_from, 12) for query in qrels} for _ in range(runs)],
        "names": draw_from.choice([None, ["bm25", "two_towers", "100"], ["1", "22", "3.5"]]),
        "metrics": draw_from.sample(
            [*_NAMES[:5], "map", "ndcg@5", "ndcg-l2", "ndcg@10-l2", "r-precision", "rbp.50"], 3
        ),
        "options": draw_from.choice(
            [{}, {"max_p": 0.3}, {"rounding_digits": 4}, {"show_percentages": True}, {"threads": 1}]
        ),
    }
    test = draw_from.choice(["student", "student", "fisher", "tukey"])
    return {**call, "stat_test": test}


def _entries(draw_from: random.Random, name: str) -> dict[str, Any]:
    lists = {f"q{query}": _list(draw_from, 9) for query in draw_from.sample(range(6), 3)}
    return lists if name == "Run" else {query: {d: int(3 * s) for d, s in of.items()} for query, of in lists.items()}


def _fusions() -> list[dict[str, Any]]:
    """Return fusions and normalizations that are equal, and faulty ones."""
    draw_from = random.Random(2)  # noqa: S311 - no secrets
    runs = [_distinct(draw_from, {"q1": 5, "q2": 4}) for _ in range(3)]
    apart = [
        {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {}},
        {"q1": {"d3": 0.75}, "q2": {"d1": 0.25}},
        {"q1": {"d1": 1.5}, "q2": {"d1": 9.0}},
    ]
    whole = [_distinct(draw_from, {"q1": 4}, documents=4) for _ in range(3)]
    below_zero = [{"q1": {one: 4 - score for one, score in run["q1"].items()}} for run in runs]
    tied = [{"q1": {f"d{n}": float(draw_from.randrange(4)) for n in range(20)}} for _ in range(2)]
    calls = [{"fused": runs, "norm": norm, "methods": _equal_methods(norm)} for norm in NORMS]
    calls += [{"fused": apart, "norm": norm, "methods": _equal_methods(norm)} for norm in (None, "max", "borda")]
    calls += [{"fused": whole, "norm": "zmuv", "methods": {name: FUSIONS[name] for name in ("sum", "wsum", "min")}}]
    calls += [
        {"fused": below_zero, "norm": norm, "methods": {name: FUSIONS[name] for name in names}}
        for norm, names in ((None, ["min", "max", "med", "anz"]), ("min-max", ["sum", "gmnz"]), ("sum", ["mnz"]))
    ]
    calls += [{"fused": tied, "norm": None, "methods": {"rrf": None, "isr": None, "bordafuse": None}}]
    calls += [
        {"fused": runs[:2], "norm": "min_max", "methods": {"rrf": {"k": 0}}, **fault} for fault in _FAULTY_FUSIONS
    ]
    return calls + [
        {"normalized": run, "norm": norm} for run in (runs[0], below_zero[1]) for norm in [*NORMS[1:-1], "x"]
    ]


def _equal_methods(norm: str | None) -> dict[str, dict[str, Any] | None]:
    return {method: params for method, params in FUSIONS.items() if (method, norm) not in UNEQUAL_FUSIONS}


def _distinct(draw_from: random.Random, lengths: dict[str, int], documents: int = 7) -> dict[str, dict[str, float]]:
    """Return lists of distinct positive scores."""
    return {
        query: {
            f"d{document}": score / 100
            for document, score in zip(
                draw_from.sample(range(documents), length), draw_from.sample(range(1, 900), length), strict=True
            )
        }
        for query, length in lengths.items()
    }


def _reports() -> list[dict[str, Any]]:
    """Return reports of given numbers."""
    numbers = (
        [0.5, 0.25],
        [0.5, 0.5],
        [1.0, 0.0],
        [0.12345, 0.12344],
        [0.0, 0.0],
        [1e-7, 123.456],
        [float("nan"), 1.0],
    )
    return [
        {"numbers": values, "metric": metric, "p": p, "options": options}
        for values in numbers
        for metric in ("map@10", "ndcg_burges@3-l2", "rbp.95")
        for p in (0.001, 0.5)
        for options in ({}, {"rounding_digits": 5}, {"show_percentages": True, "stat_test": "fisher"})
    ] + [{"numbers": [0.5, 0.25], "metric": metric, "p": 0.5, "options": {}} for metric in ("x", "rbp@95", "map-l2-l3")]


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call. What Numba raises by errors of its own is a TypeError; its warnings, and those of open files, are left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = _answer(module, call)
        except Exception as error:
            if type(error).__module__.startswith("numba"):
                raise TypeError(str(error)) from error
            raise
    for one in caught:
        if not one.category.__name__.startswith(("Numba", "ResourceWarning")):
            warnings.warn(one.message, one.category, stacklevel=2)
    return found


def _answer(module: Any, call: dict[str, Any]) -> Any:
    kinds = {
        "fused": _fused,
        "normalized": _normalized,
        "numbers": _report,
        "runs": _compared,
        "qrels": _evaluated,
        "frame": _of_frame,
        "lines": _read,
        "kind": _written,
    }
    return next((make for part, make in kinds.items() if part in call), _changed)(module, call)


def _changed(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    data = getattr(module, call["class"])(call["entries"], name="mine")
    for method, *arguments in call["steps"]:
        getattr(data, method)(*arguments)
    return _content(data)


def _of_frame(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what is made from a frame, whose strings are objects, the only ones that ranx accepts."""
    pandas = import_module("pandas")
    columns = {
        name: pandas.Series(values, dtype=object if values and isinstance(values[0], str) else None)
        for name, values in call["frame"].items()
    }
    return _content(getattr(module, call["class"]).from_df(pandas.DataFrame(columns), **call["options"]))


def _content(data: Any) -> dict[str, Any]:
    entries = {query: {str(d): number for d, number in data[query].items()} for query in data.keys()}  # noqa: SIM118
    frame = data.to_dataframe()
    return {
        "entries": [[query, list(documents.items())] for query, documents in entries.items()],
        "as_dict": type(data.to_dict()).__name__,
        "frame": [list(frame.columns), frame["score"].tolist()],
        "sizes": [len(data), data.size, len(data.get_query_ids()), len(data.get_doc_ids_and_scores())],
        "state": [data.name, data.sorted],
    }


def _evaluated(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    qrels, run, options = call["qrels"], call["run"], call.get("options", {})
    if call["objects"]:
        qrels, run = module.Qrels(qrels), module.Run(run)
    found: dict[str, Any] = {"result": module.evaluate(qrels, run, call["metrics"], **options)}
    found["type"] = type(found["result"]).__name__
    if call["objects"]:
        found |= {
            "means": run.mean_scores,
            "deviations": run.std_scores,
            "scores": run.scores,
            "queries": run.get_query_ids(),
        }
    return found


def _compared(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return a report; without p-values if they are others in the replacement."""
    names = call["names"] or [None] * 3
    runs = [module.Run(run, name=name) for run, name in zip(call["runs"], names, strict=False)]
    is_equal, options = call["stat_test"] == "student", dict(call["options"])
    if not is_equal:
        options["max_p"] = -1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = module.compare(module.Qrels(call["qrels"]), runs, call["metrics"], call["stat_test"], **options)
    found = _report_of(report)
    for one, other in report.win_tie_loss:
        p_values, counts = found["dict"][one]["comparisons"][other], report.win_tie_loss[one, other]
        p_values |= {metric: None for metric, of in counts.items() if not of["W"] + of["L"]}  # NaN in ranx, 1 here
    if not is_equal:
        found["dict"] = {name: one for name, one in found["dict"].items() if name not in report.model_names}
        found["dict"]["runs"] = [
            [one["scores"], one["win_tie_loss"]] for one in map(report.to_dict().get, report.model_names)
        ]
    return found


def _fused(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    runs = [module.Run(run) for run in call["fused"]]
    return {
        method: _scores(module.fuse(runs, call["norm"], method, params)) for method, params in call["methods"].items()
    }


def _normalized(module: Any, call: dict[str, Any]) -> list[Any]:
    return _scores(module.normalize(module.Run(call["normalized"], name="mine"), call["norm"]))


def _scores(run: Any) -> list[Any]:
    """Return the name and the scores, in the order of the documents, for ties have another one in ranx."""
    lists = run.to_dict()
    is_sorted = all(list(of.values()) == sorted(of.values(), reverse=True) for of in lists.values())
    return [run.name, is_sorted, [[query, dict(sorted(of.items()))] for query, of in lists.items()]]


def _report(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return a report of two runs, made by hand."""
    replaced = module.__name__ != "ranx"
    of_reports = import_module("exactk.compat._ranx_report" if replaced else "ranx.data_structures")
    metric, names = call["metric"], ["one_run", "other"]
    significance = {"p_value": call["p"], "significant": call["p"] < 0.01}
    report = of_reports.Report(
        model_names=names,
        results={name: {metric: value} for name, value in zip(names, call["numbers"], strict=True)},
        comparisons=of_reports.FrozensetDict({frozenset(names): {metric: significance}}),
        metrics=[metric],
        max_p=0.01,
        win_tie_loss={pair: {metric: {"W": 1, "T": 0, "L": 0}} for pair in (tuple(names), tuple(names[::-1]))},
        **call["options"],
    )
    return _report_of(report)


def _report_of(report: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        report.save(str(path))
        saved = path.read_text(encoding="utf-8") == json.dumps(report.to_dict(), indent=4)
    return {
        "dict": report.to_dict(),
        "table": str(report).split("\n"),
        "latex": report.to_latex().split("\n"),
        "frame": [list(report.to_dataframe().columns), report.to_dataframe().to_numpy().tolist()]
        if report.results
        else [],
        "saved": saved,
    }


def _read(module: Any, call: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path, kind = Path(folder) / f"file.{call['kind']}", call["kind"]
        content = "\n".join(call["lines"]).encode()
        path.write_bytes(gzip.compress(content) if kind == "gz" else content)
        return _content(getattr(module, call["class"]).from_file(str(path)))


def _written(module: Any, call: dict[str, Any]) -> list[str]:
    """Return the text of a file of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file.{call['kind']}"
        getattr(module, call["class"])(call["entries"], name="mine").save(str(path))
        return [path.read_text(encoding="utf-8")]


def _retrieval(queries: int, depth: int, metrics: list[str], digits: int = 17) -> Callable[[Any], Callable[[], object]]:
    """Return what evaluates dicts, from their conversion on."""

    def prepare(module: Any) -> Callable[[], object]:
        generator = random.Random(1)  # noqa: S311 - no secrets
        documents = [f"doc{number}" for number in range(100_000)]
        qrels = {
            f"q{query}": {document: generator.choice([0, 1, 2]) for document in generator.sample(documents, 30)}
            for query in range(queries)
        }
        run = {
            query: {one: round(generator.random(), digits) for one in generator.sample(documents, depth)}
            for query in qrels
        }
        return lambda: module.evaluate(module.Qrels(qrels), module.Run(run), metrics)

    return prepare


def _prepared(metrics: list[str], runs: int) -> Callable[[Any], Callable[[], object]]:
    """Return what evaluates or compares Qrels and Runs that are there already."""

    def prepare(module: Any) -> Callable[[], object]:
        generator = random.Random(1)  # noqa: S311 - no secrets
        documents = [f"doc{number}" for number in range(100_000)]
        judged = {
            f"q{query}": {document: generator.choice([0, 1, 2]) for document in generator.sample(documents, 30)}
            for query in range(1000)
        }
        lists = [
            module.Run(
                {
                    query: {one: generator.random() for one in generator.sample([*of, *documents[:70]], 100)}
                    for query, of in judged.items()
                }
            )
            for _ in range(runs)
        ]
        qrels = module.Qrels(judged)
        if runs == 1:
            return lambda: module.evaluate(qrels, lists[0], metrics)
        return lambda: module.compare(qrels, lists, metrics)

    return prepare


def _fusion(runs: int, norm: str | None, method: str) -> Callable[[Any], Callable[[], object]]:
    """Return what fuses Runs that are there already."""

    def prepare(module: Any) -> Callable[[], object]:
        generator = random.Random(1)  # noqa: S311 - no secrets
        documents = [f"doc{number}" for number in range(3000)]
        lists = [
            module.Run(
                {
                    f"q{query}": {one: generator.random() for one in generator.sample(documents, 1000)}
                    for query in range(200)
                }
            )
            for _ in range(runs)
        ]
        return lambda: module.fuse(lists, norm, method)

    return prepare


TYPICAL = {
    "1,000 queries x 1,000 documents, from dicts, 4 metrics": _retrieval(
        1000, 1000, ["ndcg@10", "map", "mrr", "recall@100"]
    ),
    "1,000 queries x 1,000 documents with ties, from dicts": _retrieval(1000, 1000, ["ndcg@10"], digits=4),
    "1,000 queries x 100 documents, from dicts, ndcg@10": _retrieval(1000, 100, ["ndcg@10"]),
    "1 query x 100 documents, from dicts, ndcg@10": _retrieval(1, 100, ["ndcg@10"]),
    "1,000 queries x 100 documents, Qrels and Run, 4 metrics": _prepared(["ndcg@10", "map", "mrr", "recall@100"], 1),
    "3 runs, 1,000 queries x 100 documents, compare": _prepared(["ndcg@10", "map", "mrr"], 3),
    "3 runs, 200 queries x 1,000 documents, fuse by rrf": _fusion(3, None, "rrf"),
    "3 runs, 200 queries x 1,000 documents, fuse by sum of min-max": _fusion(3, "min-max", "sum"),
    "10 runs, 200 queries x 1,000 documents, fuse by rrf": _fusion(10, None, "rrf"),
    "10 runs, 200 queries x 1,000 documents, fuse by sum of min-max": _fusion(10, "min-max", "sum"),
}
