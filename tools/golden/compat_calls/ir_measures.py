"""Calls of ir_measures: of its provider pytrec_eval, which ours replaces, and of its default pipeline."""

from __future__ import annotations

import random
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "ir-measures"
MODULE = "ir_measures"
REQUIREMENTS = ("ir-measures==0.4.3", "pytrec-eval-terrier==0.5.11", "cwl-eval==1.0.12", "pandas==3.1.1")
TOLERANCE = 1e-12  # counts and means of 20 queries at most
IMPORTS = ("import ir_measures", "import ir_measures, exactk.compat.ir_measures; exactk.compat.ir_measures.first()")

_GRADES = ([0, 1], [0, 1, 2, 3], [1], [-1, 0, 1, 2], [0], [0, 1, 5])
_NAMED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("P", {"cutoff": 3}),
    ("P", {"cutoff": 10, "rel": 2}),
    ("P", {"cutoff": 5, "judged_only": True}),
    ("RR", {}),
    ("RR", {"rel": 2}),
    ("RR", {"judged_only": True}),
    ("Rprec", {}),
    ("Rprec", {"rel": 2, "judged_only": True}),
    ("AP", {}),
    ("AP", {"cutoff": 4}),
    ("AP", {"rel": 2}),
    ("AP", {"cutoff": 2, "rel": 2, "judged_only": True}),
    ("nDCG", {}),
    ("nDCG", {"cutoff": 5}),
    ("nDCG", {"cutoff": 5, "judged_only": True}),
    ("R", {"cutoff": 2}),
    ("R", {"cutoff": 5, "rel": 2}),
    ("Bpref", {}),
    ("Bpref", {"rel": 2}),
    ("NumRet", {"rel": 1}),
    ("NumRet", {"rel": 2}),
    ("NumRet", {}),
    ("NumQ", {}),
    ("NumRel", {}),
    ("SetAP", {}),
    ("SetAP", {"rel": 2, "judged_only": True}),
    ("SetF", {}),
    ("SetF", {"beta": 0.5}),
    ("SetF", {"beta": 2.0, "rel": 2}),
    ("SetP", {}),
    ("SetP", {"relative": True}),
    ("SetP", {"rel": 2, "judged_only": True}),
    ("SetR", {}),
    ("SetR", {"rel": 2}),
    ("Success", {"cutoff": 1}),
    ("Success", {"cutoff": 5, "rel": 2}),
    ("IPrec", {"recall": 0.1}),
    ("IPrec", {"recall": 0.25, "rel": 2}),
    ("infAP", {}),
    ("infAP", {"rel": 2}),
)
_WITH_GAINS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nDCG", {"gains": {"1": 1, "2": 3, "3": 7}}),
    ("nDCG", {"gains": {"0": 1, "1": 0}, "cutoff": 3}),
)
_OF_OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("RR", {"cutoff": 3}),
    ("Judged", {"cutoff": 5}),
    ("Compat", {}),
    ("ERR", {"cutoff": 5}),
    ("RBP", {"p": 0.8, "rel": 1}),
    ("nDCG", {"cutoff": 5, "dcg": "exp-log2"}),
    ("BPM", {"cutoff": 5, "T": 1.0}),
)
_PLAIN: dict[str, Any] = {
    "measures": [("AP", {}), ("nDCG", {"cutoff": 5})],
    "qrels": {"q": {"d": 1, "e": 0, "f": 2}, "r": {"d": 1}},
    "run": {"q": {"d": 0.5, "f": 0.25}},
}
_FAULTY: tuple[dict[str, Any], ...] = (
    {"qrels": None},
    {"qrels": []},
    {"qrels": {}},
    {"qrels": 3},
    {"qrels": ["q", "d"]},
    {"qrels": {"q": None}},
    {"qrels": {"q": {}}},
    {"qrels": {"q": {"d": 1.0}}},
    {"qrels": {"q": {"d": "1"}}},
    {"qrels": {"q": {"d": None}}},
    {"qrels": {"1": {"d": 1}}, "run": {}},
    {"run": None},
    {"run": []},
    {"run": {}},
    {"run": 3},
    {"run": ["q"]},
    {"run": {"q": None}},
    {"run": {"q": {"d": None}}},
    {"run": {"q": {"d": "1"}}},
    {"run": {"q": {"d": 1}}},
    {"run": {"q": {}}},
    {"run": {"s": {"d": 1.0}}},
    {"measures": []},
    {"measures": [("P", {})]},
    {"measures": [("R", {})]},
    {"measures": [("P", {"cutoff": "5"})]},
    {"measures": [("P", {"cutoff": 5, "foo": 1})]},
    {"measures": [("AP", {"rel": 0})]},
    {"measures": [("AP", {"rel": 1.5})]},
    {"measures": [("AP", {"rel": "1"})]},
    {"measures": [("AP", {"rel": 9})]},
    {"measures": [("AP", {}), ("AP", {})]},
    {"measures": [("AP", {}), ("AP", {"rel": 1})]},
    {"measures": [("nDCG", {"gains": {}})]},
    {"measures": [("nDCG", {"gains": {"1": 0, "2": 0}})]},
    {"measures": [("RBP", {"p": 0.8})]},
    {"measures": [("nDCG", {"dcg": "exp-log2"})]},
    {"measures": [("IPrec", {"recall": 0.123}), ("IPrec", {"recall": 1.0}), ("IPrec", {"recall": 0.0})]},
    {"measures": [("SetF", {"beta": 1.0}), ("SetF", {"beta": 0.5}), ("SetF", {"beta": 3.0})]},
    {"measures": [("NumQ", {}), ("NumRet", {}), ("nDCG", {})]},
    {"measures": [("P", {"cutoff": 3, "rel": 2}), ("NumRet", {}), ("nDCG", {}), ("P", {"cutoff": 1})]},
)
_FORMS = ("dicts", "records", "records", "frame", "generator", "mixed records")


