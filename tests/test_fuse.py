"""`exactk.fuse`: the core, the reference and formulas in fractions agree; its laws, containers, results and refusals."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import exactk
import fusion_oracle as oracle
from exactk._inputs.model.fused_scores import FusionMethod, FusionTies, MissingScore, ScoreNorm
from exactk._runtime.threads import available_isas
from strategies import examples

Systems = dict[str, dict[str, Any]]
Case = tuple[Systems, Any, dict[str, Any]]
Outcome = dict[str, list[tuple[str, float]]]

OF_RANKS = ("rrf", "rbc", "borda")
WITH_WEIGHTS = ("rrf", "sum", "mnz", "rbc", "borda")


def draw_scores(rng: random.Random, items: list[str]) -> dict[str, float]:
    draw: Callable[[], float] = rng.choice(
        [
            rng.random,
            lambda: float(rng.randint(0, 4)),
            lambda: rng.uniform(-3, 3),
            lambda: round(rng.random(), 1),
            lambda: rng.randint(1, 9) * 1e-120,
            lambda: 1.7e9 + rng.randint(0, 9) * 2.0**-22,
            lambda: rng.randint(1, 3) * rng.choice([1.0, 2.0**-53, 2.0**-120, 2.0**-200]),
        ]
    )
    scores = [draw() for _ in items]
    return dict(zip(items, sorted(scores, reverse=True) if rng.random() < 0.3 else scores, strict=True))


def draw_systems(rng: random.Random, *, ranked: bool) -> Systems:
    """Draw the lists of up to five systems, of which some lack users and others have empty lists."""
    users, items = rng.randint(1, 4), [f"d{number:02}" for number in range(rng.randint(1, 12))]
    systems: Systems = {}
    for number in range(rng.choice([1, 2, 3, 3, 5])):
        lists = {
            f"u{user}": rng.sample(items, rng.randint(0, len(items))) for user in range(users) if rng.random() < 0.85
        }
        lists = lists or {"u0": []}
        systems[f"s{number}"] = {u: found if ranked else draw_scores(rng, found) for u, found in lists.items()}
    return systems


def draw_case(seed: int) -> Case:
    rng = random.Random(seed)  # noqa: S311 - drawn, and not secret
    ranked = rng.random() < 0.3
    systems = draw_systems(rng, ranked=ranked)
    method = rng.choice([*OF_RANKS, "sum"] if ranked else get_args(FusionMethod))
    options: dict[str, Any] = {"ties": rng.choice(get_args(FusionTies))}
    if method not in OF_RANKS:
        options["norm"] = rng.choice(["rank", "borda"] if ranked else get_args(ScoreNorm))
    if options.get("norm") == "theoretical_min_max":
        options["low"] = rng.choice([-3.0, 0.0, dict.fromkeys(systems, -3.0)])
    if method in WITH_WEIGHTS and rng.random() < 0.5:
        options["weights"] = {name: rng.choice([0.0, 1.0, 0.5, 0.3, 2.7]) for name in systems}
    if method in {"sum", "mnz"} and options["norm"] != "borda" and rng.random() < 0.5:
        options["missing"] = rng.choice(get_args(MissingScore))
    options |= {name: rng.randint(1, 12) for name in ("depth", "k") if rng.random() < 0.4}
    parameters = {"mnz": ("power", [1, 0, -1, 0.5, 2, 0.37]), "rrf": ("rank_constant", [60, 0, 0.5])}
    parameters["rbc"] = ("persistence", [0.8, 0.5, 0.99])
    if method in parameters:
        name, choices = parameters[method]
        options[name] = rng.choice(choices)
    return systems, method, options


def lists_of(fused: Any) -> Outcome:
    columns = fused.columns()
    lists: Outcome = {str(user): [] for user in fused.user_vocabulary.array}
    for user, item, score in zip(columns["user"], columns["item"], columns["score"].tolist(), strict=True):
        lists[str(user)].append((item, score))
    return lists


def outcome(fuse: Callable[..., Any], systems: Mapping[str, Any], method: str, options: dict[str, Any]) -> Any:
    """Return the lists and the number of ties that they cut, or the class and the row of the error."""
    try:
        fused = fuse(systems, method, **options)
    except exactk.ExactkError as error:
        return type(error), error.row
    return lists_of(fused), fused.split_ties


APART = pytest.mark.filterwarnings("ignore:systems? 's")
CASES = range(examples(1000))


@APART
def test_the_core_the_reference_and_the_formulas_agree() -> None:
    refused = 0
    for seed in CASES:
        systems, method, options = draw_case(seed)
        found = outcome(exactk.fuse, systems, method, options)
        assert found == outcome(exactk.reference.fuse, systems, method, options), seed
        if found[0] is exactk.InputError:
            refused += 1
            continue
        lists, _ = found
        k = options.get("k") or 99
        for user, entries in lists.items():
            expected = oracle.fused_scores(
                {name: system.get(user, {}) for name, system in systems.items()}, method, options
            )
            assert len(entries) == min(k, len(expected)), seed
            for item, score in entries:
                assert abs(Fraction(score) - expected[item]) <= Fraction(1, 10**12) * max(
                    Fraction(1), abs(expected[item])
                ), (seed, item)
            assert entries == sorted(entries, key=lambda one: (-one[1], one[0])), seed
            left_out = [expected[item] for item in expected.keys() - {item for item, _ in entries}]
            assert not left_out or float(max(left_out)) <= entries[-1][1] + 1e-12, seed
    assert refused < len(CASES) / 10


@APART
def test_neither_the_order_of_systems_nor_threads_nor_instructions_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in CASES[: len(CASES) // 4]:
        systems, method, options = draw_case(seed)
        names = list(systems)
        random.Random(seed).shuffle(names)  # noqa: S311 - likewise
        found = outcome(exactk.fuse, systems, method, options)
        others = outcome(exactk.fuse, {name: systems[name] for name in names}, method, {**options, "num_threads": 3})
        assert found[0] == others[0], seed
    systems, method, options = {name: {"q": dict.fromkeys("abc", 1.0)} for name in "xyz"}, "sum", {}
    expected = outcome(exactk.fuse, systems, method, options)
    for isa in available_isas():
        monkeypatch.setenv("EXACTK_ISA", isa)
        assert outcome(exactk.fuse, systems, method, options) == expected


@pytest.mark.parametrize("norm", ["z", "distribution"])
def test_what_is_standardised_may_be_tiny_or_close(norm: ScoreNorm) -> None:
    usual = exactk.fuse({"x": [{1: 3.0, 2: 9.0, 3: 1.0}]}, "sum", norm=norm)
    tiny = exactk.fuse({"x": [{1: 3e-140, 2: 9e-140, 3: 1e-140}]}, "sum", norm=norm)
    assert tiny.items.tolist() == usual.items.tolist()
    assert tiny.scores.tolist() == pytest.approx(usual.scores.tolist(), rel=1e-14)
    close = exactk.fuse({"x": [{1: 1 + 2**-52, 2: 1.0}]}, "sum", norm=norm)
    assert close.scores.tolist() == exactk.fuse({"x": [{1: 1.0, 2: 0.0}]}, "sum", norm=norm).scores.tolist()


def test_equal_sets_of_ranks_tie() -> None:
    """1/61 + 1/62 + 1/68, added step by step, depends on the order of its terms."""
    order = [f"filler {number}" for number in range(6)]
    systems = {
        "one": [["x", "y", *order, "z"]],
        "two": [["y", "z", *order, "x"]],
        "three": [["z", "x", *order, "y"]],
    }
    ranks = {name: {item: lists[0].index(item) + 1 for item in "xyz"} for name, lists in systems.items()}
    step_by_step = {
        item: 1 / (60 + ranks["one"][item]) + 1 / (60 + ranks["two"][item]) + 1 / (60 + ranks["three"][item])
        for item in "xyz"
    }
    assert len({*step_by_step.values()}) > 1
    fused = exactk.fuse(systems)
    scores = dict(zip(fused.columns()["item"], fused.scores.tolist(), strict=True))
    assert scores["x"] == scores["y"] == scores["z"] == float(Fraction(1 / 61) + Fraction(1 / 62) + Fraction(1 / 69))


@APART
def test_users_can_be_fused_in_parts() -> None:
    systems, method, options = draw_case(next(seed for seed in CASES if len(draw_case(seed)[0]) == 3))
    whole = lists_of(exactk.fuse(systems, method, **options))
    for user, entries in whole.items():
        part = {name: {user: lists.get(user, {})} for name, lists in systems.items()}
        assert lists_of(exactk.fuse(part, method, **options)) == {user: entries}


BM25 = {"q1": {"d1": 9.0, "d2": 7.0, "d3": 4.0}, "q2": {"d2": 3.0, "d4": 1.0}}
DENSE = {"q1": {"d3": 0.75, "d1": 0.5, "d4": 0.25}, "q3": {"d1": 0.5}}
ROWS = [(query, item, score) for query, items in BM25.items() for item, score in items.items()]


def containers(folder: Path) -> dict[str, Any]:
    pl = pytest.importorskip("polars", reason="install polars")
    frame = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score"])
    run, table = folder / "bm25.run", folder / "bm25.csv"
    run.write_text("".join(f"{query} Q0 {item} 1 {score} tag\n" for query, item, score in ROWS), encoding="utf-8")
    frame.to_csv(table, index=False)
    return {
        "mapping": BM25,
        "mapping of pairs": {query: list(items.items()) for query, items in BM25.items()},
        "pandas": frame,
        "polars": pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row"),
        "shuffled": frame.sample(frac=1, random_state=2),
        "integers": frame.astype({"score": int}),
        "series": frame.set_index(["query_id", "doc_id"])["score"],
        "batches": exactk.Batches(lambda: [frame.iloc[:2], frame.iloc[2:]]),
        "TREC run": run,
        "CSV": table,
        "sparse scores": exactk.as_predictions(BM25),
        "best items": exactk.topk(BM25, 3),
        "fused": exactk.fuse({"bm25": BM25}, "sum", norm="none"),
    }


@pytest.mark.parametrize("method", ["rrf", "sum", "median"])
def test_all_containers_are_fused_alike(tmp_path: Path, method: FusionMethod) -> None:
    expected = lists_of(exactk.fuse({"bm25": BM25, "dense": DENSE}, method))
    for name, container in containers(tmp_path).items():
        fused = exactk.fuse({"bm25": container, "dense": DENSE}, method, unit_names=("user", "item"))
        assert lists_of(fused) == expected, name


def test_scores_of_all_items_are_cut_at_the_depth() -> None:
    scores = np.array([[0.5, 2.0, 1.0, 1.5], [3.0, 0.0, 1.0, 2.0]])
    vectors = exactk.Embeddings(np.eye(2), scores.T.copy())
    best = [{1: 2.0, 3: 1.5}, {0: 3.0, 3: 2.0}]
    other = [{3: 1.0, 2: 0.5}, {3: 1.0}]
    expected = exactk.fuse({"a": best, "b": other}, "sum")
    for whole in (scores, exactk.Scores(scores), vectors, scores.astype(np.float32)):
        fused = exactk.fuse({"a": whole, "b": other}, "sum", depth=2)
        assert fused.items.tolist() == expected.items.tolist()
        assert fused.scores.tolist() == expected.scores.tolist()
    with pytest.raises(exactk.InputError, match="depth"):
        exactk.fuse({"a": scores, "b": other}, "sum")
    csr = scipy.sparse.csr_array(scores)
    assert exactk.fuse({"a": csr, "b": other}, "sum").indptr.tolist() == [0, 4, 7]  # all that are stored


def test_rankings_have_ranks_alone() -> None:
    lists = {"q": ["a", "b"]}
    assert lists_of(exactk.fuse({"x": lists, "y": {"q": {"b": 3.0}}}))["q"][0][0] == "b"
    with pytest.raises(exactk.InputTypeError, match="method='rrf'") as caught:
        exactk.fuse({"x": lists, "y": {"q": {"b": 3.0}}}, "sum")
    assert "system 'x'" in str(caught.value)


def test_a_system_without_items_has_nothing_to_refuse() -> None:
    expected = lists_of(exactk.fuse({"x": BM25}, "sum"))
    nothings: list[dict[str, Any]] = [{}, {"q1": []}, {"q1": {}}]
    for nothing in nothings:
        with pytest.warns(exactk.EvaluationWarning, match="system 'none' has no item of any user"):
            fused = exactk.fuse({"x": BM25, "none": nothing}, "sum")
        assert lists_of(fused) == expected


def test_wide_integers_are_ranked_exactly() -> None:
    ids, wide = np.array([1, 2]), np.array([2**62, 2**62 + 1])
    one = exactk.SparseScores(np.array([0, 2]), ids, wide)
    assert exactk.fuse({"one": one}).items.tolist() == [2, 1]
    with pytest.raises(exactk.InputError, match="float64 holds"):
        exactk.fuse({"one": one}, "sum", norm="none")
    held = exactk.SparseScores(np.array([0, 2]), ids, np.array([2**62, 2**61]))
    assert exactk.fuse({"one": held}, "sum", norm="none").scores.tolist() == [2.0**62, 2.0**61]


def test_what_is_returned(tmp_path: Path) -> None:
    frames = {
        name: pd.DataFrame(
            [(q, d, s) for q, row in of.items() for d, s in row.items()], columns=["qid", "docno", "score"]
        )
        for name, of in {"bm25": BM25, "dense": DENSE}.items()
    }
    fused = exactk.fuse(frames, "sum", k=2)
    assert list(fused.to_pandas().columns) == ["query", "document", "rank", "score"]
    assert (fused.method, fused.norm, fused.missing, fused.split_ties) == ("sum", "min_max", "zero", 0)
    assert "method sum, norm min_max, missing zero; 2 systems, 3 queries" in repr(fused)
    again = pickle.loads(pickle.dumps(fused))  # noqa: S301 - its own
    assert repr(again) == repr(fused)
    truth = {"q1": ["d3"], "q2": ["d4"], "q3": ["d1"]}
    expected = exactk.evaluate(truth, fused, ["mrr@10", "recall@1"])
    path = tmp_path / "fused.run"
    assert fused.to_trec(path, tag="both") is None
    assert path.read_text(encoding="utf-8").splitlines()[0] == "q1 Q0 d1 1 1.5 both"
    assert dict(exactk.evaluate(truth, path, ["mrr@10", "recall@1"])) == dict(expected)
    compared = exactk.compare(truth, {"other": fused, "fused": fused}, "mrr@10")
    assert compared["mrr@10"]["fused"] == expected["mrr@10"]


@pytest.mark.parametrize("fuse", [exactk.fuse, exactk.reference.fuse], ids=["core", "reference"])
def test_a_system_of_other_ids_is_told(fuse: Callable[..., Any]) -> None:
    systems = {"x": {"q": ["a", "b"]}, "y": {"q": ["b"]}, "z": {"q": ["B"]}}
    with pytest.warns(exactk.EvaluationWarning, match="system 'z' has no item of any user in common") as caught:
        fuse(systems)
    assert len(caught) == 1
    with pytest.warns(exactk.EvaluationWarning, match="systems 'x', 'y' have no item .* in common with the others: "):
        fuse({"x": {"q1": ["a"]}, "y": {"1": ["a"]}})
    with pytest.warns(exactk.EvaluationWarning, match="'x', 'y' .* within depth=1: "):
        fuse({"x": {"q": ["c", "a"]}, "y": {"q": ["a"]}}, depth=1)


def test_ties_that_are_cut_are_counted() -> None:
    systems = {"x": {"q1": ["a", "b"], "q2": ["a"]}, "y": {"q1": ["b", "a"], "q2": ["a", "b"]}}
    fused = exactk.fuse(systems, k=1)
    assert fused.split_ties == 1
    assert lists_of(fused)["q1"][0][0] == "a"
    assert "1 user" in repr(fused)


def test_ids_without_keys_and_rows_of_users() -> None:
    fused = exactk.fuse({"x": [[7, 3], None], "y": [[3], [5]]}, k=1)
    assert (fused.indptr.tolist(), fused.items.tolist(), fused.user_vocabulary) == ([0, 1, 2], [3, 5], None)


X, Y = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 2.0}}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "one run": ({"systems": X}, "exactk.fuse({'a': a, 'b': b})"),
    "no systems": ({"systems": {}}, "at least one system"),
    "an unknown method": ({"method": "rff"}, "rrf"),
    "an unknown norm": ({"method": "sum", "norm": "minmax"}, "min_max"),
    "a norm that is not read": ({"norm": "min_max"}, "reads ranks"),
    "weights that are not read": ({"method": "max", "weights": {"x": 1, "y": 1}}, "weights"),
    "a constant that is not read": ({"method": "sum", "rank_constant": 10}, "a method that reads it: 'rrf'"),
    "missing that is not read": ({"missing": "zero"}, "missing"),
    "weights of another system": ({"weights": {"x": 1, "z": 1}}, "'z'"),
    "weights of some systems": ({"weights": {"x": 1}}, "'y'"),
    "a list of weights": ({"weights": [1, 2]}, "weights={'x': ..., 'y': ...}"),
    "a negative weight": ({"weights": {"x": 1, "y": -1}}, "from 0 to 2^256"),
    "no weight above 0": ({"weights": {"x": 0, "y": 0}}, "a weight above 0"),
    "a weight that is NaN": ({"weights": {"x": 1, "y": np.nan}}, "from 0 to 2^256"),
    "a negative constant": ({"rank_constant": -1}, "rank_constant"),
    "persistence 1": ({"method": "rbc", "persistence": 1.0}, "persistence"),
    "power 65": ({"method": "mnz", "power": 65}, "power"),
    "no low": ({"method": "sum", "norm": "theoretical_min_max"}, "low"),
    "a low that is not read": ({"method": "sum", "low": 0}, "low"),
    "depth 0": ({"depth": 0}, "depth"),
    "k as text": ({"k": "10"}, "k"),
    "ties of a truth": ({"ties": "optimistic"}, "shared"),
    "NaN": ({"systems": {"x": X, "y": {"q": {"a": np.nan}}}}, "in system 'y'; nan='last' ranks them last"),
    "NaN among scores": ({"systems": {"x": {"q": {"a": np.nan}}}, "method": "sum"}, "found NaN"),
    "NaN last among scores": ({"method": "sum", "nan": "last"}, "nan: expected 'raise'"),
    "weights in an array": ({"weights": np.array([1, 2])}, "weights={'x': ..., 'y': ...}"),
    "a constant in an array": ({"rank_constant": np.array([1, 2])}, "expected a number, found ndarray"),
    "a weight without end": ({"weights": {"x": 1, "y": 10**400}}, "float64 holds"),
    "no norm by name": ({"method": "sum", "norm": ""}, "min_max"),
    "infinity": ({"systems": {"x": X, "y": {"q": {"a": np.inf}}}, "method": "sum"}, "inf"),
    "a score below its low": (
        {"systems": {"x": X, "y": {"q": {"a": -1.0}}}, "method": "sum", "norm": "theoretical_min_max", "low": 0},
        "no score below its low, 0, found item 'a' -1",
    ),
    "no score above 0": (
        {"systems": {"x": {"q": {"a": -1.0}}}, "method": "max", "norm": "max"},
        "found item 'a' -1",
    ),
    "negative scores": (
        {"systems": {"x": X, "y": {"q": {"a": -1.0}}}, "method": "sum", "norm": "none"},
        "missing='lowest'",
    ),
    "negative scores of mnz": ({"method": "mnz", "norm": "z"}, "norm='min_max'"),
    "an item twice": ({"systems": {"x": {"q": ["a", "b", "a"]}}}, "'a' again"),
    "users with and without keys": ({"systems": {"x": X, "y": [["a"]]}}, "keys in 'x'"),
    "rows of other users": ({"systems": {"x": [[1]], "y": [[1], [2]]}}, "2 in 'y'"),
    "items of other kinds": ({"systems": {"x": {"q": ["a"]}, "y": {"q": [1]}}}, "int in 'y'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    changes, text = REFUSED[case]
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.fuse(**{"systems": {"x": X, "y": Y}, **changes})
    assert text in str(caught.value)
    if caught.value.argument not in {"weights", "low", "depth", "k", "method", "norm", "ties", "missing"}:
        with pytest.raises(type(caught.value)):
            exactk.reference.fuse(**{"systems": {"x": X, "y": Y}, **changes})


def test_the_first_user_at_fault_is_named_whatever_the_threads() -> None:
    users = 3000
    lists: list[dict[int, float]] = [{1: 1.0, 2: 0.5} for _ in range(users)]
    lists[1234] = lists[2345] = {1: np.nan}
    for threads in (1, 4):
        with pytest.raises(exactk.InputError) as caught:
            exactk.fuse({"x": lists}, num_threads=threads)
        assert caught.value.row == 1234
