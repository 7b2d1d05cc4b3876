"""Errors about foreign values and files end in a way on: a line that works when it is pasted, or a near path."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import pickle
import re
import uuid
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from hypothesis import given, strategies as st

import exactk
from rankings import rankings_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.qrels").write_text("q1 0 a 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 0.5 t\n")
    return tmp_path


PATHS = {
    "data/test.qrel": "no file at 'data/test.qrel'; did you mean 'data/test.qrels'?",
    "data/Test.qrels": "no file at 'data/Test.qrels'; did you mean 'data/test.qrels'?",
    "datta/test.qrels": "no file at 'datta/test.qrels'",
    "data/x.parquet": "no file at 'data/x.parquet'",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", PATHS)
def test_f97_a_file_that_is_not_there_is_an_error_of_python_too(path: str) -> None:
    for call in (
        lambda: exactk.read(path, "truth"),
        lambda: exactk.evaluate(Path(path), "bm25.run", "recall@1"),
        lambda: exactk.evaluate(path, "bm25.run", "recall@1"),
        lambda: exactk.evaluate("data/test.qrels", "bm25.run", "recall@1", groups=path),
    ):
        with pytest.raises(exactk.InputError, match="expected a readable file, found") as caught:
            call()
        error = caught.value
        assert isinstance(error, FileNotFoundError)
        assert f"found {PATHS[path]}" in str(error).removesuffix("; a string is the path of a file") + "'"
        for other in (pickle.loads(pickle.dumps(error)), error.within("system 'a'")):  # noqa: S301 - our own
            assert type(other) is type(error)
            assert other.argument == error.argument
        assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["data/test.qrel", "data/x.parquet"])
def test_f97_a_file_that_is_not_there_is_one_line_of_the_command_line(path: str, run: Run) -> None:
    result = run("evaluate", path, "bm25.run")
    assert result.code == 2
    assert result.err == f"exactk: error: truth: expected a readable file, found {PATHS[path]}\n"


class Scored(NamedTuple):
    query: str
    docid: str
    score: float


class Neighbor(NamedTuple):
    label: str
    distance: float


@dataclasses.dataclass
class ScoredDocument:
    id: str
    score: float


class Document:
    """A document as LangChain has them."""

    def __init__(self, item: str) -> None:
        self.page_content, self.metadata, self.id = "text", {"source": "web", "id": item}, None


class Plain:
    """A result without a text of its own."""

    def __init__(self, item: str, score: float) -> None:
        self.doc_id, self.score = item, score


HITS = [("b", 0.75), ("a", 0.5)]
FORMS: dict[str, Callable[[list[tuple[str, float]]], Any]] = {
    "records of two ids": lambda hits: [{"id": item, "docid": "z", "score": score} for item, score in hits],
    "records of distances": lambda hits: [{"_id": item, "distance": 1 - score} for item, score in hits],
    "data class": lambda hits: [ScoredDocument(item, score) for item, score in hits],
    "objects": lambda hits: [Plain(item, score) for item, score in hits],
    "named tuples": lambda hits: [Scored("q", item, score) for item, score in hits],
    "named distances": lambda hits: [Neighbor(item, 1 - score) for item, score in hits],
    "pairs of a data class": lambda hits: [(ScoredDocument(item, 0.0), score) for item, score in hits],
    "pairs of a record": lambda hits: [({"id": item}, score) for item, score in hits],
    "name space": lambda hits: [SimpleNamespace(pid=item, similarity=score) for item, score in hits],
    "text": lambda hits: {item: str(score) for item, score in hits},
    "decimals": lambda hits: {item: Decimal(score) for item, score in hits},
}
"""The items of a user, as other libraries return them."""


def pasted(message: str, argument: str, value: object) -> Any:
    """Return the value of the line in an error's hint."""
    line = re.split(r" if (?:these|each|it)\b| \(user|$", message.rpartition(f"; {argument}=")[2])[0]
    return eval(line, {"exactk": exactk, "np": np, argument: value})  # noqa: S307 - the hint is our own


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_f97_hits_are_answered_with_a_line_that_reads_them(form: str, keyed: bool) -> None:
    truth: Any = {"q1": ["a"], "q2": ["b"]} if keyed else [["a"], ["b"]]
    rows = [FORMS[form](HITS), FORMS[form](HITS)]
    predictions: Any = dict(zip(truth, rows, strict=True)) if keyed else rows
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.raises(exactk.InputTypeError, match="; predictions=") as caught:
            evaluate(truth, predictions, "mrr")
        report = evaluate(truth, pasted(str(caught.value), "predictions", predictions), "mrr")
        assert report["mrr"] == 0.75
    with pytest.raises(exactk.InputTypeError, match="; predictions=") as caught:
        exactk.compare(truth, {"a": predictions}, "mrr")


