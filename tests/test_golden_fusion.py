"""`exactk.fuse` against recorded fusions of ranx, and against a table of values by hand and from ranx."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import exactk
from exactk.compat import ranx
from golden.compat_calls.ranx import FUSIONS, NORMS, UNEQUAL_FUSIONS
from golden.compat_record import read_calls

Scores = dict[str, float]

OUR_NORMS = {"min-max": "min_max", "zmuv": "z", None: "none"}
OUR_METHODS = {"med": "median", "gmnz": "mnz", "bordafuse": "borda", "w_bordafuse": "borda", "wsum": "sum"}
OUR_PARAMETERS = {"k": "rank_constant", "phi": "persistence", "gamma": "power"}


def recorded_fusions() -> list[tuple[dict[str, Any], str, dict[str, Scores]]]:
    """Return each call that ranx answered, a method, and the scores by query."""
    answered = [one for one in read_calls("ranx")["calls"] if "fused" in one["call"] and "answer" in one]
    return [(one["call"], method, dict(lists)) for one in answered for method, (_, _, lists) in one["answer"].items()]


def fused_here(call: dict[str, Any], method: str) -> dict[str, Scores]:
    """Fuse a recorded call's runs by `exactk.fuse`, under its names, with ties in the order in which ranx sorts them."""
    systems = {f"s{number}": ranx.Run(run).run for number, run in enumerate(call["fused"])}
    options: dict[str, Any] = {
        OUR_PARAMETERS.get(name, name): value for name, value in (call["methods"][method] or {}).items()
    }
    options.pop("name", None)
    if "weights" in options:
        options["weights"] = dict(zip(systems, options["weights"], strict=True))
    ours: Any = OUR_METHODS.get(method, method)
    if ours not in {"rrf", "rbc", "borda"}:
        options["norm"] = OUR_NORMS.get(call["norm"], call["norm"])
    columns = exactk.fuse(systems, ours, ties="input_order", **options).columns()
    found: dict[str, Scores] = {}
    for user, item, score in zip(columns["user"], columns["item"], columns["score"].tolist(), strict=True):
        found.setdefault(user, {})[item] = score
    return found


def are_close(one: dict[str, Scores], other: dict[str, Scores]) -> bool:
    return one.keys() == other.keys() and all(
        scores.keys() == other[query].keys()
        and all(math.isclose(score, other[query][d], rel_tol=1e-12, abs_tol=1e-15) for d, score in scores.items())
        for query, scores in one.items()
    )


def test_recorded_fusions_are_equal(record_property: Any) -> None:
    fusions = recorded_fusions()
    for call, method, expected in fusions:
        runs = [ranx.Run(run) for run in call["fused"]]
        replaced = ranx.fuse(runs, call["norm"], method, call["methods"][method])
        assert are_close(replaced.to_dict(), expected), (call, method)
        if method != "isr" and "inverted" not in (call["norm"] or ""):  # which `exactk.fuse` lacks
            assert are_close(fused_here(call, method), expected), (call, method)
    record_property("golden", f"ranx: {len(fusions)} fusions")


A = {"a": 9.0, "b": 7.0, "c": 4.0, "d": 1.0}
B = {"c": 0.8, "a": 0.5, "e": 0.2}
C = {"e": 3.0, "c": -1.0}
SYSTEMS = {name: {"q": scores} for name, scores in zip("ABC", (A, B, C), strict=True)}
WEIGHTS = dict(zip("ABC", (0.5, 0.3, 0.2), strict=True))


def test_every_method_and_norm_is_equal_or_has_a_reason() -> None:
    recorded = {(method, call["norm"]) for call, method, _ in recorded_fusions() if len(call["fused"]) == 3}
    assert set(product(FUSIONS, NORMS)) == recorded | UNEQUAL_FUSIONS.keys()
    assert recorded & UNEQUAL_FUSIONS.keys() == {("sum", "zmuv"), ("wsum", "zmuv")}  # of runs with the same documents


