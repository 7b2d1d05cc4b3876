"""Cases of what is made of results: exports, pages, pictures; and of engines and replacements of other libraries."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

import html_pages
from golden.compat_record import load_calls, plain, read_calls, replaced_libraries
from same.data import columns, dense, draw, ones
from same.evaluations import METRICS, OF_ALL, OF_EACH, Cases, attempt, call, evaluate, metrics_for, seeded
from same.names import find, of_own_tests

mpl.use("Agg")


@cache
def results() -> dict[str, Any]:
    """Return reports and comparisons of several kinds."""
    data, rows, few = draw(81, users=30), draw(82, "row"), draw(83, "text", 2)
    odd = {user: f"=1+{group}|&_\\$%#{{" for user, group in data.groups.items()}
    late_hits = call(
        "exactk.custom", "late_hits", lambda judged: (judged.hits[:, 1:].sum(axis=1), judged.relevant), k=3
    )
    drawn = {"permutations": 199, "resamples": 199, "interval": "bca", "test": "permutation", "adjust": "max_t"}
    kept: dict[str, Any] = {"per_user": True, "groups": data.groups}
    ask = partial(evaluate, data.truth, data.scores)
    compare = partial(call, "exactk.compare", data.truth, data.systems, METRICS[:3])
    return {
        "plain": ask(),
        "everything": ask([*METRICS, *OF_EACH], items=data.catalogue, weights=data.weights, **kept),
        "all lists": ask([*METRICS[:2], *OF_ALL, "rsp@3", "reo@3"], items=data.catalogue),
        "strange names": ask(METRICS, groups=odd, per_user=True),
        "rows": evaluate(list(rows.truth.values()), dense(rows.scores), METRICS, per_user=True),
        "few users": evaluate(few.truth, few.lists, METRICS, convention="trec_eval", per_user=True),
        "nobody": evaluate({}, {}, METRICS, per_user=True),
        "custom": ask([late_hits, "ndcg@3"], **kept),
        "agreement": call("exactk.agreement", data.scores, data.other, **kept),
        "reference": call("exactk.reference.evaluate", data.truth, data.scores, METRICS, per_user=True),
        "compared": compare(per_user=True),
        "baseline": compare(baseline="other", margin=0.05, **kept),
        "items": call("exactk.compare", data.truth, data.systems, OF_EACH[:4], items=data.catalogue, **kept),
        "resampled": compare(**drawn, **kept),
        "strange systems": compare(groups=odd, per_user=True),
        "weighted": compare(weights=data.weights, per_user=True),
        "one system": call("exactk.compare", data.truth, {"a|b_&%": data.scores}, METRICS),
        "runs": compare(runs={"both": ["one", "reverse"]}, per_user=True),
    }


def exports() -> Cases:
    """Yield each result in every form of text, data and frame, read back, and its further numbers."""
    tables = ("values", "per_user", "by_group", "by_item_group")
    for name, table in product(results(), tables):
        for form, options in product(("csv", "markdown", "latex"), ({}, {"digits": 2}, {"digits": 6})):
            yield f"{name}/{form} {table} {options}", partial(_asked, name, f"to_{form}", table=table, **options)
        for form, wide in product(("pandas", "polars", "arrow", "csv"), (True, False)):
            yield f"{name}/{form} {table} wide={wide}", partial(_asked, name, f"to_{form}", table=table, wide=wide)
    for name, result in results().items():
        for method in ("to_dict", "to_json", "to_flat_dict", "_repr_html_", "__str__"):
            yield f"{name}/{method}", partial(_asked, name, method)
        for form in (
            ("pandas", "polars", "arrow", "csv", "markdown", "latex", "flat_dict") if hasattr(result, "reports") else ()
        ):
            yield f"{name}/differences {form}", partial(_differences, name, f"to_{form}")
        yield f"{name}/copies", partial(_copies, name)
        yield f"{name}/intervals", partial(_intervals, name)
        yield f"{name}/choices", partial(_choices, name)


def _asked(name: str, method: str, **options: Any) -> object:
    return getattr(results()[name], method)(**options)


def _differences(name: str, method: str) -> object:
    differences = results()[name].differences
    return [getattr(one, method)() for one in (differences, differences.by_group)]


def _copies(name: str) -> object:
    result, kind = results()[name], type(results()[name])
    ways: list[Callable[[], Any]] = [
        lambda: pickle.loads(pickle.dumps(result)),  # noqa: S301 - our own
        lambda: kind.from_dict(result.to_dict()),
        lambda: kind.from_json(result.to_json()),
        lambda: call("exactk.merge", [type(result.state).from_dict(result.state.to_dict())]),
    ]
    return [result, [attempt(lambda way=way: way() == result) for way in ways], attempt(ways[3])]


def _intervals(name: str) -> object:
    result = results()[name]
    reports = result.reports.values() if hasattr(result, "reports") else [result]
    return [
        [
            attempt(report.interval, metric),
            *(attempt(report.disparity, metric, how) for how in ("range", "ratio", "mad", "cv")),
        ]
        for report, metric in product(reports, result)
    ]


def _choices(name: str) -> object:
    result = results()[name]
    return [attempt(call, "exactk.choose", result, one, {two: 0.3}) for one, two in product([*result][:3], repeat=2)]


PAGES: tuple[dict[str, Any], ...] = ({}, {"title": "A <title>", "note": "a note & more"})


def pages() -> Cases:
    """Yield pages of reports and comparisons, line by line, and gates."""
    for name, result in results().items():
        for number, options in enumerate(PAGES):
            yield f"{name}/{number}", partial(_page, name, options)
        claims: tuple[dict[str, Any], ...] = (
            {"better": METRICS[1]},
            {"no_worse": {METRICS[1]: 0.05}},
            {"equivalent": {METRICS[1]: "5%"}},
            {"better": ["x"]},
            {},
        )
        for number, claim in enumerate(claims if hasattr(result, "reports") else ()):
            yield f"{name}/gate {number}", partial(_asked, name, "check", **claim)
    for page in ("with_lists", "hostile"):
        yield f"of tests/{page}", lambda page=page: getattr(html_pages, page)().replace("><", ">\n<")  # type: ignore[misc]


def _page(name: str, options: dict[str, Any]) -> object:
    data = draw(81, users=30)
    if name in {"compared", "baseline"}:
        lists: Any = {system: call("exactk.judge", data.truth, rows, 5) for system, rows in data.systems.items()}
        options = {**options, "lists": lists, "item_names": {item: f"the {item}" for item in data.items}, "examples": 3}
    if name == "everything":
        options = {**options, "lists": call("exactk.judge", data.truth, data.scores, 5)}
    return results()[name].to_html(**options).replace("><", ">\n<")


def pictures() -> Cases:
    """Yield the points, texts and colours of each picture of each result."""
    kinds = ("values", "differences", "curves", "groups", "distribution", "trade_off", "pie")
    for name, kind, metric in product(results(), kinds, (None, "recall@3")):
        yield f"{name}/{kind} {metric}", partial(_picture, name, kind, metric)


def _picture(name: str, kind: str, metric: str | None) -> object:
    try:
        axes = results()[name].plot(kind, metric).ax_
        lines = [
            [line.get_label(), line.get_color(), line.get_marker(), np.asarray(line.get_xydata())]
            for line in axes.lines
        ]
        labels = [
            *axes.texts,
            axes.title,
            axes.xaxis.label,
            axes.yaxis.label,
            *axes.get_xticklabels(),
            *axes.get_yticklabels(),
        ]
        return [
            lines,
            [label.get_text() for label in labels],
            [np.asarray(one.get_offsets()) for one in axes.collections],
        ]
    finally:
        plt.close("all")


def engines() -> Cases:
    """Yield buckets of users in the worker of engines, and their sums."""
    return ((str(number), partial(_engine, number)) for number in range(160))


def _engine(number: int) -> object:
    sharded, rng = of_own_tests("sharded_rows"), seeded("engine", number)
    data = draw(number, rng.choice(["str", "int"]), 11, ties=rng.random() < 0.5)
    role = rng.choice(["score", "rank"])
    truth, one, other = (
        pa.table(columns(*side)) for side in ((data.truth, "grade"), (data.scores, role), (data.other, role))
    )
    tables = {
        "exclude": pa.table(columns(ones(data.exclude), "x")).select(["user", "item"]),
        "weights": pa.table({"user": list(data.weights), "weight": list(data.weights.values())}),
        "groups": pa.table({"user": list(data.groups), "group": list(data.groups.values())}),
    }
    others = {name: tables[name] for name in tables if rng.random() < 0.3}
    given: dict[str, Any] = {"convention": rng.choice(["standard", "replay", {"users": "both"}, {"ties": "shared"}])}
    names = metrics_for(others | given, rng)
    given |= {"items": data.catalogue} if rng.random() < 0.9 else {}
    predictions: Any = one
    if rng.random() < 0.4:
        predictions = {"one": one, "other": other}
        given["comparison"] = call("exactk._report.comparison_options.ComparisonOptions")
    plan = sharded.plan_of_tables(truth, predictions, names, **given, **others)
    sides = [truth, *(predictions.values() if "comparison" in given else [one]), *others.values()]
    buckets = sharded.results_of(plan, sides, buckets=1 + number % 6, salt=number, seed=number)
    sums = call("exactk._sharded.buckets.add_results", iter([bucket.to_batch() for bucket in buckets]))
    reduce = "comparison_of_buckets" if "comparison" in given else "report_of_buckets"
    return [buckets, [batch.to_pylist() for batch in sums], call(f"exactk._sharded.reduction.{reduce}", buckets)]


def replacements() -> Cases:
    """Yield recorded calls of other libraries, made of their replacements."""
    for name in sorted({*replaced_libraries()} - {"torchmetrics"}):  # which plugs into a library that is not installed
        for number, recorded in enumerate(read_calls(name)["calls"][::4]):
            yield f"{name}/{number}", partial(_replaced, name, recorded["call"])
        yield f"{name}/differences", partial(call, f"exactk.compat.{name}.differences")


def _replaced(name: str, recorded: dict[str, Any]) -> object:
    return plain(load_calls(name).answer(find(f"exactk.compat.{name}"), copy.deepcopy(recorded)))


KINDS = {function.__name__: function for function in (exports, pages, pictures, engines, replacements)}