@pytest.mark.parametrize("form", [form for form in FORMS if form not in {"text", "decimals", "named tuples"}])
def test_f97_the_hits_of_one_user_are_answered_with_a_line_that_reads_them(form: str) -> None:
    hits = FORMS[form](HITS)
    with pytest.raises(exactk.InputTypeError, match="; predictions=") as caught:
        exactk.evaluate([["a"]], hits, "mrr")
    assert exactk.evaluate([["a"]], pasted(str(caught.value), "predictions", hits), "mrr")["mrr"] == 0.5


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("form", ["pairs of a data class", "pairs of a record"])
def test_f97_pairs_of_a_truth_are_answered_too(form: str, keyed: bool) -> None:
    row = FORMS[form]([("a", 2), ("b", 1)])
    truth: Any = {"q1": row} if keyed else [row]
    with pytest.raises(exactk.InputTypeError, match="; truth=") as caught:
        exactk.as_truth(truth)
    grades = exactk.as_truth(pasted(str(caught.value), "truth", truth)).grades
    assert grades is not None
    assert grades.tolist() == [2.0, 1.0]


def test_f97_named_tuples_of_an_item_and_a_score_are_pairs() -> None:
    pair = NamedTuple("pair", [("id", str), ("score", float)])  # noqa: UP014
    assert exactk.evaluate({"q1": ["a"]}, {"q1": [pair("b", 0.5), pair("a", 0.75)]}, "mrr")["mrr"] == 1.0


RANKED = (np.array([["a", "b"], ["b", "a"]]), np.array([[0.75, 0.5], [0.75, 0.5]]))
LINES: dict[str, tuple[str, Any]] = {
    "a Series with users that repeat": ("predictions", pd.Series(["a", "b", "b"], index=["q1", "q1", "q2"])),
    "flags as rows": ("exclude", [[False, True], [True, False]]),
    "exclusions of all": ("exclude", ["c", "d"]),
    "ids and scores of each user": ("predictions", [(np.array([0, 1]), np.array([0.75, 0.5]))] * 2),
    "documents and scores": ("predictions", RANKED),
}


@pytest.mark.parametrize("form", LINES)
def test_f97_lines_read_what_is_meant(form: str) -> None:
    argument, value = LINES[form]
    is_keyed = form in {"a Series with users that repeat", "exclusions of all", "documents and scores"}
    truth: Any = {"q1": ["a"], "q2": ["b"]} if is_keyed else [[0], [1]]
    truth = [["a"], ["b"]] if form == "documents and scores" else truth
    arguments: dict[str, Any] = {"predictions": truth.copy(), argument: value}
    with pytest.raises(exactk.InputTypeError, match=f"; {argument}=") as caught:
        exactk.evaluate(truth, **arguments, metrics="recall@2")
    line = re.split(" has a list| excludes| reads", str(caught.value).rpartition(f"; {argument}=")[2])[0]
    arguments[argument] = eval(line, {"np": np, "truth": truth, argument: value})  # noqa: S307 - the hint is our own
    assert exactk.evaluate(truth, **arguments, metrics="recall@2")["recall@2"] > 0