def draw() -> list[dict[str, Any]]:
    """Return drawn evaluations, those with other providers' measures too, and faulty ones."""
    random_number = random.Random(1)  # noqa: S311 - no secrets
    calls = [_evaluation(random_number) for _ in range(300)]
    calls += [_evaluation(random_number) | {"pipeline": True} for _ in range(40)]
    for call in calls[-20:]:
        call["measures"] = random_number.sample(_OF_OTHERS[:3], 2) + call["measures"][:1]
    calls += [_PLAIN | fault | {"function": function} for fault in _FAULTY for function in ("calc_aggregate", "calc")]
    calls += [{**_PLAIN, "form": "records", "drop": name} for name in ("query_id", "doc_id", "score", "relevance")]
    calls += [{**_PLAIN, "form": "frame", "drop": name} for name in ("query_id", "doc_id", "score", "relevance")]
    return [*calls, {"supports": [*_NAMED, *_WITH_GAINS, *_OF_OTHERS]}]


def _evaluation(draw_from: random.Random) -> dict[str, Any]:
    queries, documents, grades = draw_from.choice([1, 2, 4]), draw_from.choice([3, 8, 20]), draw_from.choice(_GRADES)
    qrels = {
        f"q{query}": {
            f"d{document}": draw_from.choice(grades)
            for document in draw_from.sample(range(documents), draw_from.randrange(documents))
        }
        for query in range(queries)
    }
    run = {
        f"q{query}": {
            f"d{document}": draw_from.choice([round(draw_from.random(), 3), draw_from.randrange(3) / 2])
            for document in draw_from.sample(range(documents), draw_from.randrange(1, documents))
        }
        for query in draw_from.sample(range(queries + 1), draw_from.randrange(1, queries + 1))
    }
    measures = [draw_from.choice(_WITH_GAINS)] if draw_from.random() < 0.1 else _measures(draw_from)
    return {
        "measures": measures,
        "qrels": qrels,
        "run": run,
        "function": draw_from.choice(["calc_aggregate", "calc", "iter_calc", "evaluator"]),
        "form": draw_from.choice(_FORMS),
    }


def _measures(draw_from: random.Random) -> list[tuple[str, dict[str, Any]]]:
    """Return measures whose values do not depend on each other there: NumRet would on those of judged documents."""
    measures = draw_from.sample(_NAMED, draw_from.randrange(1, 7))
    if ("NumRet", {}) in measures and any("judged_only" in parameters for _, parameters in measures):
        measures.remove(("NumRet", {}))
    return measures or [("AP", {})]