UNEQUAL = {
    ("sum", "zmuv"): [1.2372, 0.5774, 0.8124, -1.4021, -1.2247],
    ("wsum", "zmuv"): [0.6186, 0.2887, 0.1612, -0.7011, -0.3674],
    ("mnz", "zmuv"): [2.4744, 0.5774, 1.6247, -1.4021, -2.4495],
    ("gmnz", "zmuv"): [1.7496, 0.5774, 1.1488, -1.4021, -1.7321],
    ("min", "borda"): [0.5, 0.3, 0.5, 0.3, 0.2],
    ("max", "borda"): [1.0, 0.8, 1.0, 0.5, 1.0],
    ("med", "borda"): [0.8, 0.5, 0.6, 0.4, 0.6],
    ("anz", "borda"): [0.7667, 0.5333, 0.7, 0.4, 0.6],
    ("mnz", "borda"): [6.9, 4.8, 6.3, 3.6, 5.4],
    ("gmnz", "borda"): [3.9837, 2.7713, 3.6373, 2.0785, 3.1177],
}
"""What ranx 0.3.21 returns for the documents a to e."""


@pytest.mark.parametrize(("method", "norm"), UNEQUAL_FUSIONS)
def test_unequal_fusions_differ(method: str, norm: str) -> None:
    runs = [ranx.Run({"q": scores}) for scores in (A, B, {"e": 3.0})]
    if (method, norm) not in UNEQUAL:  # documents in the order of a set
        without = ranx.fuse(runs, None, method, FUSIONS[method])
        assert ranx.fuse(runs, norm, method, FUSIONS[method]).to_dict() == without.to_dict()
    elif (method, norm) in {("mnz", "zmuv"), ("gmnz", "zmuv")}:
        with pytest.raises(exactk.InputError, match="expected normalised scores of at least 0"):
            ranx.fuse(runs, norm, method, FUSIONS[method])
    else:
        theirs = dict(zip("abcde", UNEQUAL[method, norm], strict=True))
        assert ranx.fuse(runs, norm, method, FUSIONS[method])["q"] != pytest.approx(theirs, abs=1e-3)


NORMALISED: dict[str, tuple[Scores, Scores, Scores]] = {
    "min_max": ({"a": 1, "b": 0.75, "c": 0.375, "d": 0}, {"a": 0.5, "c": 1, "e": 0}, {"c": 0, "e": 1}),
    "max": (
        {"a": 1, "b": 0.7777777778, "c": 0.4444444444, "d": 0.1111111111},
        {"a": 0.625, "c": 1, "e": 0.25},
        {"c": -0.3333333333, "e": 1},
    ),
    "sum": (
        {"a": 0.4705882353, "b": 0.3529411765, "c": 0.1764705882, "d": 0},
        {"a": 0.3333333333, "c": 0.6666666667, "e": 0},
        {"c": 0, "e": 1},
    ),
    "z": (
        {"a": 1.2371791483, "b": 0.5773502692, "c": -0.4123930494, "d": -1.402136368},
        {"a": 0, "c": 1.2247448714, "e": -1.2247448714},
        {"c": -1, "e": 1},
    ),
    "rank": (
        {"a": 1, "b": 0.75, "c": 0.5, "d": 0.25},
        {"a": 0.6666666667, "c": 1, "e": 0.3333333333},
        {"c": 0.5, "e": 1},
    ),
    "theoretical_min_max": (
        {"a": 1, "b": 0.7777777778, "c": 0.4444444444, "d": 0.1111111111},
        {"a": 0.625, "c": 1, "e": 0.25},
        {"c": 0, "e": 1},
    ),
}
FUSED: tuple[tuple[str, dict[str, Any], list[float]], ...] = (
    ("rrf", {}, [0.0325224749, 0.0161290323, 0.0483954908, 0.015625, 0.0322664585]),
    ("sum", {"norm": "min_max"}, [1.5, 0.75, 1.375, 0, 1]),
    ("sum", {"norm": "borda"}, [2.2, 1.5, 2.4, 1.1, 1.8]),
    ("sum", {"norm": "min_max", "weights": WEIGHTS}, [0.65, 0.375, 0.4875, 0, 0.2]),
    ("mnz", {"norm": "min_max"}, [3, 0.75, 4.125, 0, 2]),
    ("mnz", {"norm": "min_max", "power": 0.5}, [2.1213203436, 0.75, 2.3815698604, 0, 1.4142135624]),
    ("anz", {"norm": "none"}, [4.75, 7, 1.2666666667, 1, 1.6]),
    ("anz", {"norm": "min_max"}, [0.75, 0.75, 0.4583333333, 0, 0.5]),
    ("max", {"norm": "none"}, [9, 7, 4, 1, 3]),
    ("max", {"norm": "min_max"}, [1, 0.75, 1, 0, 1]),
    ("min", {"norm": "none"}, [0.5, 7, -1, 1, 0.2]),
    ("min", {"norm": "min_max"}, [0.5, 0.75, 0, 0, 0]),
    ("median", {"norm": "none"}, [4.75, 7, 0.8, 1, 1.6]),
    ("median", {"norm": "min_max"}, [0.75, 0.75, 0.375, 0, 0.5]),
    ("rbc", {"persistence": 0.8}, [0.36, 0.16, 0.488, 0.1024, 0.328]),
    ("borda", {}, [11, 7.5, 12, 5.5, 9]),
    ("borda", {"weights": WEIGHTS}, [4.1, 2.85, 3.8, 1.85, 2.4]),
)
"""The scores of a to e."""
OF_SCORES_BELOW_ZERO: tuple[tuple[str, dict[str, Any], list[float]], ...] = (
    ("sum", {}, [9.5, 7, 1, 3.2]),
    ("sum", {"weights": WEIGHTS}, [4.65, 3.5, 0.5, 0.66]),
    ("mnz", {}, [19, 7, 1, 6.4]),
    ("mnz", {"power": 0.5}, [13.4350288425, 7, 1, 4.5254833996]),
)
"""Those of a, b, d and e without a norm; that of c has the -1 of system C, which these methods refuse."""