OF_NO_SYSTEM: dict[str, Callable[[], dict[str, Any]]] = {
    "generators": lambda: {"q1": (item for item in "ba"), "q2": iter("ba")},
    "pairs of JSON": lambda: {"q1": [["b", 0.75], ["a", 0.5]], "q2": [["a", 0.25], ["b", 0.5]]},
    "ids and scores of JSON": lambda: {"q1": [[1, 0.75], [0, 0.5]], "q2": [[0, 0.25], [1, 0.5]]},
    "records": lambda: {
        "q1": [{"doc": "b", "distance": 1}, {"doc": "a", "distance": 2}],
        "q2": [{"doc": "b", "distance": 1}],
    },
    "Series of counts": lambda: {"q1": pd.Series(list("bba")).value_counts(), "q2": pd.Series(["b"]).value_counts()},
    "Series of ranks": lambda: {"q1": pd.Series([2, 1], ["b", "a"]), "q2": pd.Series([7, 4], ["b", "a"])},
}


@pytest.mark.parametrize("form", OF_NO_SYSTEM)
def test_mappings_from_user_are_no_systems_whatever_their_rows(form: str) -> None:
    """They were taken for systems of `exactk.compare`, which refuses them too."""
    truth: Any = {"q1": [0], "q2": [1]} if "ids" in form else {"q1": ["a"], "q2": ["b"]}
    with pytest.raises(exactk.InputTypeError) as caught:
        exactk.evaluate(truth, OF_NO_SYSTEM[form](), "mrr")
    assert "compare" not in str(caught.value)
    line = re.split(r" if ", str(caught.value).partition("; ")[2])[0].removeprefix("predictions=")
    rows = OF_NO_SYSTEM[form]()
    given = (
        {user: eval(line, {"row": row}) for user, row in rows.items()}  # noqa: S307 - the hint is our own
        if line.startswith("row")
        else eval(line, {"predictions": rows})  # noqa: S307 - the hint is our own
    )
    assert exactk.evaluate(truth, given, "mrr")["mrr"] == 0.75


def test_rows_of_a_frame_are_items() -> None:
    """The index is left of the frame; a Series of counts has items there."""
    frame = pd.DataFrame({"user": ["q1", "q1", "q2"], "item": [3, 1, 2]})
    for table in (frame, frame.convert_dtypes(), frame.set_index("user").reset_index()):
        rows = {user: group["item"] for user, group in table.groupby("user")}
        assert exactk.evaluate(rows, rows | {}, "recall@2")["recall@2"] == 1.0
    for argument in ("truth", "exclude"):
        arguments: dict[str, Any] = {"truth": [[1]], argument: [pd.Series([1, 1, 2]).value_counts()]}
        with pytest.raises(exactk.InputTypeError, match=rf"{argument}: .*found a Series of numbers by key at row 0"):
            exactk.evaluate(predictions=[[2, 1]], metrics="mrr", **arguments)


def test_floats_that_are_rounded_have_no_line() -> None:
    with pytest.raises(exactk.InputTypeError, match=r"items\] for items in predictions\]$"):
        exactk.evaluate([[1]], [[2.0**53 - 1, 3.0]], "mrr")
    with pytest.raises(exactk.InputTypeError, match=r"position 0$"):
        exactk.evaluate([[1]], [[2.0**53, 3.0]], "mrr")


NO_LINES: dict[str, Any] = {
    "flags": [[True, False], [False, True]],
    "frames": [pd.DataFrame({"user": ["q1"], "item": ["a"]})],
    "ranks before ids": [[(1, "a")], [(1, "b")]],
    "records in cells": pd.DataFrame({"user": ["q1"], "item": [{"id": "a"}], "rank": [1]}),
    "sets in cells": pd.DataFrame({"user": ["q1"], "item": [{"a"}], "rank": [1]}),
}


@pytest.mark.parametrize("form", NO_LINES)
def test_f97_no_line_is_better_than_one_that_reads_another_thing(form: str) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"(row \d, position \d|at row \d|found (dict|set))$"):
        exactk.as_predictions(NO_LINES[form])


def of_library(module: str, **attributes: Any) -> Any:
    """Return an object of a class of a library, with these attributes."""
    return type("Data", (), {"__module__": module, **attributes})()