def _provider(module: Any, call: dict[str, Any]) -> Any:
    """Return what is called: in the pipeline, ours is the first for as long as the call takes."""
    if "pipeline" in call:
        if hasattr(module, "first"):
            module.first()
        import ir_measures

        return ir_measures.DefaultPipeline
    return module.register() if hasattr(module, "register") else module.pytrec_eval


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call; measures are named by their text."""
    import ir_measures

    providers = list(ir_measures.DefaultPipeline.providers)
    try:
        provider = _provider(module, call)
        if "supports" in call:
            return [provider.supports(_measure(name, parameters)) for name, parameters in call["supports"]]
        return _called(provider, call)
    finally:
        ir_measures.DefaultPipeline.providers[:] = providers


def _called(provider: Any, call: dict[str, Any]) -> Any:
    measures = [_measure(name, parameters) for name, parameters in call["measures"]]
    qrels, run = (_in_form(call, name) for name in ("qrels", "run"))
    function = call.get("function", "calc_aggregate")
    if function == "evaluator":
        evaluator = provider.evaluator(measures, qrels)
        return [_sorted(evaluator.calc_aggregate(run)), _sorted(evaluator.calc_aggregate({}))]
    result = getattr(provider, function)(measures, qrels, run)
    if function == "calc":
        return [_sorted(result.aggregated), *_texts(result.per_query, call)]
    return _sorted(result) if function == "calc_aggregate" else _texts(result, call)


def _measure(name: str, parameters: dict[str, Any]) -> Any:
    from ir_measures.measures import registry

    parameters = dict(parameters)
    if "gains" in parameters:
        parameters["gains"] = {int(grade): gain for grade, gain in parameters["gains"].items()}
    return registry[name](**parameters)


def _in_form(call: dict[str, Any], name: str) -> Any:
    from ir_measures import Qrel, ScoredDoc

    form, values = call.get("form", "dicts"), call[name]
    if form == "dicts" or not isinstance(values, dict):
        return values
    fields = ["query_id", "doc_id", "relevance" if name == "qrels" else "score"]
    rows = [(query, document, value) for query, documents in values.items() for document, value in documents.items()]
    if form == "frame":
        return _frame(rows, fields, call.get("drop"))
    if "drop" in call and call["drop"] in fields:
        return _without(rows, fields, call["drop"])
    kind = Qrel if name == "qrels" else ScoredDoc
    if form == "mixed records":
        rows.sort(key=str)
    records = [kind(*row) for row in rows]
    return iter(records) if form == "generator" else records


def _without(rows: list[Any], fields: list[str], dropped: str) -> list[Any]:
    kept = [field for field in fields if field != dropped]
    kind = namedtuple("Record", kept)  # type: ignore[misc] # noqa: PYI024
    return [kind(*(value for value, field in zip(row, fields, strict=True) if field in kept)) for row in rows]


def _frame(rows: list[Any], fields: list[str], dropped: str | None) -> Any:
    frame = pd.DataFrame(rows, columns=fields)
    return frame if dropped not in fields else frame.drop(columns=dropped)


def _sorted(aggregated: Any) -> dict[str, Any]:
    """Return values by name; their order is that of a set in the pipeline."""
    return {name: aggregated[name] for name in sorted(aggregated, key=str)}


def _texts(metrics: Any, call: dict[str, Any]) -> list[Any]:
    rows = [[metric.query_id, str(metric.measure), metric.value] for metric in metrics]
    return sorted(rows) if "pipeline" in call else rows


def _evaluated(
    queries: int, depth: int, names: tuple[tuple[str, dict[str, Any]], ...], form: str, digits: int = 17
) -> Callable[[Any], Any]:
    def prepare(module: Any) -> Callable[[], object]:
        generator = random.Random(1)  # noqa: S311 - no secrets
        documents = [f"doc{number}" for number in range(100_000)]
        call: dict[str, Any] = {"form": form}
        call["qrels"] = {
            f"q{query}": {document: generator.choice([0, 1, 2]) for document in generator.sample(documents, 30)}
            for query in range(queries)
        }
        call["run"] = {
            query: {one: round(generator.random(), digits) for one in generator.sample(documents, depth)}
            for query in call["qrels"]
        }
        provider, measures = _provider(module, call), [_measure(*one) for one in names]
        qrels, run = _in_form(call, "qrels"), _in_form(call, "run")
        return lambda: provider.calc_aggregate(measures, qrels, run)

    return prepare


_FOUR: tuple[tuple[str, dict[str, Any]], ...] = (
    ("AP", {}),
    ("nDCG", {"cutoff": 10}),
    ("P", {"cutoff": 10}),
    ("RR", {}),
)
_TWO_LEVELS = (*_FOUR, ("AP", {"rel": 2}), ("P", {"cutoff": 10, "rel": 2}))

TYPICAL = {
    "1,000 queries x 100 documents, 4 measures, dicts": _evaluated(1000, 100, _FOUR, "dicts"),
    "50 queries x 1,000 documents, 4 measures, records": _evaluated(50, 1000, _FOUR, "records"),
    "50 queries x 1,000 documents, 4 measures, a frame": _evaluated(50, 1000, _FOUR, "frame"),
    "1,000 queries x 100 documents, scores of two decimals, 4 measures, dicts": _evaluated(
        1000, 100, _FOUR, "dicts", digits=2
    ),
    "1 query x 100 documents, 4 measures, dicts": _evaluated(1, 100, _FOUR, "dicts"),
    "1,000 queries x 1,000 documents, 6 measures of 2 levels, dicts": _evaluated(1000, 1000, _TWO_LEVELS, "dicts"),
}