def scores_of(fused: exactk.results.FusedScores) -> Scores:
    columns = fused.columns()
    return dict(zip(columns["item"], columns["score"].tolist(), strict=True))


BY_CORE_AND_REFERENCE = pytest.mark.parametrize("fuse", [exactk.fuse, exactk.reference.fuse], ids=["core", "reference"])


@BY_CORE_AND_REFERENCE
def test_normalised_scores_of_the_table(fuse: Callable[..., Any]) -> None:
    for norm, expected in NORMALISED.items():
        for name, values, low in zip("ABC", expected, (0, 0, -1), strict=True):
            options = {"low": low} if norm == "theoretical_min_max" else {}
            found = scores_of(fuse({name: SYSTEMS[name]}, "max", norm=norm, **options))
            assert found == pytest.approx(values, abs=1e-10), (norm, name)


@BY_CORE_AND_REFERENCE
def test_fused_scores_of_the_table(fuse: Callable[..., Any]) -> None:
    for method, options, values in FUSED:
        found = scores_of(fuse(SYSTEMS, method, **options))
        assert found == pytest.approx(dict(zip("abcde", values, strict=True)), abs=1e-10), (method, options)


@BY_CORE_AND_REFERENCE
def test_scores_below_zero_are_refused(fuse: Callable[..., Any]) -> None:
    at_least_zero = {**SYSTEMS, "C": {"q": {**C, "c": 0.0}}}
    for method, options, values in OF_SCORES_BELOW_ZERO:
        with pytest.raises(exactk.InputError):
            fuse(SYSTEMS, method, norm="none", **options)
        found = scores_of(fuse(at_least_zero, method, norm="none", **options))
        expected = {**dict(zip("abde", values, strict=True)), "c": found["c"]}
        assert found == pytest.approx(expected, abs=1e-10), (method, options)


def test_isr_of_the_table() -> None:
    fused = ranx.fuse([ranx.Run(run) for run in SYSTEMS.values()], method="isr")
    expected = {"a": 2.5, "b": 0.25, "c": 4.0833333333, "d": 0.0625, "e": 2.2222222222}
    assert fused["q"] == pytest.approx(expected, abs=1e-10)