FRAME = pd.DataFrame({"user": ["q1", "q2"], "item": ["a", "b"]})
ROWS = [["a"], ["b"]]
CONTAINERS: dict[str, tuple[Any, str]] = {
    "Hugging Face": (of_library("datasets.arrow_dataset", to_pandas=lambda _: FRAME), "{0}={0}.to_pandas()"),
    "Hugging Face, splits": (
        type("Splits", (dict,), {"__module__": "datasets.dataset_dict"})(test=FRAME),
        "{0}={0}[next(iter({0}))]",
    ),
    "Hugging Face, rows that are computed": (
        of_library(
            "datasets.arrow_dataset", format={"type": "custom"}, __iter__=lambda _: iter(FRAME.to_dict("records"))
        ),
        "{0}=pd.DataFrame(list({0}))",
    ),
    "group by, pandas": (FRAME.groupby("user"), "{0}={0}.agg(list).reset_index()"),
    "group by, Polars": (pl.DataFrame(FRAME).group_by("user"), "{0}={0}.all()"),
    "items of a mapping": ({"q1": ["a"], "q2": ["b"]}.items(), "{0}=dict({0})"),
    "Chroma": ({"ids": ROWS, "distances": [[0.5], [0.25]]}, "{0}={0}['ids']"),
}
"""Containers of other libraries, and what to write for them."""


@pytest.mark.parametrize("argument", ["truth", "predictions"])
@pytest.mark.parametrize("library", CONTAINERS)
def test_f97_containers_of_other_libraries_are_answered_with_a_line_that_reads_them(
    library: str, argument: str
) -> None:
    value, line = CONTAINERS[library]
    with pytest.raises(exactk.InputTypeError) as caught:
        exactk.evaluate(**{"truth": ROWS, "predictions": [*ROWS], argument: value}, metrics="recall@1")
    line = line.format(argument)
    assert f"; {line}" in str(caught.value)
    read = eval(line.removeprefix(f"{argument}="), {argument: value, "pd": pd})  # noqa: S307 - the hint is our own
    assert exactk.as_truth(read).items.tolist() in ([0, 1], ["a", "b"])


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (of_library("pyspark.sql.dataframe", columns=["user"]), "exactk.spark.evaluate(truth, predictions, metrics)"),
        (of_library("dask.dataframe.core", columns=["user"]), "exactk.dask.evaluate(truth, predictions, metrics)"),
        (of_library("ray.data.dataset", to_pandas=lambda _: FRAME), "exactk.ray.evaluate(truth, predictions, metrics)"),
        (
            of_library("torch.utils.data", __iter__=lambda _: iter(())),
            "evaluate(None, iter(predictions), metrics) takes",
        ),
        (exactk.evaluate(ROWS, [*ROWS], "mrr"), "exactk.compare_reports({'a': a, 'b': b}) compares reports"),
        (
            exactk.compare(ROWS, {"a": [*ROWS], "b": [*ROWS]}, "mrr"),
            "exactk.compare_reports({'a': a, 'b': b}) compares reports",
        ),
        (exactk.as_truth(ROWS), "evaluate(predictions, truth, metrics) if they are the other way round"),
        (len, "predictions={user: predictions(user) for user in users}"),
    ],
)
def test_f97_what_another_function_takes_is_answered_with_its_name(value: Any, hint: str) -> None:
    with pytest.raises(exactk.InputTypeError, match=re.escape(hint)):
        exactk.evaluate(ROWS, value, "mrr")


def test_f97_scores_as_truth_are_likely_the_wrong_way_round() -> None:
    values: list[Any] = [exactk.Scores([[1.0, 2.0]]), rankings_of([[1]]), exactk.Embeddings([[1.0]], [[1.0]])]
    for value in values:
        with pytest.raises(exactk.InputTypeError, match="; evaluate\\(predictions, truth, metrics\\) if"):
            exactk.evaluate(value, [[0]], "mrr")


