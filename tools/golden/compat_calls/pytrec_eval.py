"""Calls of pytrec_eval."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "pytrec-eval-terrier"
MODULE = "pytrec_eval"
REQUIREMENTS = ("pytrec-eval-terrier==0.5.11", "numpy==2.4.6")
TOLERANCE = 1e-15
IMPORTS = ("import pytrec_eval", "from exactk.compat import pytrec_eval")

_GRADES = ([0, 1], [0, 1, 2, 3], [1], [-1, 0, 1, 2], [0], [0, 1, 5])
_WITH_PARAMETERS = (
    *("P.1,3", "P_2", "recall_1", "recall.2,5", "map_cut.2,4", "ndcg_cut_3", "ndcg_cut.1,3,10", "success.2"),
    *("relative_P.3", "set_F.0.5", "set_F_2", "iprec_at_recall.0.05,0.33", "Rprec_mult.0.3,3", "11pt_avg.0.2,0.5"),
    *("utility.1,2,3,4", "relstring", "official", "set", "all_trec"),
)
_MEASURES = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg"),
    *("ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall"),
    *("set_map", "set_F", "num_nonrel_judged_ret", "relstring"),
)
_FAULTY: tuple[dict[str, Any], ...] = (
    {"qrel": None},
    {"qrel": []},
    {"qrel": {"q": None}},
    {"qrel": {"q": {"d": None}}},
    {"qrel": {"q": {"d": 1.0}}},
    {"qrel": {"q": {"d": "1"}}},
    {"qrel": {"q": {"d": True}}},
    {"qrel": {"q": ["d"]}},
    {"qrel": {"q": {}}},
    {"qrel": {}},
    {"run": None},
    {"run": []},
    {"run": {}},
    {"run": 3},
    {"run": {"q": None}},
    {"run": {"q": ["d"]}},
    {"run": {"q": {"d": None}}},
    {"run": {"q": {"d": "1"}}},
    {"run": {"q": {"d": 1}}},
    {"run": {"q9": {"d": "x"}}},
    {"run": {"q9": {"d": 1.0}}},
    {"run": {"q": {"d": 1.0}, "q9": None}},
    {"measures": None},
    {"measures": []},
    {"measures": [3]},
    {"measures": "map"},
    {"measures": ["foo"]},
    {"measures": ["P.x"]},
    {"measures": ["rbp"]},
    {"measures": ["prefs"]},
    {"measures": ["qrels_jg"]},
    {"measures": [""]},
    {"relevance_level": 0},
    {"relevance_level": "1"},
    {"relevance_level": 1.5},
    {"relevance_level": None},
    {"relevance_level": True},
    {"relevance_level": 3},
)
_LINES: tuple[tuple[str, list[str]], ...] = (
    ("parse_run", ["q1 Q0 d1 1 2.5 tag", "q1 Q0 d2 2 1 tag", "q2 Q0 d1 1 -1e3 tag"]),
    ("parse_run", ["q1\tQ0\td1\t1\t2.5\ttag\n"]),
    ("parse_run", []),
    ("parse_run", ["q1 Q0 d1 1 2.5 tag", ""]),
    ("parse_run", ["q1 Q0 d1 1 2.5 tag", "q1 Q0 d1 2 1.5 tag"]),
    ("parse_run", ["q1 Q0 d1 1 x tag"]),
    ("parse_run", ["q1 Q0 d1 1 2.5"]),
    ("parse_qrel", ["q1 0 d1 1", "q1 0 d2 0", "q2 0 d1 -1"]),
    ("parse_qrel", ["q1 0 d1 1", "q1 0 d1 1"]),
    ("parse_qrel", ["q1 0 d1 1.0"]),
    ("parse_qrel", ["q1 0 d1"]),
)
_AGGREGATED: tuple[tuple[str, list[float]], ...] = (
    ("map", [0.5, 0.25, 1.0]),
    ("num_ret", [10, 3]),
    ("gm_map", [-1.0, -11.5]),
    ("P_5", [0.1] * 10),
    ("map", []),
)


def draw() -> list[dict[str, Any]]:
    """Return drawn evaluations, faulty ones, and the other functions."""
    random_number = random.Random(1)  # noqa: S311 - no secrets
    calls = [_evaluation(random_number) for _ in range(320)]
    plain = {"qrel": {"q": {"d": 1, "e": 0, "f": 2}}, "run": {"q": {"d": 0.5, "f": 0.25}}, "measures": ["map", "ndcg"]}
    calls += [{**plain, **fault} for fault in _FAULTY]
    calls += [{"function": function, "lines": lines} for function, lines in _LINES]
    calls += [{"measure": measure, "values": values} for measure, values in _AGGREGATED]
    return [*calls, {"names": True}]


def _evaluation(draw_from: random.Random) -> dict[str, Any]:
    queries, documents = draw_from.choice([1, 2, 4]), draw_from.choice([3, 8, 20])
    grades, level = draw_from.choice(_GRADES), draw_from.choice([1, 1, 1, 2])
    qrel = {
        f"q{query}": {
            f"d{document}": draw_from.choice(grades)
            for document in draw_from.sample(range(documents), draw_from.randrange(documents))
        }
        for query in range(queries)
    }
    run = {
        f"q{query}": {
            f"d{document}": draw_from.choice([round(draw_from.random(), 3), draw_from.randrange(3)])
            for document in draw_from.sample(range(documents), draw_from.randrange(1, documents))
        }
        for query in draw_from.sample(range(queries + 1), draw_from.randrange(1, queries + 1))
    }
    measures = draw_from.sample(_MEASURES, 4) if draw_from.random() < 0.5 else draw_from.sample(_WITH_PARAMETERS, 2)
    call: dict[str, Any] = {"qrel": qrel, "run": run, "measures": measures}
    if level > 1:
        call["relevance_level"] = level
    if draw_from.random() < 0.2:
        call["judged_docs_only_flag"] = True
    return call


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call; the values of runid are no numbers there."""
    if "function" in call:
        return getattr(module, call["function"])(call["lines"])
    if "values" in call:
        return module.compute_aggregated_measure(call["measure"], call["values"])
    if "names" in call:
        nicknames = {name: sorted(module.supported_nicknames[name]) for name in sorted(module.supported_nicknames)}
        return {"measures": sorted(module.supported_measures), "nicknames": nicknames}
    options = {name: call[name] for name in ("relevance_level", "judged_docs_only_flag") if name in call}
    results = module.RelevanceEvaluator(call["qrel"], call["measures"], **options).evaluate(call["run"])
    for values in results.values():
        values.pop("runid", None)
    return results


