"""What is public belongs to `exactk`, whatever private module defines it."""

from __future__ import annotations

import ast
import copy
import inspect
import io
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import exactk
from rankings import rankings_of
from strategies import Evaluation

KEYED_TRUTH = {"ann": {"film": 2.0, "song": 0.0}, "bob": {"film": 1.0}}
PAIRS = {("shop", 1): [b"film"], ("shop", 2): [b"song", b"film"]}
KEYED_SCORES = {"bob": {"film": 0.5}, "ann": {"song": 0.25, "film": 0.75}}


def keyed_report() -> exactk.Report:
    evaluation = Evaluation(KEYED_TRUTH, KEYED_SCORES, ["ndcg@2", "mrr"], {"per_user": True})
    return evaluation.run()


def evaluator_with_users() -> exactk.Evaluator:
    evaluator = exactk.Evaluator(["novelty@2", "mrr"], items=exactk.Items(train=KEYED_SCORES))
    evaluator.update(KEYED_TRUTH, KEYED_SCORES)
    return evaluator


# An instance of every public class that can be pickled; for keyed containers with keys.
INSTANCES: dict[str, Callable[[], Any]] = {
    "AgreementMetric": lambda: exactk.agreement_metrics.rbo.with_(p=0.8),
    "CapacityError": lambda: exactk.CapacityError("k: too many", "k"),
    "Check": lambda: (
        exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").check(better="P@1").checks[0]
    ),
    "Choice": lambda: exactk.choose(exactk.evaluate([[1]], [[1]], "P@1"), "P@1", {"P@1": (">", 1)}),
    "Comparison": lambda: exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "P@1"),
    "ComparisonState": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").state,
    "Convention": lambda: exactk.conventions["ranx"],
    "ConventionMatches": lambda: exactk.matching_conventions([{1: -1.0, 2: 1.0}], [[2]], {"mrr": "0.50", "ndcg": 1}),
    "CustomMetric": lambda: exactk.custom("shortest", attrgetter("lengths"), k=1, version="1"),
    "Difference": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").differences[0],
    "Differences": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").differences,
    "Drift": lambda: exactk.drift([[1, 2]], [[2, 3]], k=2),
    "Embeddings": lambda: exactk.Embeddings(np.eye(2), np.eye(2), candidates=[[0], [1]]),
    "EvaluationWarning": lambda: exactk.EvaluationWarning("odd"),
    "Evaluator": evaluator_with_users,
    "ExactkError": lambda: exactk.ExactkError("wrong", "truth", 1, 2, 3),
    "Exclusions": lambda: exactk.as_exclusions(PAIRS),
    "ExplainedItem": lambda: exactk.explain([{1: 2.0}], [[2, 1]], 0, "ndcg@1")["ndcg@1"].missed[0],
    "ExplainedValue": lambda: exactk.explain([{1: 2.0}], [[2, 1]], 0, "ndcg@1")["ndcg@1"],
    "Explanation": lambda: exactk.explain([{1: 2.0}], [[2, 1]], 0, "ndcg@1"),
    "FusedScores": lambda: exactk.fuse({"a": KEYED_SCORES, "b": {"bob": {"film": 0.5}}}, "sum", k=1),
    "Gate": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").check(better="P@1"),
    "InputError": lambda: exactk.InputError("wrong", "truth", 1, 2, 3),
    "InputTypeError": lambda: exactk.InputTypeError("wrong"),
    "Items": lambda: exactk.Items(train=KEYED_SCORES, item_groups={"film": "a"}, values={"song": 2}),
    "JudgedLists": lambda: exactk.judge([[1, 2]], [[2, 3]], 2),
    "MeanInterval": lambda: exactk.evaluate([[1]] * 9, [[1]] * 9, "P@1").interval("P@1"),
    "Metric": lambda: exactk.metrics.fbeta.with_(beta=2),
    "RankInterval": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").ranks("P@1")["a"],
    "NeededUsers": lambda: exactk.compare(
        [[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1", groups=["x", "x"]
    ).users_for("P@1", 0.5, group="x"),
    "Parents": lambda: exactk.Parents(split="#"),
    "Rankings": lambda: rankings_of(PAIRS),
    "Ranks": lambda: exactk.compare([[1], [2]], {"a": [[1], [3]], "b": [[2], [2]]}, "P@1").ranks("P@1"),
    "Report": keyed_report,
    "Scores": lambda: exactk.Scores(np.eye(2), min_score=0.5),
    "SparseScores": lambda: exactk.as_predictions(KEYED_SCORES),
    "State": lambda: keyed_report().state,
    "StateMismatchError": lambda: exactk.StateMismatchError("other"),
    "TopK": lambda: exactk.topk(np.eye(2), 1),
    "Truth": lambda: exactk.as_truth(KEYED_TRUTH),
    "WorstUsers": lambda: keyed_report().worst("mrr"),
}


def test_f60_only_public_names_are_listed() -> None:
    assert dir(exactk) == sorted([*exactk.__all__, "__version__"])
    assert len(exactk.__all__) <= 52
    assert all(hasattr(exactk, name) for name in dir(exactk))


EMPTY_LISTS: dict[str, Any] = {"user": pl.String, "item": pl.List(pl.String)}
# Keyed containers without a key.
EMPTY: dict[str, Callable[[], Any]] = {
    "Exclusions": lambda: exactk.as_exclusions({}),
    "Truth": lambda: exactk.as_truth({}),
    "Truth without items": lambda: exactk.as_truth(pl.DataFrame({"user": ["ann"], "item": [[]]}, EMPTY_LISTS)),
    "batches": lambda: exactk.as_predictions(exactk.Batches(list)),
    "Embeddings": lambda: exactk.Embeddings(np.zeros((0, 2)), np.eye(2), candidates=[]),
}


def public_objects() -> dict[str, Any]:
    return {name: getattr(module, name) for module in (exactk, exactk.results) for name in module.__all__}


def test_f60_public_classes_and_functions_belong_to_public_modules() -> None:
    for name, public in public_objects().items():
        if isinstance(public, type) or inspect.isfunction(public):
            assert public.__module__ == ("exactk" if name in exactk.__all__ else "exactk.results"), name
            assert public.__qualname__ == name


def test_type_checkers_know_the_names_that_are_loaded() -> None:
    """They cannot read the table of modules, and have imports that never run."""
    tree = ast.parse(Path(exactk.__file__).read_text(encoding="utf-8"))
    (block,) = [one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    imports = [one for one in block.body if isinstance(one, ast.ImportFrom) and one.module != "exactk"]
    declared = {name.name: f"{one.module}" for one in imports for name in one.names}
    assert declared == {name: f"exactk.{module}" for name, module in exactk._MODULE_OF.items()}


def modules_after(*lines: str) -> int:
    """Return how many of the package's modules a new process has loaded once it has run these lines.

    Time would depend on the machine.
    """
    count = "print(sum(name.partition('.')[0] == 'exactk' for name in sys.modules))"
    program = "\n".join(["import sys, exactk", *lines, count])
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return int(result.stdout)


def test_names_are_loaded_when_they_are_used() -> None:
    assert modules_after() <= 15
    modules_after("exec('from exactk import *', names := {})", "assert {*exactk.__all__} <= {*names}")
    with pytest.raises(AttributeError, match="no attribute 'evalute'; did you mean 'evaluate'"):
        exactk.evalute  # type: ignore[attr-defined]  # noqa: B018 - the error


def test_a_first_call_loads_what_it_needs() -> None:
    assert modules_after("exactk.evaluate([[1, 4], [2]], [[3, 1], [2, 5]], ['ndcg@2', 'recall@2'])") <= 40
    truth = "truth = pd.DataFrame({'user': ['ann', 'bob'], 'item': ['film', 'song']})"
    predictions = "predictions = truth.assign(score=[0.5, 0.25])[::-1]"
    call = "exactk.evaluate(truth, predictions, ['ndcg@1', 'recall@1'])"
    assert modules_after("import pandas as pd", truth, predictions, call) <= 80


def test_f60_every_public_class_that_can_be_pickled_has_an_instance_here() -> None:
    """Batches hold a callable of the caller's."""
    classes = {name for name, public in public_objects().items() if isinstance(public, type)}
    assert classes - {"Batches"} == set(INSTANCES)


def test_notebooks_complete_the_keys_of_mappings() -> None:
    report = exactk.evaluate([[1]], [[1, 2]], ["ndcg@2", "recall@1"], per_user=True, groups=["a"])
    comparison = exactk.compare([[1]], {"one": [[1]], "other": [[2]]}, "P@1")
    for mapping in (report, report.per_user, report.by_group["a"], comparison, exactk.metrics, exactk.conventions):
        keys = mapping._ipython_key_completions_()
        assert keys == list(mapping)
        assert all(mapping[key] is not None for key in keys)


class _Recorder(pickle.Unpickler):
    """Loads a pickle, and notes what it names."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.named: list[str] = []

    def find_class(self, module: str, name: str) -> Any:
        self.named.append(f"{module}.{name}")
        return super().find_class(module, name)


@pytest.mark.parametrize(
    "make", [*INSTANCES.values(), *EMPTY.values()], ids=[*INSTANCES, *(f"no {name}" for name in EMPTY)]
)
def test_f60_a_pickle_names_no_private_module(make: Callable[[], Any]) -> None:
    instance = make()
    recorder = _Recorder(pickle.dumps(instance))
    loaded = recorder.load()
    assert type(loaded) is type(instance)
    assert repr(loaded) == repr(instance)
    for name in ("user_vocabulary", "item_vocabulary"):
        if (keys := getattr(instance, name, None)) is not None:
            assert getattr(loaded, name).array.tolist() == keys.array.tolist()
    ours = [named for named in recorder.named if named.startswith("exactk")]
    assert ours
    for named in ours:
        assert re.fullmatch(r"exactk(\.results)?\.\w+", named), named
        assert named.rpartition(".")[2] in {*exactk.__all__, *exactk.results.__all__}, named


OF_REPORTS = ("counts", "by_group", "by_item_group", "standard_deviation", "per_user")
OF_COMPARISONS = (
    *("reports", "state.systems", "differences.heterogeneity"),
    *("differences.heterogeneity_adjusted", "differences.i_squared"),
)


def mappings_of_results() -> dict[str, Any]:
    """Return those of a report, of one by groups of items, which takes no groups of users, and of a comparison."""
    truth, systems = [[1], [2]], {"a": [[1, 2], [3]], "b": [[2], [2]]}
    options: dict[str, Any] = {"groups": ["x", "y"], "candidates": [[1, 2], [2, 3]], "per_user": True}
    report = exactk.evaluate(truth, systems["a"], "ndcg@2", **options)
    items = exactk.Items([1, 2, 3], item_groups={1: "a", 2: "b", 3: "b"})
    of_items = exactk.evaluate(truth, systems["a"], "exposure@2", items=items)
    comparison = exactk.compare(truth, systems, "P@1", groups=["x", "y"])
    of_reports = {name: attrgetter(name)(of_items if "item" in name else report) for name in OF_REPORTS}
    return of_reports | {name: attrgetter(name)(comparison) for name in OF_COMPARISONS}


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return {key: plain(one) for key, one in value.items()} if isinstance(value, Mapping) else value


@pytest.mark.parametrize("name", [*OF_REPORTS, *OF_COMPARISONS])
def test_mappings_of_results_are_copied_and_pickled_as_plain_dicts(name: str) -> None:
    mapping = mappings_of_results()[name]
    recorder = _Recorder(pickle.dumps(mapping))
    for loaded in (recorder.load(), copy.deepcopy(mapping)):
        assert type(loaded) is dict
        assert list(loaded) == list(mapping) != []
        assert repr(plain(loaded)) == repr(plain(mapping))
    assert {named.partition("._")[0] for named in recorder.named if named.startswith("exactk")} <= {
        "exactk.Report", "exactk.State"
    }  # fmt: skip
    with pytest.raises(TypeError, match="does not support item assignment"):
        mapping["other"] = 1


def test_states_of_another_name_are_refused() -> None:
    data = INSTANCES["State"]().to_bytes()
    assert data.startswith(b"exactk-state\n")
    with pytest.raises(exactk.InputError, match="which is not an exactk state"):
        exactk.State.from_bytes(b"foreign-state\n" + data[len(b"exactk-state\n") :])