class Tensor:
    """A tensor of a type that NumPy lacks, as torch has them."""

    device, layout, requires_grad = "cpu", "torch.strided", False

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __dlpack__(self, **_: Any) -> object:
        raise BufferError("Unsupported dtype in DLTensor.")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def float(self) -> Any:
        return np.array([[0.5, 0.75], [0.75, 0.5]], np.float32)


class Array(Tensor):
    """An array of such a type, as JAX has them, without `float`."""

    float = property()

    def astype(self, dtype: str) -> Any:
        return np.array([[0.5, 0.75], [0.75, 0.5]], dtype)


@pytest.mark.parametrize("dtype", ["torch.bfloat16", "bfloat16"])
def test_bfloat16_is_read_as_the_float32_that_it_is(dtype: str) -> None:
    tensor: Any = (Tensor if dtype.startswith("torch.") else Array)(dtype)
    for scores in (tensor, exactk.Scores(tensor)):
        assert exactk.evaluate([[1], [0]], scores, "mrr")["mrr"] == 1.0
    assert exactk.topk(exactk.Embeddings(tensor, tensor), 1).scores.tolist() == [[0.8125], [0.8125]]


@pytest.mark.parametrize("dtype", ["torch.float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("form", ["array", "list", "mapping"])
def test_f97_types_that_numpy_lacks_are_answered_with_a_conversion(dtype: str, form: str) -> None:
    tensor: Any = (Tensor if dtype.startswith("torch.") else Array)(dtype)
    predictions = {"array": tensor, "list": [tensor], "mapping": {"q1": tensor}}[form]
    with pytest.raises(exactk.InputTypeError, match=f"found .*{dtype.removeprefix('torch.')}") as caught:
        exactk.evaluate([[1], [0]], predictions, "mrr")
    read = pasted(str(caught.value), "predictions", predictions)
    matrix = {"array": lambda: read, "list": lambda: read[0], "mapping": lambda: read["q1"]}[form]()
    assert exactk.evaluate([[1], [0]], matrix, "mrr")["mrr"] == 1.0


OUT_OF_RANGE = [-5, 2**63, 2**64, 10**30]
INTEGERS: dict[str, Callable[[int], Any]] = {
    "lists": lambda item: [[item]],
    "mapping": lambda item: {"q1": [item]},
    "frame": lambda item: pd.DataFrame({"user": ["q1"], "item": [item]}),
    "frame of lists": lambda item: pd.DataFrame({"user": ["q1"], "item": [[item]]}),
    "Series": lambda item: pd.Series([[item]], index=["q1"]),
    "array": lambda item: np.array([[item, item + 1]]),
    "list of arrays": lambda item: [np.array([item])],
}


@pytest.mark.parametrize("item", OUT_OF_RANGE)
@pytest.mark.parametrize("container", INTEGERS)
def test_f97_integers_that_are_no_ids_are_answered_with_strings(container: str, item: int) -> None:
    with pytest.raises(exactk.ExactkError, match=r"str\(|\.astype\(str\)|\.tolist\(\)"):
        exactk.as_truth(INTEGERS[container](item))


def test_f97_integers_in_files_are_answered_with_an_option(tmp_path: Path, run: Run) -> None:
    (tmp_path / "test.csv").write_text("user,item\n1,-5\n")
    (tmp_path / "run.csv").write_text("user,item,rank\n1,-5,1\n")
    with pytest.raises(exactk.InputError, match=r"exactk\.read\(path, role, text_ids=True\)"):
        exactk.read(tmp_path / "test.csv", "truth")
    truth = exactk.read(tmp_path / "test.csv", "truth", text_ids=True)
    assert exactk.evaluate(truth, {"1": ["-5"]}, "mrr")["mrr"] == 1.0
    result = run("evaluate", str(tmp_path / "test.csv"), str(tmp_path / "run.csv"))
    assert result.code == 2
    assert "; convert the ids of all inputs with str(id) or column.astype(str); --text-ids reads" in result.err


SUITABLE = [
    uuid.UUID(int=1),
    pd.Timestamp("2020-01-01"),
    dt.date(2020, 1, 1),
    Path("a"),
    np.str_("a"),
    np.int64(3),
    b"a",
]


@pytest.mark.parametrize("item", SUITABLE, ids=lambda item: type(item).__name__)
def test_f97_objects_with_a_text_of_their_own_are_items(item: Any) -> None:
    assert exactk.evaluate({"q1": [item]}, {"q1": [item]}, "recall@1")["recall@1"] == 1.0
    frame = pd.DataFrame({"user": ["q1"], "item": pd.Series([item], dtype=object), "rank": [1]})
    assert exactk.evaluate(frame.drop(columns="rank"), frame, "recall@1")["recall@1"] == 1.0


@pytest.mark.parametrize("item", [object(), Document("a"), ScoredDocument("a", 0.5), Plain("a", 0.5)])
def test_f97_objects_without_a_text_of_their_own_are_none(item: Any) -> None:
    frame = pd.DataFrame({"user": ["q1"], "item": pd.Series([item], dtype=object)})
    for truth in ({"q1": [item]}, [[item]], frame):
        with pytest.raises(exactk.InputTypeError, match=f"found {type(item).__name__}"):
            exactk.evaluate(truth, copy.copy(truth), "recall@1")


METRICS: list[tuple[Any, str]] = [
    (exactk.recall_at_k, "; metrics='recall@10' is the metric of this name"),
    (sklearn.metrics.ndcg_score, "; metrics='ndcg@10' is the metric of this name"),
    (print, "; metrics=exactk.custom('print', print, k=10) if it takes exactk.results.JudgedLists"),
    ([print], "; metrics=exactk.custom('print', print, k=10) if it takes exactk.results.JudgedLists"),
    (10, "; metrics='ndcg@10' has the cutoff"),
]


@pytest.mark.parametrize(("metric", "hint"), METRICS)
def test_f97_what_is_no_metric_is_answered_with_one(metric: Any, hint: str) -> None:
    with pytest.raises(exactk.ExactkError, match=f"{re.escape(hint)}$"):
        exactk.evaluate(ROWS, [*ROWS], metric)
    line = re.split(" is the| has the", hint.removeprefix("; metrics="))[0]
    if "custom" not in line and "did you" not in line:
        exactk.evaluate(ROWS, [*ROWS], eval(line, {"metrics": metric}))  # noqa: S307 - the hint is our own


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"k": 10}, "metrics='mrr@10' has the cutoff"),
        ({"cutoffs": [5, 10]}, "metrics='mrr@[5, 10]' has the cutoff"),
        ({"relevance_threshold": 4}, "convention={'min_grade': 4}"),
        ({"ties": "expected"}, "convention={'ties': 'expected'}"),
        ({"train": 4}, "did you mean exclude=train, whose items leave the lists, or items=exactk.Items(train=train)?"),
        ({"n_jobs": 4}, "did you mean 'num_threads'?"),
        ({"per_users": True}, "did you mean 'per_user'?"),
        ({"metric": "mrr"}, "did you mean 'metrics'?"),
        ({"seed": 1}, "exactk.compare(truth, systems, metrics, ...) takes it"),
    ],
)
def test_f97_options_of_other_libraries_are_answered_with_those_here(option: Any, hint: str) -> None:
    for evaluate in (exactk.evaluate, exactk.reference.evaluate):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '.*'; {re.escape(hint)}$"):
            evaluate(ROWS, ROWS, "mrr", **option)
        if keyword := re.match("(metrics|convention)=(.*?)( has the cutoff)?$", hint):
            value = eval(keyword[2])  # noqa: S307 - the hint is our own
            evaluate([{"a": 4}, {"b": 5}], ROWS, **{"metrics": "mrr", keyword[1]: value})


