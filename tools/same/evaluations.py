"""Cases of evaluations and comparisons: drawn ones, conventions, metrics, options, parts and their sums."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from golden.cases import Case as GoldenCase
from same.data import KEYED, UNKEYED_PREDICTIONS, Data, dense, draw, ones
from same.names import find, of_base_tests

oracle_cases = of_base_tests("oracle_cases")
GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
Cases = Iterator[tuple[str, Callable[[], object]]]
METRICS = ["ndcg@[2,5]", "recall@3", "map", "precision@2", "mrr", "auc", "f1@3(average=micro)"]
OF_EACH = ["novelty@3", "ild@3", "list_fill@4", "popularity_rank@3", "serendipity@3", "judged@3", "err@3", "bpref"]
OF_ALL = ["coverage@3", "gini@3", "exposure_gini@3", "personalization@3", "entropy@3", "exposure@3", "num_items@3"]
FIELDS: dict[str, list[Any]] = {
    **oracle_cases.CHOICES,
    "average": ["macro", "micro", "geometric", "of_means"],
    "rbo_over": ["extrapolated", "truncated"],
    "serendipity_of": ["features", "popularity"],
    "history_distance": ["nearest", "mean"],
    "list_users": ["lists", "users"],
    "gini_over": ["items", "items_less_one"],
    "gini_items": ["catalogue", "recommended"],
    "entropy_base": ["2", "e"],
    "entropy_over": ["one", "log_items", "distinct_items"],
    "list_similarity": ["cosine", "overlap"],
}


def seeded(what: str, number: int) -> random.Random:
    """Return a generator that is the same for everybody."""
    return random.Random(f"{what} {number}")  # noqa: S311 - not secret


def call(name: str, *arguments: Any, **options: Any) -> Any:
    """Call what a name stands for."""
    return find(name)(*arguments, **options)


evaluate = partial(call, "exactk.evaluate")


def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what a part of a case returns, or its error: the other parts are recorded all the same."""
    try:
        return function(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - recorded
        return f"{type(error).__name__}: {error}"


def drawn() -> Cases:
    """Yield the cases of the oracle, with several numbers of threads; some merged, and some asked of the reference."""
    return ((str(number), partial(_drawn, number)) for number in range(3000))


def _drawn(number: int) -> object:
    case = oracle_cases.draw_case(number)
    threads = partial(find("exactk.evaluate"), num_threads=1 + number % 3)
    found: list[Any] = [case.evaluate(case.users, threads)]
    if number % 5 == 0 and not case.form.in_blocks:
        found.append(call("exactk.merge", [case.evaluate(half, threads) for half in case.halves()]))
    if number % 25 == 0:
        found.append(dict(case.evaluate(case.users, find("exactk.reference.evaluate"))))
    return found


def golden() -> Cases:
    """Yield recorded cases of other libraries, under their presets."""
    for path in sorted(GOLDEN.glob("*.json")):
        recording = json.loads(path.read_text(encoding="utf-8"))
        for case in recording["cases"][::20] if "preset" in recording else []:
            yield f"{path.stem}/{case['name']}", partial(_golden, recording, case)


def _golden(recording: dict[str, Any], plain: dict[str, Any]) -> object:
    case = GoldenCase.from_dict(plain)
    truth = [None if row is None else dict(row) for row in case.truth]
    predictions: Any = [None if row is None else dict(row) for row in case.predictions]
    if recording["input"] in {"rankings", "ranks"}:
        predictions = [None if row is None else list(row) for row in predictions]
    if recording["input"] == "scores":
        predictions = np.array([[row.get(item, 0.0) for item in range(case.items)] for row in predictions])
    metrics = list(dict.fromkeys(key.partition(" where ")[0] for key in plain["outputs"]))
    return evaluate(truth, predictions, metrics, convention=recording["preset"], per_user=True)


def conventions() -> Cases:
    """Yield every preset, and every choice of every field, with lists and with scores."""
    data, rows = draw(3), draw(5, "row")
    forms = {
        "lists": (data.truth, data.lists, data.catalogue),
        "scores": (data.truth, data.scores, data.catalogue),
        "rows": (list(rows.truth.values()), dense(rows.scores), None),
    }
    settings = {name: name for name in find("exactk.conventions")}
    settings |= {f"{field}={choice}": {field: choice} for field, choices in FIELDS.items() for choice in choices}
    for (name, setting), (form, (truth, given, items)) in product(settings.items(), forms.items()):
        ask = partial(evaluate, truth, given, convention=setting, per_user=True)
        yield f"{name}/{form}", partial(ask, METRICS)
        if form != "rows":
            yield f"{name}/{form} and items", partial(ask, OF_EACH + OF_ALL, items=items)
    for name in find("exactk.conventions"):
        yield name, lambda name=name: [(one := find("exactk.conventions")[name]), one.diff("standard")]  # type: ignore[misc]


def metrics() -> Cases:
    """Yield every metric at several cutoffs, by name and by its function."""
    data = draw(11)
    others = {"items": data.catalogue, "base_predictions": data.other}
    users = {"weights": data.weights, "groups": data.groups}
    for (name, info), cutoff in product(find("exactk.metrics").items(), ("", "@1", "@3", "@[2,6]", "@50")):
        is_required = info.parameter is not None and info.parameter.standard is None
        for given, options in product(("lists", "scores"), ({}, users)):
            metric = f"{name}{cutoff}({info.parameter.name}=20)" if is_required else name + cutoff
            ask = partial(evaluate, data.truth, getattr(data, given), metric, per_user=True, **others, **options)
            yield f"{metric}/{given} {' '.join(options)}", ask
    functions = [name for name in find("exactk").__all__ if name.endswith("_at_k") or name == "auc"]
    for name, k in product(functions, (1, 4, None)):
        cutoffs = {} if name == "auc" else {"k": k}
        yield f"exactk.{name}/{k}", partial(call, f"exactk.{name}", data.truth, data.scores, **cutoffs, **others)
    for name, cutoff, options in product(find("exactk.agreement_metrics"), ("", "@1", "@3"), ({}, users)):
        ask = partial(call, "exactk.agreement", data.scores, data.other, name + cutoff, per_user=True, **options)
        yield f"{name}{cutoff}/{' '.join(options)}", ask
    for registry in ("metrics", "agreement_metrics", "conventions"):
        yield registry, lambda one=registry: list(map(repr, [find(f"exactk.{one}"), *find(f"exactk.{one}").values()]))  # type: ignore[misc]


def options_of(data: Data, rng: random.Random) -> dict[str, Any]:
    """Draw some of all options of an evaluation of users with keys."""
    as_rows = KEYED[rng.choice(["mapping", "pandas", "polars", "arrow", "pandas categories", "series"])]
    containers: list[Callable[[Any], Any]] = [dict, pd.Series, _two_columns]
    as_values = rng.choice(containers)
    everything = {
        "exclude": as_rows(ones({user: row for user, row in data.exclude.items() if row}), "rank"),
        "candidates": rng.choice([data.candidates, data.items[3:], as_rows(ones(data.candidates), "rank")]),
        "items": rng.choice([data.catalogue, data.train, call("exactk.Items", data.items, train=data.train)]),
        "base_predictions": as_rows(data.other, "score"),
        "weights": as_values(data.weights),
        "groups": as_values(data.groups),
        "per_user": True,
        "num_threads": rng.choice([1, 2, 5]),
        "convention": rng.choice(
            ["ranx", "trec_eval", {"users": "union"}, {"ties": "expected"}, {"ndcg.gain": "exp2", "ties": "shared"}]
        ),
    }
    return {name: everything[name] for name in rng.sample(sorted(everything), rng.choice([1, 2, 3, 4]))}


def _two_columns(values: dict[Any, Any]) -> Any:
    return pd.DataFrame({"user": list(values), "value": list(values.values())})


def metrics_for(options: dict[str, Any], rng: random.Random, size: int = 3) -> list[str]:
    """Draw metrics that the options allow, mostly."""
    names = [*METRICS, *OF_EACH] if {"weights", "groups"} & options.keys() else [*METRICS, *OF_EACH, *OF_ALL]
    if "ties" in str(options.get("convention", "")):
        names = METRICS
    return rng.sample(names if rng.random() < 0.95 else [*METRICS, *OF_EACH, *OF_ALL], size)


def options() -> Cases:
    """Yield drawn choices of options."""
    return ((str(number), partial(_with_options, number)) for number in range(800))


def _with_options(number: int) -> object:
    rng = seeded("options", number)
    data = draw(number % 40, rng.choice(["int", "str", "text"]), ties=rng.random() < 0.6)
    given = KEYED[rng.choice(["mapping", "pandas", "arrow", "polars"])](data.scores, rng.choice(["score", "rank"]))
    options = {"items": data.catalogue} | options_of(data, rng)
    return evaluate(data.truth, given, metrics_for(options, rng), **options)


COMPARISONS: dict[str, list[Any]] = {
    "test": ["t", "permutation", "wilcoxon", "sign"],
    "alternative": ["two_sided", "greater", "less"],
    "confidence": [0.9, 0.95],
    "interval": ["t", "percentile", "bca"],
    "adjust": ["holm", "max_t", "benjamini_hochberg", "bonferroni", "none"],
    "family": ["metric", "all"],
    "margin": [0.1, {"recall@3": 0.05}, "2 %"],
    "baseline": ["other", "one", "nobody"],
    "missing": ["drop", "error"],
    "seed": [1, 7],
    "runs": [{"both": ["one", "reverse"]}],
}


def comparisons() -> Cases:
    """Yield drawn choices of options of comparisons, with ranks, gates, best systems; and merged halves."""
    for number in range(600):
        yield str(number), partial(_compare, number)
        if number % 10 == 0:
            yield f"halves {number}", partial(_compare_halves, number)


def _compare_options(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(sorted(COMPARISONS), rng.choice([0, 1, 2, 3]))
    options = {name: rng.choice(COMPARISONS[name]) for name in names}
    is_drawn, is_resampled = options.get("test") == "permutation", options.get("interval", "t") != "t"
    if rng.random() < 0.95:  # options that agree
        disagreeing = {
            "seed": not is_drawn and not is_resampled,
            "adjust": options.get("adjust") == "max_t" and not is_drawn,
            "runs": bool({"test", "interval", "adjust"} & options.keys()),
        }
        options = {name: value for name, value in options.items() if not disagreeing.get(name)}
    return options | ({"permutations": 199} if is_drawn else {}) | ({"resamples": 199} if is_resampled else {})


def _compare(number: int) -> object:
    rng = seeded("comparison", number)
    data = draw(number % 60, rng.choice(["int", "str"]), rng.choice([6, 12, 25]), ties=rng.random() < 0.5)
    others = options_of(data, rng) if rng.random() < 0.4 else {}
    if rng.random() < 0.1:
        others["clusters"] = {user: index // 2 for index, user in enumerate(data.weights)}
    form = KEYED[rng.choice(["mapping", "pandas", "arrow"])]
    systems = {name: form(rows, rng.choice(["score", "rank"])) for name, rows in data.systems.items()}
    names = [*rng.sample(METRICS, 2), *metrics_for(others, rng, rng.choice([0, 0, 1]))]
    others = {"items": data.catalogue} | others
    comparison = call("exactk.compare", data.truth, systems, names, **_compare_options(rng), **others)
    return [
        comparison,
        attempt(comparison.best, names[0]),
        attempt(comparison.ranks, names[0]),
        attempt(comparison.check, better=names[0], no_worse={names[1]: 0.05}),
        attempt(comparison.users_for, names[0], 0.01),
        attempt(lambda: comparison.differences.of(names[0])),
        attempt(lambda: call("exactk.compare_reports", comparison.reports).differences),
        attempt(call, "exactk.choose", comparison, names[0], {names[1]: 0.2}),
    ]


def _compare_halves(number: int) -> object:
    rng = seeded("halves", number)
    data, options = draw(number, users=14), _compare_options(rng)
    parts = []
    for half in (list(data.weights)[::2], list(data.weights)[1::2]):
        systems = {name: {user: rows[user] for user in half if user in rows} for name, rows in data.systems.items()}
        truth = {user: data.truth[user] for user in half if user in data.truth}
        parts.append(call("exactk.compare", truth, systems, METRICS[:2], **options))
    return call(
        "exactk.merge", [find("exactk.results.ComparisonState").from_dict(part.state.to_dict()) for part in parts]
    )


def evaluator() -> Cases:
    """Yield updates, merges, pickles and states of evaluators, and blocks of the same users."""
    for number in range(250):
        yield str(number), partial(_update, number)
    for number, form in product(range(20), ("list", "dense", "list of pairs", "dot")):
        yield f"blocks {number}/{form}", partial(_blocks, number, form)


def _update(number: int) -> object:
    rng = seeded("evaluator", number)
    data = draw(number % 40, rng.choice(["row", "str", "int"]), users=10)
    convention = rng.choice(["standard", "standard", "ranx", {"users": "both"}, {"ties": "shared"}])
    users, size = list(data.weights), rng.choice([1, 3, 4])
    choices = [name for name in ("exclude", "candidates", "weights", "groups") if rng.random() < 0.4]
    names = metrics_for({"convention": convention, **dict.fromkeys(choices)}, rng)
    items = data.catalogue if users[0] != 0 else None
    evaluators = [call("exactk.Evaluator", names, items=items, convention=convention) for _ in range(2)]
    for index, begin in enumerate(range(0, len(users), size)):
        batch = users[begin : begin + size]
        parts: list[Any] = [{user: rows[user] for user in batch if user in rows} for rows in (data.truth, data.scores)]
        others: dict[str, Any] = {name: {user: getattr(data, name)[user] for user in batch} for name in choices}
        if users[0] == 0:
            parts, others = (
                [[*part.values()] for part in parts],
                {name: [*one.values()] for name, one in others.items()},
            )
        evaluators[index % 2].update(*parts, **others)
    first = pickle.loads(pickle.dumps(evaluators[0]))  # noqa: S301 - our own
    first.merge(evaluators[1])
    merged = call("exactk.merge", [one.state for one in evaluators])
    again = attempt(evaluators[0].update, {users[0]: [1]}, {users[0]: [1]})
    return [evaluators[0], first, call("exactk.State.from_bytes", first.state.to_bytes()), merged, again]


def _blocks(number: int, form: str) -> object:
    data = draw(number, "row", users=10)
    truth, exclude, blocks = list(data.truth.values()), list(data.exclude.values()), []
    for begin in range(0, 10, 4):
        predictions = UNKEYED_PREDICTIONS[form](dict([*data.scores.items()][begin : begin + 4]), "score")
        block = (truth[begin : begin + 4], predictions, exclude[begin : begin + 4])
        blocks.append(block if number % 3 else block[:2])
    return evaluate(None, iter(blocks), METRICS, per_user=number % 2 == 0)


KINDS = {
    function.__name__: function for function in (drawn, golden, conventions, metrics, options, comparisons, evaluator)
}