def _retrieval(
    queries: int, depth: int, measures: set[str], digits: int | None = None
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        generator = random.Random(1)  # noqa: S311 - no secrets
        documents = [f"doc{number}" for number in range(100_000)]
        qrel = {
            f"q{query}": {document: generator.choice([0, 1, 2]) for document in generator.sample(documents, 30)}
            for query in range(queries)
        }
        run = {query: {one: generator.random() for one in generator.sample(documents, depth)} for query in qrel}
        if digits is not None:
            run = {query: {one: round(score, digits) for one, score in scored.items()} for query, scored in run.items()}
        return lambda: module.RelevanceEvaluator(qrel, measures).evaluate(run)

    return prepare


_OF_BENCHMARKS = {f"{name}.1,3,5,10,100" for name in ("ndcg_cut", "map_cut", "recall", "P")} | {"recip_rank"}

TYPICAL = {
    "1,000 queries x 1,000 documents, 21 measures": _retrieval(1000, 1000, _OF_BENCHMARKS),
    "1,000 queries x 1,000 documents, map": _retrieval(1000, 1000, {"map"}),
    "1,000 queries x 100 documents, map": _retrieval(1000, 100, {"map"}),
    "50 queries x 1,000 documents, official": _retrieval(50, 1000, {"official"}),
    "3,000 queries x 100 documents, scores of two decimals, map": _retrieval(3000, 100, {"map"}, digits=2),
    "1 query x 100 documents, map": _retrieval(1, 100, {"map"}),
}