def test_f97_a_list_of_systems_is_answered_with_names() -> None:
    systems: Any = [{"q1": ["a"]}, {"q1": ["b", "a"]}]
    with pytest.raises(exactk.InputTypeError, match=r"; systems=.* names several$") as caught:
        exactk.compare({"q1": ["a"]}, systems, "mrr")
    line = str(caught.value).partition("; systems=")[2].removesuffix(" names several")
    named = eval(line, {"systems": systems})  # noqa: S307 - the hint is our own
    assert dict(exactk.compare({"q1": ["a"]}, named, "mrr")["mrr"]) == {"system 0": 1.0, "system 1": 0.5}
    pairs: Any = list(named.items())
    with pytest.raises(exactk.InputTypeError, match=r"; systems=dict\(systems\) names them"):
        exactk.compare({"q1": ["a"]}, pairs, "mrr")


def test_f97_groups_that_were_not_asked_for_are_answered_with_the_argument() -> None:
    report = exactk.evaluate(ROWS, [*ROWS], "mrr")
    assert not report.by_group
    with pytest.raises(KeyError, match="no groups; groups= in the call gives each user one"):
        report.by_group["new"]
    with pytest.raises(KeyError, match="per_user=True"):
        report.per_user["mrr"]


def test_f97_a_series_of_hits_keeps_its_index() -> None:
    series = pd.Series([FORMS["records of distances"](HITS)], index=["q1"])
    with pytest.raises(exactk.InputTypeError, match=r"; predictions=predictions\.map") as caught:
        exactk.evaluate({"q1": ["a"]}, series, "mrr")
    assert exactk.evaluate({"q1": ["a"]}, pasted(str(caught.value), "predictions", series), "mrr")["mrr"] == 0.5


