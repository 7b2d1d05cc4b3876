"""The evaluator of sentence-transformers and ours, on vectors that are given: what is timed is all but the encoding.

``build/engines/venv/bin/python -m benchmarks.embedding_models [QUERIES DOCUMENTS DIMENSIONS]``, after `make engines`,
prints the seconds of both, and of the product of the vectors alone, which both need.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from benchmarks.answers import compare
from benchmarks.timing import compete, seconds, turn
from benchmarks.workload import SEED

ROUNDS, RELEVANT = 5, 4
PROMISED = 5  # times as fast as theirs
SAME = 1e-9  # relative: theirs rounds scores to float32


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return how much CPU time of all threads one call takes."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def encoder(vectors: NDArray[np.float32]) -> Callable[..., object]:
    """Return what encodes texts, which are numbers of these vectors."""
    from_numpy = import_module("torch").from_numpy
    return lambda texts, **_: from_numpy(vectors[int(texts[0]) : int(texts[-1]) + 1])


def main(count: int = 10_000, size: int = 100_000, dimensions: int = 384) -> None:
    """Draw documents, and queries that are near to some of them; print."""
    torch, util = import_module("torch"), import_module("sentence_transformers.util")
    theirs = import_module("sentence_transformers.sentence_transformer.evaluation").InformationRetrievalEvaluator
    ours = import_module("exactk.sentence_transformers").InformationRetrievalEvaluator
    generator = np.random.default_rng(SEED)
    queries, documents = (generator.standard_normal((rows, dimensions), np.float32) for rows in (count, size))
    relevant = generator.integers(size, size=(count, RELEVANT))
    queries += documents[relevant].sum(axis=1) / 3
    texts, corpus = ({str(row): str(row) for row in range(rows)} for rows in (count, size))
    truth = {str(row): set(map(str, items)) for row, items in enumerate(relevant.tolist())}
    model = SimpleNamespace(
        encode_query=encoder(queries),
        encode_document=encoder(documents),
        similarity=util.cos_sim,
        similarity_fn_name="cosine",
        model_card_data=SimpleNamespace(set_evaluation_metrics=lambda *_: None),
    )
    evaluators = {
        name: kind(texts, corpus, truth, write_csv=False) for name, kind in (("theirs", theirs), ("ours", ours))
    }
    compare("values", evaluators["theirs"](model), evaluators["ours"](model), SAME)
    calls: dict[str, Callable[[], object]] = {name: partial(one, model) for name, one in evaluators.items()}
    calls["product"] = partial(torch.mm, torch.from_numpy(queries), torch.from_numpy(documents).T)
    for unit, measure in (("seconds", seconds), ("CPU seconds", cpu_seconds)):
        turns = {name: partial(turn, call, 0, measure) for name, call in calls.items()}
        samples = compete(turns, ROUNDS)
        figures = ", ".join(f"{name} {sample.median:.3g}" for name, sample in samples.items())
        ratio, bound = (samples["theirs"].ratio_to(samples[name]) for name in ("ours", "product"))
        print(f"{unit}: {figures}; {ratio:.2f} x as fast, of {bound:.2f} x for the product alone (asked: {PROMISED} x)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
