"""The evaluator of sentence-transformers for retrieval, with exact neighbours and any metric.

Install it with ``pip install 'exactk[sentence-transformers]'``.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactk._evaluator import Evaluator
from exactk._inputs.embeddings import Embeddings
from exactk._inputs.model.scores import Scores
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import CustomMetric, MetricEntry
from exactk._runtime import optional
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.written_files import write_file
from exactk._topk import topk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator as _Theirs
    from sentence_transformers.util import SimilarityFunction
    from torch import Tensor

    from exactk._plan.conventions import ConventionLike
    from exactk._plan.literals import Similarity
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report

    ScoreFunction = Callable[[Tensor, Tensor], Tensor]

__all__ = ["InformationRetrievalEvaluator"]

_torch, _library = optional.torch_and_sentence_transformers("exactk.sentence_transformers")
if not TYPE_CHECKING:
    _Theirs = _library.sentence_transformer.evaluation.InformationRetrievalEvaluator

_logger = logging.getLogger(_Theirs.__module__)
_METRICS = {
    "accuracy": "hit_rate",
    "precision": "precision",
    "recall": "recall",
    "ndcg": "ndcg",
    "mrr": "reciprocal_rank",
    "map": "average_precision",
}
"""The names of the metrics there and here."""
_MOST_SCORES = 1 << 26  # of a block of queries


class InformationRetrievalEvaluator(_Theirs):  # type: ignore[misc] # sentence-transformers may not be installed
    """The evaluator of retrieval of sentence-transformers 6.2, with exact neighbours and any metric.

    It derives from theirs, and has its arguments, keys, files and ``primary_metric``, so that trainers and model cards take
    it. Cosines, products and Euclidean distances of the embeddings are exact, in float64, and ranked about twice as fast on a
    CPU. Ties are in ascending order of ids. Documents whose id is that of the query stay.

    Parameters
    ----------
    queries, corpus : mapping of {str: str}
        The texts by id, as theirs.
    relevant_docs : mapping of {str: set of str}
        The relevant documents of each query, or mappings from document to grade, which are gains of nDCG; a document of
        grade 0 is not relevant. ``convention={"gain": "binary"}`` ignores grades, as theirs does. Queries without any are
        left out.
    corpus_chunk_size : int
        How many documents are encoded at a time. The embeddings of all are kept in the CPU's memory, in their own type.
    mrr_at_k, ndcg_at_k, accuracy_at_k, precision_recall_at_k, map_at_k : sequence of int
        The cutoffs of the metrics. All but those of ``ndcg`` may be empty.
    show_progress_bar, batch_size, name, write_csv, truncate_dim
        As theirs.
    score_functions : mapping of {str: function}, optional
        As theirs: by default, the ``similarity`` of the model. Functions other than `cos_sim`, `dot_score` and
        `euclidean_sim` are called for blocks of queries and of ``corpus_chunk_size`` documents.
    main_score_function, query_prompt, query_prompt_name, corpus_prompt, corpus_prompt_name
        As theirs.
    write_predictions : bool
        As theirs. Ties are in ascending order of ids under any convention.
    metrics : str, CustomMetric or sequence of them
        More metrics, as in `exactk.evaluate`, under keys such as ``"cosine_recall@100"``, and in further columns of the
        file, after those of all score functions.
    convention : Convention, str or mapping
        As in `exactk.evaluate`, of all metrics.

    Attributes
    ----------
    reports : dict of {str: Report}
        The reports of the last call, by score function.

    Raises
    ------
    InputError, InputTypeError
        If a metric or the convention is invalid, or no query has a relevant document; and, when a model is evaluated, if
        embeddings are not finite or not dense.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` does, when a model is evaluated.

    Examples
    --------
    >>> from exactk.sentence_transformers import InformationRetrievalEvaluator
    >>> from sentence_transformers import SentenceTransformer
    >>> from sentence_transformers.sentence_transformer.modules import BoW
    >>> model = SentenceTransformer(modules=[BoW(["cat", "dog", "old", "red"])], device="cpu")
    >>> evaluator = InformationRetrievalEvaluator(
    ...     {"q1": "old cat", "q2": "red dog"},
    ...     {"d1": "cat", "d2": "dog", "d3": "old dog"},
    ...     {"q1": {"d1": 2, "d3": 1}, "q2": {"d3": 1}},
    ...     ndcg_at_k=[2],
    ...     precision_recall_at_k=[1],
    ...     metrics="recall@2",
    ... )
    >>> values = evaluator(model)
    >>> evaluator.primary_metric, round(values["cosine_ndcg@2"], 4), values["cosine_recall@2"]
    ('cosine_ndcg@2', 0.8155, 1.0)
    """

    score_functions: Mapping[str, ScoreFunction]

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        relevant_docs: Mapping[str, Collection[str] | Mapping[str, float]],
        corpus_chunk_size: int = 50_000,
        mrr_at_k: Sequence[int] = (10,),
        ndcg_at_k: Sequence[int] = (10,),
        accuracy_at_k: Sequence[int] = (1, 3, 5, 10),
        precision_recall_at_k: Sequence[int] = (1, 3, 5, 10),
        map_at_k: Sequence[int] = (100,),
        show_progress_bar: bool = False,  # noqa: FBT001, FBT002 - as theirs may be given by position
        batch_size: int = 32,
        name: str = "",
        write_csv: bool = True,  # noqa: FBT001, FBT002 - likewise
        truncate_dim: int | None = None,
        score_functions: Mapping[str, ScoreFunction] | None = None,
        main_score_function: str | SimilarityFunction | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
        write_predictions: bool = False,  # noqa: FBT001, FBT002 - likewise
        *,
        metrics: MetricsLike = (),
        convention: ConventionLike = "standard",
    ) -> None:
        self.convention = as_convention(convention)
        self._added = [metrics] if isinstance(metrics, (str, CustomMetric, MetricEntry)) else list(metrics)
        self._spellings = [value.spelling for value in plan(self._added, self.convention)] if self._added else []
        self.reports: dict[str, Report] = {}
        super().__init__(
            queries,
            corpus,
            relevant_docs,
            corpus_chunk_size,
            mrr_at_k,
            ndcg_at_k,
            accuracy_at_k,
            precision_recall_at_k,
            map_at_k,
            show_progress_bar,
            batch_size,
            name,
            write_csv,
            truncate_dim,
            score_functions,
            main_score_function,
            query_prompt,
            query_prompt_name,
            corpus_prompt,
            corpus_prompt_name,
            write_predictions,
        )
        if not ndcg_at_k:
            raise input_error("ndcg_at_k", "a cutoff, for the primary metric", "none")
        if not self.queries_ids:
            ids = [repr(next(iter(one), None)) for one in (queries, relevant_docs)]
            found = f"none; the first id of queries is {ids[0]}, of relevant_docs {ids[1]}"
            raise input_error("relevant_docs", "a query with relevant documents", found)
        cutoffs = (accuracy_at_k, precision_recall_at_k, precision_recall_at_k, ndcg_at_k, mrr_at_k, map_at_k)
        self._cutoffs = dict(zip(_METRICS, map(list, cutoffs), strict=True))
        plan(self._strings(), self.convention)

    def _strings(self) -> list[Any]:
        return [f"{_METRICS[name]}@{k}" for name, ks in self._cutoffs.items() for k in ks] + self._added

    def _append_csv_headers(self, score_function_names: Sequence[str]) -> None:
        super()._append_csv_headers(score_function_names)
        self.csv_headers += [f"{name}-{metric}" for name in score_function_names for metric in self._spellings]

    def __call__(
        self,
        model: SentenceTransformer,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,  # noqa: ANN401 - those of compute_all_metrics
        **kwargs: Any,  # noqa: ANN401 - likewise
    ) -> dict[str, float]:
        """Return the values of a model by name of the evaluator, score function and metric, and write the files.

        Parameters
        ----------
        model, output_path, epoch, steps
            As theirs.
        *args, **kwargs
            ``corpus_model``, which encodes the documents, or ``corpus_embeddings``, as theirs.
        """
        values: dict[str, float] = super().__call__(model, output_path, epoch, steps, *args, **kwargs)
        if output_path is not None and self.write_csv and self._spellings:
            path = Path(output_path, self.csv_file)
            added = [self.reports[name][metric] for name in self.score_function_names for metric in self._spellings]
            rows = path.read_text(encoding="utf-8").removesuffix("\n")
            write_file(path, f"{rows},{','.join(map(str, added))}\n".encode())
        return values

    def compute_all_metrics(
        self,
        model: SentenceTransformer,
        corpus_model: SentenceTransformer | None = None,
        corpus_embeddings: Tensor | None = None,
        output_path: str | None = None,
    ) -> dict[str, dict[str, dict[Any, float]]]:
        """Return the values by score function, metric and cutoff, and write the predictions."""
        queries = self._embeddings(model, self.queries, "query", self.query_prompt_name, self.query_prompt)
        if corpus_embeddings is None:
            starts, size = range(0, len(self.corpus), self.corpus_chunk_size), self.corpus_chunk_size
            prompts = ("document", self.corpus_prompt_name, self.corpus_prompt)
            chunks = (self.corpus[start : start + size] for start in starts)
            encoder = model if corpus_model is None else corpus_model
            corpus = _torch.cat([self._embeddings(encoder, chunk, *prompts).cpu() for chunk in chunks])
        else:
            corpus = _dense(_torch.as_tensor(corpus_embeddings)).cpu()
        self.reports = {
            name: self._report(name, self._scores(function, queries, corpus), output_path)
            for name, function in self.score_functions.items()
        }
        _logger.info("Queries: %d", len(self.queries))
        _logger.info("Corpus: %d\n", len(self.corpus))
        scores: dict[str, dict[str, dict[Any, float]]] = {}
        for name, report in self.reports.items():
            by_cutoff = {
                f"{one}@k": {k: report[f"{_METRICS[one]}@{k}"] for k in ks} for one, ks in self._cutoffs.items()
            }
            _logger.info("Score-Function: %s", name)
            self.output_scores(by_cutoff)
            scores[name] = by_cutoff | {metric: {0: report[metric]} for metric in self._spellings}
        return scores

    def _embeddings(self, model: SentenceTransformer, texts: list[Any], kind: str, *prompts: str | None) -> Tensor:
        prompt_name, prompt = prompts
        return _dense(self.embed_inputs(model, texts, kind, prompt_name, prompt))

    def _report(self, name: str, blocks: Iterator[tuple[list[str], Embeddings | Scores]], folder: str | None) -> Report:
        """Return the report of a score function, and write its predictions."""
        evaluator = Evaluator(self._strings(), convention=self.convention, unit_names=("query", "document"))
        texts = dict(zip(self.queries_ids, self.queries, strict=True))
        depth = min(max(map(max, filter(None, self._cutoffs.values()))), len(self.corpus))
        lines = []
        for ids, scores in blocks:
            evaluator.update({query: self.relevant_docs[query] for query in ids}, scores)
            if not self.write_predictions or folder is None:
                continue
            best = topk(scores, depth)
            for query, *hits in zip(ids, best.items.tolist(), best.scores.tolist(), strict=True):
                results = [dict(zip(("corpus_id", "score"), hit, strict=True)) for hit in zip(*hits, strict=True)]
                lines.append(json.dumps({"query_id": query, "query": texts[query], "results": results}) + "\n")
        if self.write_predictions and folder is not None:
            path = Path(folder, self.predictions_file.replace(".jsonl", f"_{name}.jsonl"))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, "".join(lines).encode())
        return evaluator.compute()

    def _scores(
        self, function: ScoreFunction, queries: Tensor, corpus: Tensor
    ) -> Iterator[tuple[list[str], Embeddings | Scores]]:
        """Yield ids of queries with the scores of all documents."""
        similarity = _similarity(function)
        has_cosines = similarity != "cosine" or not (_has_zero_vector(queries) or _has_zero_vector(corpus))
        if similarity is not None and has_cosines:
            vectors = queries.detach().cpu(), corpus
            yield self.queries_ids, Embeddings(*vectors, similarity, users=self.queries_ids, items=self.corpus_ids)
            return
        size = max(1, _MOST_SCORES // len(self.corpus_ids))
        for start in range(0, len(self.queries_ids), size):
            ids, some = self.queries_ids[start : start + size], queries[start : start + size]
            chunks = (chunk.to(queries.device) for chunk in corpus.split(self.corpus_chunk_size))
            scores = _torch.cat([function(some, chunk).detach().cpu() for chunk in chunks], dim=1)
            yield ids, Scores(scores, users=ids, items=self.corpus_ids)


def _similarity(function: Any) -> Similarity | None:  # noqa: ANN401 - a function or a method of a model
    """Return which similarity a function of theirs, or the method of a model, computes; None for others."""
    model, util = getattr(function, "__self__", None), _library.util
    if isinstance(model, _library.SentenceTransformer) and function == model.similarity:
        is_theirs = type(model).similarity is _library.SentenceTransformer.similarity
        function = util.SimilarityFunction.to_similarity_fn(model.similarity_fn_name) if is_theirs else function
    similarities: tuple[tuple[Any, Similarity], ...] = (
        (util.cos_sim, "cosine"), (util.pytorch_cos_sim, "cosine"), (util.dot_score, "dot"), (util.euclidean_sim, "euclidean"),
    )  # fmt: skip
    return next((similarity for one, similarity in similarities if function is one), None)


def _has_zero_vector(vectors: Tensor) -> bool:
    """Return whether a vector has no direction: its cosines are 0 there, and an error here."""
    return not bool(vectors[vectors[:, 0] == 0].any(dim=1).all())


def _dense(embeddings: Tensor) -> Tensor:
    if embeddings.is_sparse:
        hint = "SparseInformationRetrievalEvaluator of sentence-transformers takes sparse ones"
        raise type_error("model", "dense embeddings", "sparse ones", hint=hint)
    return embeddings