@pytest.mark.parametrize("metrics", ["recall@1", ["recall@1", "mrr"]])
def test_f97_metrics_before_the_predictions_are_answered_with_the_order(metrics: Any) -> None:
    keyed: Any = {"q1": ["a"]}
    for arguments in ((keyed, metrics, keyed), (metrics, keyed, keyed)):
        with pytest.raises(exactk.ExactkError, match=r"; the order is \(truth, predictions, metrics\)$"):
            exactk.evaluate(*arguments)
        with pytest.raises(exactk.ExactkError, match=r"; the order is \(truth, {system: predictions}, metrics\)$"):
            exactk.compare(*arguments)


@pytest.mark.parametrize("rows", [[[("a", 0.5), ("a", 0.25)]], [[("a", 0.5), "b"]]])
@pytest.mark.parametrize("keyed", [True, False])
def test_f97_pairs_that_are_read_get_no_line_that_would_hide_their_fault(rows: Any, keyed: bool) -> None:
    predictions = {"q1": rows[0]} if keyed else rows
    with pytest.raises(exactk.ExactkError) as caught:
        exactk.evaluate({"q1": ["a"]} if keyed else [["a"]], predictions, "mrr")
    assert "hit[0]" not in str(caught.value)


NAMES = st.tuples(
    st.sampled_from(["id", "_id", "docid", "doc_id", "item_id", "corpus_id"]),
    st.sampled_from(["score", "_score", "similarity", "distance"]),
)


@given(
    NAMES,
    st.permutations(["a", "b", "c", "d"]),
    st.booleans(),
    st.dictionaries(st.text("xyz", min_size=1), st.integers()),
)
def test_f97_records_of_any_names_are_answered_with_a_line_that_reads_them(
    names: tuple[str, str], items: list[str], are_objects: bool, others: dict[str, int]
) -> None:
    sign = -1 if names[1] == "distance" else 1
    records = [{**others, names[0]: item, names[1]: sign / rank} for rank, item in enumerate(items, 1)]
    predictions: Any = {"q1": [SimpleNamespace(**one) for one in records] if are_objects else records}
    if sign > 0 and not are_objects:
        assert exactk.evaluate({"q1": ["a"]}, predictions, "mrr")["mrr"] == 1 / (items.index("a") + 1)
        return
    with pytest.raises(exactk.InputTypeError, match="; predictions=") as caught:
        exactk.evaluate({"q1": ["a"]}, predictions, "mrr")
    read = pasted(str(caught.value), "predictions", predictions)
    assert exactk.evaluate({"q1": ["a"]}, read, "mrr")["mrr"] == 1 / (items.index("a") + 1)
