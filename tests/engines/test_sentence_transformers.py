"""`exactk.sentence_transformers` beside the evaluator of sentence-transformers, on a model made on the spot."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactk

torch: Any = pytest.importorskip("torch", reason="install torch, as `make engines` does")
library: Any = pytest.importorskip("sentence_transformers", reason="exactk.sentence_transformers needs it")

from sentence_transformers import util  # noqa: E402 - found above
from sentence_transformers.sentence_transformer import evaluation  # noqa: E402 - likewise
from sentence_transformers.sentence_transformer.modules import BoW  # noqa: E402 - likewise

from exactk.sentence_transformers import InformationRetrievalEvaluator as Ours  # noqa: E402 - it needs both

pytestmark = [pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning"), pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]  # fmt: skip

Theirs: Any = evaluation.InformationRetrievalEvaluator
RNG = np.random.default_rng(0)
WORDS = [f"w{number}" for number in range(20)]


def text(count: int) -> str:
    return " ".join(RNG.choice(WORDS, count))


# Ids whose order is not that of the corpus, documents that repeat and so tie, and one of no word, whose vector is zero.
CORPUS = {f"d{number}": text(9) for number in RNG.permutation(300)}
CORPUS |= {f"e{number}": CORPUS[f"d{number}"] for number in range(100)} | {"zero": "unknown"}
QUERIES = {f"q{number}": text(4) for number in RNG.permutation(50)} | {"zero": "unknown"}
RELEVANT = {f"q{number}": {f"d{item}" for item in RNG.choice(320, 6, replace=False)} for number in range(45)}
RELEVANT |= {"q45": set(), "zero": {"d1"}, "of no query": {"d2"}}
CUTOFFS: dict[str, Any] = {"mrr_at_k": [3, 10], "ndcg_at_k": [7, 10], "accuracy_at_k": [2, 20], "precision_recall_at_k": [1, 50], "map_at_k": [100, 9]}  # fmt: skip


class Rounded(torch.nn.Module):  # type: ignore[misc]
    """Weights of words in eighths, whose products are exact in float32."""

    def __init__(self, dtype: Any = torch.float32) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weights = torch.randint(-8, 8, (len(WORDS), 12), generator=generator).float() / 8
        self.dtype = dtype

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        features["sentence_embedding"] = (features["sentence_embedding"] @ self.weights).to(self.dtype)
        return features


def model(similarity: str = "dot", dtype: Any = torch.float32) -> Any:
    modules = [BoW(WORDS), Rounded(dtype)]
    return library.SentenceTransformer(modules=modules, device="cpu", similarity_fn_name=similarity)


def both(folder: Path, similarity: str = "dot", **options: Any) -> list[dict[str, float]]:
    """Return the values of both, which write to folders of their names."""
    evaluators = [kind(QUERIES, CORPUS, RELEVANT, **options) for kind in (Theirs, Ours)]
    values = [evaluator(model(similarity), str(folder / name)) for evaluator, name in zip(evaluators, ("theirs", "ours"), strict=True)]  # fmt: skip
    assert evaluators[0].primary_metric == evaluators[1].primary_metric
    assert evaluators[0].get_config_dict() == evaluators[1].get_config_dict()
    assert list(values[0]) == list(values[1])
    return values


def files(folder: Path, pattern: str) -> list[tuple[str, str]]:
    return [(path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob(pattern))]


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean", "manhattan"])
@pytest.mark.parametrize("chunk", [50_000, 37])
def test_values_are_theirs(similarity: str, chunk: int, tmp_path: Path) -> None:
    theirs, ours = both(tmp_path, similarity, corpus_chunk_size=chunk, name="set")
    # Cosines and distances are rounded to float32 there, which may change the order.
    tolerance = 1e-12 if similarity in {"dot", "manhattan"} else 0.01
    assert ours == pytest.approx(theirs, abs=tolerance)
    assert len(set(ours.values())) > 9


def test_options_and_score_functions_have_their_meaning(tmp_path: Path) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "own": lambda a, b: -torch.cdist(a, b, p=1).round(),
        "dot": util.dot_score,
    }
    options: dict[str, Any] = CUTOFFS | {
        "score_functions": functions,
        "truncate_dim": 5,
        "batch_size": 7,
        "query_prompt": "w3 w3 ",
    }
    theirs, ours = both(tmp_path, **options)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert ours != pytest.approx(both(tmp_path, **options | {"truncate_dim": 6})[1], abs=1e-3)
    assert ours != pytest.approx(both(tmp_path, **options | {"query_prompt": "w4 w4 "})[1], abs=1e-3)
    named = both(tmp_path, **options, main_score_function="dot", corpus_prompt="w1 ")
    assert named[1] == pytest.approx(named[0], abs=1e-12)


def test_blocks_of_queries_are_one_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("exactk.sentence_transformers._MOST_SCORES", 7 * len(CORPUS))
    theirs, ours = both(tmp_path, "manhattan", corpus_chunk_size=37, write_predictions=True)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert len({content for _, content in files(tmp_path, "*/*.jsonl")}) == 1


def test_files_are_theirs(tmp_path: Path) -> None:
    functions = {"dot": util.dot_score, "cosine": util.cos_sim}
    for _ in range(2):  # rows are added
        both(tmp_path, name="set", score_functions=functions, write_predictions=True, **CUTOFFS)
    ((name, theirs),) = files(tmp_path / "theirs", "*.csv")
    ((same_name, ours),) = files(tmp_path / "ours", "*.csv")
    (header, *rows), (same_header, *same_rows) = theirs.splitlines(), ours.splitlines()
    assert (name, header, len(rows)) == (same_name, same_header, len(same_rows)) == (name, header, 2)
    for row, other in zip(rows, same_rows, strict=True):
        numbers = [float(cell) for cell in row.split(",")]
        dots = header.split(",").index("dot-Accuracy@2")
        assert [float(cell) for cell in other.split(",")][dots:] == pytest.approx(numbers[dots:], abs=1e-12)
    predictions = [files(tmp_path / side, "*.jsonl") for side in ("theirs", "ours")]
    assert [name for name, _ in predictions[0]] == [name for name, _ in predictions[1]]
    assert predictions[0][1] == predictions[1][1]  # of dot, whose scores are exact: the same bytes
    cosines = [[json.loads(line) for line in content.splitlines()] for ((_, content), _) in predictions]
    for theirs_line, ours_line in zip(*cosines, strict=True):
        assert theirs_line["query"] == ours_line["query"]
        scores = [[hit["score"] for hit in line["results"]] for line in (theirs_line, ours_line)]
        assert scores[1] == pytest.approx(scores[0], abs=1e-6)


def test_neither_writes_where_it_is_not_asked_to(tmp_path: Path) -> None:
    both(tmp_path, write_csv=False)
    assert files(tmp_path, "*/*") == []


def test_grades_are_gains_unless_the_convention_is_binary() -> None:
    grades = {query: dict.fromkeys(sorted(items)[1:], 1) | {min(items): 3} for query, items in RELEVANT.items() if items}  # fmt: skip
    kept = {query: QUERIES[query] for query in grades if query in QUERIES}
    binary = Ours(QUERIES, CORPUS, grades, convention={"gain": "binary"})(model())
    assert binary == pytest.approx(Theirs(QUERIES, CORPUS, RELEVANT)(model()), abs=1e-12)
    graded = Ours(kept, CORPUS, grades)(model())
    assert graded["dot_recall@10"] == binary["dot_recall@10"]
    embedded = exactk.Embeddings(
        model().encode(list(kept.values())), model().encode(list(CORPUS.values())), users=[*kept], items=[*CORPUS]
    )
    truth = {query: grades[query] for query in kept}
    assert graded["dot_ndcg@10"] == exactk.evaluate(truth, embedded, "ndcg@10")["ndcg@10"] != binary["dot_ndcg@10"]


def test_more_metrics_have_keys_columns_and_reports(tmp_path: Path) -> None:
    evaluator = Ours(QUERIES, CORPUS, RELEVANT, name="set", score_functions={"dot": util.dot_score, "a": util.cos_sim}, metrics=["recall@[2,30]", "P@10"])  # fmt: skip
    values = evaluator(model(), str(tmp_path), epoch=1, steps=20)
    values = evaluator(model(), str(tmp_path), epoch=2, steps=40)
    assert values["set_dot_P@10"] == values["set_dot_precision@10"]
    assert values["set_a_recall@30"] == evaluator.reports["a"]["recall@30"]
    ((_, content),) = files(tmp_path, "*.csv")
    header, first, second = (line.split(",") for line in content.splitlines())
    added = [f"{name}-{metric}" for name in ("a", "dot") for metric in ("recall@2", "recall@30", "P@10")]
    assert header[-6:] == added
    assert (first[:2], second[:2], first[2:]) == (["1", "20"], ["2", "40"], second[2:])
    keys = [f"set_{column.replace('-', '_', 1)}" for column in added]
    assert [float(cell) for cell in second[-6:]] == [values[key] for key in keys]
    assert len(second) == len(header)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_embeddings_of_every_type_are_ranked_as_they_are(dtype: Any) -> None:
    """The vectors are exact in every type, so the values are those of float32."""
    exact = Ours(QUERIES, CORPUS, RELEVANT)
    assert exact(model(dtype=dtype)) == exact(model())


def test_embeddings_may_be_given_or_of_another_model() -> None:
    evaluator = Ours(QUERIES, CORPUS, RELEVANT)
    given = model().encode(list(CORPUS.values()), convert_to_tensor=True)
    whole = evaluator(model())
    assert evaluator(model(), corpus_embeddings=given) == evaluator(model(), corpus_embeddings=given.numpy()) == whole
    assert evaluator(model(), corpus_embeddings=-given) != whole
    other = model()
    other[1].weights = -other[1].weights
    assert evaluator(model(), corpus_model=other) == evaluator(model(), corpus_embeddings=-given)
    with pytest.raises(exactk.InputTypeError, match=r"model: expected dense embeddings, found sparse ones"):
        evaluator(model(), corpus_embeddings=given.to_sparse())
    with pytest.raises(exactk.InputError, match="finite"):
        evaluator(model(), corpus_embeddings=given * float("nan"))


def test_it_is_one_of_theirs_for_trainers_and_model_cards() -> None:
    evaluator = pickle.loads(pickle.dumps(Ours(QUERIES, CORPUS, RELEVANT, name="set")))  # noqa: S301 - our own
    evaluated = model()
    together = evaluation.SequentialEvaluator([evaluator])(evaluated)
    assert together["sequential_score"] == together["set_dot_ndcg@10"]
    (noted,) = [one for one in evaluated.model_card_data.eval_results_dict if one is evaluator]
    assert noted.description == "Information Retrieval"
    assert evaluated.model_card_data.training_logs[-1]["set_dot_ndcg@10"] == together["set_dot_ndcg@10"]
    evaluated.similarity_fn_name = "cosine"  # an evaluator follows the model
    assert "set_cosine_map@100" in evaluator(evaluated)


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no cutoff": ({"ndcg_at_k": []}, r"ndcg_at_k: expected a cutoff, for the primary metric, found none"),
    "cutoff": ({"map_at_k": [0]}, r"average_precision@0"),
    "metric": ({"metrics": "ndgc@10"}, r"ndgc"),
    "convention": ({"convention": "their"}, r"convention"),
    "ids": ({"relevant_docs": {1: {"d1"}}}, r"found none; the first id of queries is 'q\d+', of relevant_docs 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_said_before_a_model_is_loaded(fault: str) -> None:
    options, message = FAULTS[fault]
    arguments: dict[str, Any] = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": RELEVANT, **options}
    with pytest.raises(exactk.InputError, match=message):
        Ours(**arguments)
