"""Fuzz the entry points of the extension: bytes become arrays, rules and values, which it must survive.

``make fuzz`` runs this over a build with sanitizers; ``FUZZ_SECONDS=36000 make fuzz`` runs it for hours.
With atheris and an instrumented build, coverage guides it; without, it mutates committed cases at random.
What must hold is `check`; an ordinary test replays the committed cases through it.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import exactk
import junk
from core_results import plain_result
from core_rules import CHOICES, core_rules
from exactk import _core
from exactk._engine.problem import TopKProblem
from exactk._inputs.model.lists import CandidateItems
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import SIMILARITIES
from exactk.reference.ranking import reference_ranker
from strategies import LAYOUTS, SCORE_DTYPES, Evaluation, parameter_of, with_layout
from test_reference import assert_same

if TYPE_CHECKING:
    from exactk._engine.core import CorePredictions, CoreScored

CORPUS = Path(__file__).with_name("fuzz_corpus.txt")
Array = np.ndarray[Any, Any]

ID_DTYPES = ("int32", "int64", "uint32", "uint64")
EDGES = (-1, -2, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**32 + 7, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
NUMBERS = (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, 1.5, 256.0, 257.0, 2.0**256, 2.0**-256, 1e308, 5e-324)
NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
COMPONENTS = (0.1, 1 + 2.0**-23, 1e-3, 1e4, 65504.0, 6e-8, 1e30, -1e30, 1e-30, 1e-45, 1e75, -1e70, 1e-70, 1e-160)
GROUP_METRICS = [info.name for info in _core.metric_table() if info.reads_groups]
INFOS = {info.name: info for info in _core.metric_table() if not info.compares_lists and not info.of_collection}
METRICS = (*INFOS, "no such metric")
DISCOUNTS = (1.0, 0.75, 0.75, 0.125)


class Source:
    """Reads choices off bytes. After the last byte all are 0, which stands for what is usual."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def byte(self) -> int:
        self._position += 1
        return self._data[self._position - 1] if self._position <= len(self._data) else 0

    def below(self, bound: int) -> int:
        return self.byte() % bound

    def rarely(self, bound: int) -> bool:
        """Return True for one byte in `bound`."""
        return self.below(bound) == bound - 1

    def integer(self) -> int:
        """Return a small number, an edge of a type, or any of 64 bits."""
        byte = self.byte()
        if byte < 232:
            return byte % 16
        if byte < 232 + len(EDGES):
            return EDGES[byte - 232]
        return int.from_bytes(bytes(self.byte() for _ in range(8)), "little")

    def number(self) -> float:
        byte = self.byte()
        if byte < 240:
            return NUMBERS[byte % len(NUMBERS)]
        if byte < 243:
            return NOT_FINITE[byte - 240]
        return float(np.frombuffer(bytes(self.byte() for _ in range(8)), np.float64)[0])

    def integers(self, size: int, dtype: str) -> Array:
        """Return integers cut to the type, as C would."""
        return np.array([self.integer() % 2**64 for _ in range(size)], np.uint64).astype(dtype)

    def component(self) -> float:
        """Return a number of a vector: nearly always one that leaves it fit to be compared."""
        byte = self.byte()
        if byte < 200:
            return (byte % 17 - 8) / 4
        return COMPONENTS[byte % len(COMPONENTS)] if byte < 250 else self.number()

    def numbers(self, size: int) -> Array:
        return np.array([self.number() for _ in range(size)], np.float64)


@dataclass
class RawLists:
    """The arrays of one `_core.Lists`: well formed, or nearly so."""

    items: Array
    indptr: Array
    lengths: Array | None
    present: Array | None

    @classmethod
    def read(cls, source: Source, users: int) -> RawLists:
        sizes = np.array([source.below(8) for _ in range(users)], np.int64)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        items = source.integers(int(indptr[-1]), ID_DTYPES[source.below(4) if source.rarely(4) else 1])
        lengths = present = None
        if source.rarely(4):
            lengths = np.array([source.below(size + 1) for size in sizes.tolist()], np.int64)
        if source.rarely(4):
            present = np.array([not source.rarely(4) or not size for size in sizes.tolist()], np.bool_)
        if source.rarely(16):  # one element of one array is anything
            arrays = [array for array in (indptr, lengths) if array is not None and len(array)]
            array = arrays[source.below(len(arrays))]
            array[source.below(len(array))] = source.integers(1, "int64")[0]
        return cls(items[: len(items) - source.rarely(64)], indptr, lengths, present)

    def repeat(self, times: int) -> RawLists:
        """Return the same users over and over: only of many are there blocks for several threads."""
        ends = [self.indptr[1:] + len(self.items) * turn for turn in range(times)]
        return RawLists(
            np.tile(self.items, times),
            np.concatenate([self.indptr[:1], *ends]),
            None if self.lengths is None else np.tile(self.lengths, times),
            None if self.present is None else np.tile(self.present, times),
        )

    def core(self, argument: str) -> _core.Lists:
        return _core.Lists(self.items, self.indptr, self.lengths, self.present, argument)

    def rows(self, grades: Array | None = None) -> Rows:
        return Rows(self.indptr, self.items, grades, self.present, self.lengths)


def read_scores(source: Source, dtype: str, size: int) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):  # a signalling NaN
        return source.numbers(size).astype(dtype) if dtype[0] == "f" else source.integers(size, dtype)


@dataclass
class RawScores:
    """The arguments of one `_core.Scores`."""

    values: Array
    min_score: float | None
    candidates: RawLists | None = None  # columns: a row for all users, or one per user

    @classmethod
    def read(cls, source: Source, users: int) -> RawScores:
        dtype = SCORE_DTYPES[source.below(len(SCORE_DTYPES))]
        items = source.below(40)
        layout = LAYOUTS[source.below(len(LAYOUTS))]
        values = read_scores(source, dtype, users * items)
        return cls(with_layout(values.reshape(users, items), layout), source.number() if source.rarely(4) else None)

    def read_candidates(self, source: Source) -> None:
        users, items = self.values.shape
        lists = RawLists.read(source, users if source.rarely(2) else 1)
        if not source.rarely(8):  # as the core wants them
            rows = [np.unique(row % max(1, items))[:items] for row in np.split(lists.items, lists.indptr[1:-1])]
            indptr = np.cumsum([0, *map(len, rows)])
            lists = RawLists(np.concatenate([*rows, np.zeros(0)]).astype(np.int64), indptr, None, None)
        self.candidates = lists

    def repeat(self, times: int) -> RawScores:
        candidates = self.candidates
        if candidates is not None and len(candidates.indptr) != 2:
            candidates = candidates.repeat(times)
        return RawScores(np.tile(self.values, (times, 1)), self.min_score, candidates)

    def core(self) -> _core.Scores:
        candidates = None if self.candidates is None else self.candidates.core("candidates")
        return _core.Scores(self.values, self.min_score, candidates, "predictions")


@dataclass
class RawSparseScores:
    """The arguments of one `_core.SparseScores`, but for its items."""

    scores: Array
    min_score: float | None

    @classmethod
    def read(cls, source: Source, items: int) -> RawSparseScores:
        dtype = SCORE_DTYPES[source.below(len(SCORE_DTYPES))]
        scores = read_scores(source, dtype, items - (source.rarely(64) and items > 0))
        return cls(scores, source.number() if source.rarely(4) else None)

    def repeat(self, times: int) -> RawSparseScores:
        return RawSparseScores(np.tile(self.scores, times), self.min_score)


@dataclass
class RawEmbeddings:
    """The arguments of one `_core.Embeddings`."""

    users: Array
    items: Array
    item_bias: Array | None
    similarity: Any
    narrowed: bool
    min_score: float | None
    candidates: RawLists | None

    @classmethod
    def read(cls, source: Source, users: int) -> RawEmbeddings:
        width, items = 1 + source.below(20), source.below(100) * (8 if source.rarely(4) else 1)
        user_vectors = cls._vectors(source, users, width)
        item_vectors = cls._vectors(source, items, width - source.rarely(64) if width > 1 else width)
        item_bias = None
        if source.rarely(4):
            few = cls._vectors(source, 7, 1)[:, 0]
            item_bias = np.resize(few, items - (source.rarely(16) and items > 0))
        similarity = SIMILARITIES[source.below(3) if item_bias is None or source.rarely(16) else 0]
        candidates = None
        if source.rarely(4):
            size = 1 if source.rarely(2) else users
            rows = [np.arange(source.below(9), items, 1 + source.below(9)) for _ in range(size)]
            ids = np.concatenate([*rows, np.zeros(0)]).astype(np.int64)
            candidates = RawLists(ids, np.cumsum([0, *map(len, rows)]), None, None)
            if source.rarely(16):
                candidates = RawLists.read(source, users)
        return cls(
            user_vectors, item_vectors, item_bias, similarity,
            narrowed=source.rarely(4),
            min_score=source.component() if source.rarely(4) else None,
            candidates=candidates,
        )  # fmt: skip

    @staticmethod
    def _vectors(source: Source, size: int, width: int) -> Array:
        """Return a few vectors over and over again, each of them longer or shorter by a little, or not."""
        dtype = ("float32", "float64", "float16")[source.below(3)]
        rows = 1 + source.below(6)
        few = np.array([source.component() for _ in range(rows * width)]).reshape(rows, width)
        drawn = few[np.arange(size) % rows]
        step = (0.0, 1.0, 2.0**-24, 2.0**-50, 2.0**-8)[source.below(5)]
        with np.errstate(over="ignore", invalid="ignore"):
            drawn = (drawn * (1 + step * (np.arange(size) * 7919 % 101)[:, np.newaxis])).astype(dtype)
        return with_layout(drawn, LAYOUTS[source.below(len(LAYOUTS))]) if source.rarely(16) else drawn

    def repeat(self, times: int) -> RawEmbeddings:
        candidates = self.candidates
        if candidates is not None and len(candidates.indptr) != 2:
            candidates = candidates.repeat(times)
        return replace(self, users=np.tile(self.users, (times, 1)), candidates=candidates)

    def core(self) -> _core.Embeddings:
        candidates = None if self.candidates is None else self.candidates.core("candidates")
        return _core.Embeddings(
            users=self.users,
            items=self.items,
            item_bias=self.item_bias,
            similarity=self.similarity,
            float32_scores=self.narrowed,
            min_score=self.min_score,
            candidates=candidates,
        )


@dataclass
class RawItemFeatures:
    """The arguments of one `_core.ItemFeatures`."""

    width: int
    is_missing: Array
    vectors: Array | None = None
    indptr: Array | None = None
    columns: Array | None = None
    weights: Array | None = None
    item_columns: Array | None = None

    @classmethod
    def read(cls, source: Source, items: int) -> RawItemFeatures:
        width = items if source.rarely(4) else 1 + source.below(10)
        is_missing = np.array([source.rarely(8) for _ in range(items)], np.bool_)
        if source.rarely(3):
            rows = [[column for column in range(width) if source.rarely(3)] for _ in range(items)]
            indptr = np.cumsum([0, *map(len, rows)])
            columns = np.array([column for row in rows for column in row], np.int64)
            weights = None if source.rarely(2) else np.array([source.component() for _ in columns], np.float64)
            features = cls(width, is_missing, None, indptr, columns, weights)
        else:
            numbers = [source.component() for _ in range(items * width)]
            if width == items and source.rarely(2):
                matrix = np.abs(np.array(numbers).reshape(items, items))
                numbers = (np.triu(matrix, 1) + np.triu(matrix, 1).T).reshape(-1).tolist()
            with np.errstate(over="ignore"):
                vectors = np.array(numbers, "float64" if source.rarely(2) else "float32")
            item_columns = np.arange(items) if width == items else None
            features = cls(width, is_missing, vectors, item_columns=item_columns)
        for array in (features.indptr, features.columns, features.item_columns):
            if source.rarely(32) and array is not None and len(array):
                array[source.below(len(array))] = source.integers(1, "int64")[0]
        if source.rarely(32):
            features.width = source.integers(1, "int64")[0].item()
        return features

    def core(self) -> _core.ItemFeatures:
        return _core.ItemFeatures(**vars(self))


@dataclass
class RawItems:
    """The arguments of one `_core.Items`."""

    ids: Array
    users: Array | None
    interactions: Array | None
    train_users: int | None
    values: Array | None = None
    groups: Array | None = None
    group_count: int = 0
    features: RawItemFeatures | None = None

    @classmethod
    def read(cls, source: Source) -> RawItems:
        ids = source.integers(source.below(12), "int64")
        if not source.rarely(8):  # as the core wants them
            ids = np.unique(np.abs(ids))
        users = np.array([source.below(6) for _ in range(len(ids))], np.int64)
        interactions = users * (1 + source.below(3))
        for counts in (users, interactions):
            if source.rarely(16) and len(counts):
                counts[source.below(len(counts))] = source.integers(1, "int64")[0]
        train_users = None if source.rarely(8) else 5 + source.below(4)
        return cls(
            ids,
            None if source.rarely(16) else users,
            None if source.rarely(16) else interactions,
            source.integer() if source.rarely(32) else train_users,
            source.numbers(len(ids)) if source.rarely(2) else None,
            features=None if source.rarely(32) else RawItemFeatures.read(source, len(ids)),
        )

    def read_groups(self, source: Source) -> None:
        """Read the group of each item, -1 for none."""
        self.group_count = source.integer() if source.rarely(32) else 1 + source.below(3)
        self.groups = np.array([source.below(4) - 1 for _ in range(len(self.ids) - source.rarely(32))], np.int64)

    def core(self) -> _core.Items:
        return _core.Items(**vars(self) | {"features": None if self.features is None else self.features.core()})


@dataclass
class RawHistories:
    """The arguments of one `_core.Histories`, and the row of each user."""

    indptr: Array
    items: Array
    rows: Array

    @classmethod
    def read(cls, source: Source, users: int, items: int) -> RawHistories:
        count = source.below(5)
        kept = [[item for item in range(items) if source.rarely(3)] for _ in range(count)]
        indptr = np.cumsum([0, *map(len, kept)])
        flat = np.array([item for row in kept for item in row], np.uint32)
        rows = np.array([source.below(count + 1) - 1 for _ in range(users)], np.int64)
        for array in (indptr, flat, rows):
            if source.rarely(32) and len(array):
                array[source.below(len(array))] = source.integers(1, str(array.dtype))[0]
        return cls(indptr, flat, rows)

    def repeat(self, times: int) -> RawHistories:
        return replace(self, rows=np.tile(self.rows, times))

    def core(self) -> tuple[_core.Histories, Array]:
        return _core.Histories(self.indptr, self.items), self.rows


@dataclass
class Case:
    """The arguments of one evaluation, of lists, scores, sparse scores or embeddings."""

    truth: RawLists
    predictions: RawLists
    exclude: RawLists | None
    grades: Array | None
    weights: Array | None
    groups: Array | None
    group_count: int
    fields: dict[str, str]
    min_grade: float
    gain_table: list[float]
    values: list[tuple[str, int | None, float]]
    threads: int
    against_reference: bool
    scores: RawScores | None = None
    sparse_scores: RawSparseScores | None = None  # whose items are the lists
    embeddings: RawEmbeddings | None = None
    items: RawItems | None = None
    tally_cutoffs: list[int | None] = field(default_factory=list)
    histories: RawHistories | None = None
    group_values: list[tuple[str, int | None]] = field(default_factory=list)
    base: RawLists | None = None

    @classmethod
    def read(cls, data: bytes) -> Case:
        source = Source(data)
        users = source.below(6)
        truth = RawLists.read(source, users)
        predictions = RawLists.read(source, users if not source.rarely(64) else source.below(6))
        exclude = RawLists.read(source, users) if source.rarely(4) else None
        grades = source.numbers(len(truth.items)) if source.rarely(3) else None
        weights = source.numbers(users) if source.rarely(4) else None
        groups = source.integers(users, "int64") % 3 if source.rarely(4) else None
        fields = {}
        for _ in range(source.below(6)):
            name = list(CHOICES)[source.below(len(CHOICES))]
            fields[name] = CHOICES[name][source.below(len(CHOICES[name]))]
        values = [cls._value(source) for _ in range(1 + source.below(6))]
        case = cls(
            truth, predictions, exclude, grades, weights, groups,
            group_count=min(3, max(1, users)) if groups is not None else 1,
            fields=fields,
            min_grade=source.number() if source.rarely(4) else 5e-324,
            gain_table=source.numbers(source.below(5)).tolist() if source.rarely(4) else [],
            values=values,
            threads=2 + source.below(3),
            against_reference=source.rarely(4),
        )  # fmt: skip
        if source.rarely(32):
            case.group_count = source.integer()
        many = source.rarely(32)
        if source.rarely(3):  # last, so that bytes from before there were scores mean what they meant
            case.scores = RawScores.read(source, users if not source.rarely(64) else source.below(6))
        if case.scores is not None and source.rarely(3):
            case.scores.read_candidates(source)
        elif case.scores is None and source.rarely(3):
            case.sparse_scores = RawSparseScores.read(source, len(predictions.items))
        elif case.scores is None and source.rarely(2):
            case.embeddings = RawEmbeddings.read(source, users if not source.rarely(64) else source.below(6))
        case._read_what_metrics_need(source, users)
        return case.repeat(700) if many and users else case

    def _read_what_metrics_need(self, source: Source, users: int) -> None:
        weighted = [name for name, info in INFOS.items() if "weight" in info.own_fields]
        reads_values = self.fields.get("weight", "one") != "one" and any(one[0] in weighted for one in self.values)
        if reads_values or any(metric in INFOS and INFOS[metric].walks_list for metric, _, _ in self.values):
            self.read_items(source, users)
        if any(metric in INFOS and INFOS[metric].reads_base for metric, _, _ in self.values):
            self.base = RawLists.read(source, users if not source.rarely(16) else source.below(6))

    def read_items(self, source: Source, users: int) -> None:
        """Read the catalogue, what is counted of it, and histories."""
        self.items = RawItems.read(source)
        if source.rarely(2):
            cutoffs: list[int | None] = [1 + source.below(4), 5 + source.below(4), None]
            self.tally_cutoffs = cutoffs[source.below(3) :]
        if not source.rarely(8):
            self.histories = RawHistories.read(source, users, len(self.items.ids))
        if source.rarely(2):
            self.items.read_groups(source)
            self.group_values = [(name, None if source.rarely(4) else 1 + source.below(8)) for name in GROUP_METRICS]

    @staticmethod
    def _value(source: Source) -> tuple[str, int | None, float]:
        metric = METRICS[source.byte() * len(METRICS) // 256]
        cutoff = None if source.rarely(4) else 1 + source.below(8)
        if source.rarely(32):
            cutoff = source.integer()
        info = INFOS.get(metric)
        parameter = 0.0 if info is None else parameter_of(metric)
        return metric, cutoff, source.number() if source.rarely(8) else parameter

    def repeat(self, times: int) -> Case:
        def tile(array: Array | None) -> Array | None:
            return None if array is None else np.tile(array, times)

        for name in ("truth", "predictions", "exclude", "base", "scores", "sparse_scores", "embeddings", "histories"):
            one = getattr(self, name)
            setattr(self, name, None if one is None else one.repeat(times))
        self.grades, self.weights, self.groups = tile(self.grades), tile(self.weights), tile(self.groups)
        self.against_reference = False  # it is slow
        return self

    def core_predictions(self) -> CorePredictions:
        """Return what the core takes."""
        if self.scores is not None:
            return self.scores.core()
        if self.embeddings is not None:
            return self.embeddings.core()
        lists = self.predictions.core("predictions")
        if self.sparse_scores is None:
            return lists
        return _core.SparseScores(lists, self.sparse_scores.scores, self.sparse_scores.min_score, "predictions")

    def evaluation(self) -> Evaluation:
        """Return the same through the front door, if it takes it."""
        changes: dict[str, Any] = {"gain_table": tuple(self.gain_table), "min_grade": self.min_grade, **self.fields}
        changes["discount_table"] = DISCOUNTS
        options: dict[str, Any] = {"convention": exactk.conventions["standard"].replace(**changes)}
        options |= {"weights": self.weights, "groups": self.groups}
        if self.exclude is not None:
            options["exclude"] = exactk.Exclusions.from_rows(self.exclude.rows())
        if self.base is not None:
            options["base_predictions"] = exactk.Rankings.from_rows(self.base.rows())
        if (candidates := self.candidate_items()) is not None:
            options["candidates"] = candidates
        if self.truth.lengths is not None and self.grades is not None:
            raise exactk.ExactkError("no container has padding and grades")
        truth = exactk.Truth.from_rows(self.truth.rows(self.grades))
        return Evaluation(truth, self.api_predictions(), [self._spelling(*value) for value in self.values], options)

    def candidate_items(self) -> CandidateItems | None:
        """Return the columns that may be ranked as the front door makes them."""
        source = self.scores or self.embeddings
        if source is None or source.candidates is None:
            return None
        rows = source.candidates.rows()
        return CandidateItems.from_rows(rows, for_all=len(rows.indptr) == 2)

    def api_predictions(self) -> exactk.Rankings | exactk.Scores | exactk.SparseScores | exactk.Embeddings:
        if self.scores is not None:
            return exactk.Scores(self.scores.values, self.scores.min_score)
        if (one := self.embeddings) is not None:
            return exactk.Embeddings(one.users, one.items, one.similarity, one.min_score, item_bias=one.item_bias)
        self.predictions.core("predictions").validate("predictions", None)  # lengths are ours, and right
        lists = exactk.Rankings.from_rows(self.predictions.rows())
        if self.sparse_scores is None:
            return lists
        scores, min_score = self.sparse_scores.scores, self.sparse_scores.min_score
        return exactk.SparseScores.from_lists(lists, scores, "predictions", min_score, is_complete=True)

    @staticmethod
    def _spelling(metric: str, cutoff: int | None, parameter: float) -> str:
        text = metric if cutoff is None else f"{metric}@{cutoff}"
        info = INFOS.get(metric)
        return text if info is None or info.parameter is None else f"{text}({info.parameter.name}={parameter!r})"


# What a text of TREC is made of: more lines that are right than others.
TREC_PIECES = (
    *(b"q1 Q0 d1 1 0.5 t\n", b"q1 Q0 d2 2 -1e-3 t\r\n", b"q2 0 d1 1\n", b"q2\t0  d2 0\n", b"q\xc3\xa9 0 d -1\n"),
    *(b" ", b"\t", b"\n", b"\r\n", b"\r", b"\v", b"\f", b"\0", b"#", b"\xef\xbb\xbf", b"\xc3\xa9", b"\xed\xa0\x80"),
    *(b"q1", b"Q0", b"0", b"1", b"-", b"+", b".", b"e", b"nan", b"inf", b"nan(1)", b"1e400", b"1e-400", b"5e-324"),
    *(b"9007199254740992", b"9007199254740993", b"99999999999999999999", b"0x1p3", b"_", b"d" * 4097),
)
GRADE = re.compile(rb"[+-]?\d+")
SCORE = re.compile(rb"[+-]?(inf|infinity|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def trec_text(data: bytes) -> bytes:
    """Return a text of pieces, one a byte; a byte that stands for none is itself."""
    return b"".join(TREC_PIECES[byte] if byte < len(TREC_PIECES) else bytes([byte]) for byte in data)


def parse_trec(text: bytes, part: int) -> Any:
    """Return what the core reads in parts of so many bytes: rows, or the line that is at fault."""
    stream = io.BytesIO(text)
    result = _core.read_trec(None, lambda: stream.read(part))
    if isinstance(result, _core.LineFault):
        return result.line, result.expected, result.found, result.text
    queries, documents = (
        [data.tobytes()[begin:end] for begin, end in pairwise(offsets.tolist())]
        for offsets, data in ((result.query_offsets, result.queries), (result.document_offsets, result.documents))
    )
    return list(zip(queries, documents, map(repr, result.numbers.tolist()), strict=True))


def reference_trec(text: bytes) -> list[tuple[bytes, bytes, str]] | int:
    """Return the rows, or the line number of the fault: the definition of what the core does."""
    rows, size = [], 0
    for line_number, line in enumerate(text.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        fields = line.split()
        if line.startswith(BYTE_ORDER_MARK):
            return line_number
        if line.startswith(b"#") and not may_be_row(fields, size):
            continue
        if line.startswith(b"#"):
            return line_number
        if not fields:
            continue
        size = size or min(len(fields), 6)
        if not is_text(line) or b"\r" in line.rstrip() or not has_size(fields, size):
            return line_number
        value = grade_of(fields[3]) if size == 4 else score_of(fields[4])
        if value is None or max(map(len, (fields[0], fields[2]))) > 4096:
            return line_number
        rows.append((fields[0], fields[2], repr(value)))
    return rows


def has_size(fields: list[bytes], size: int) -> bool:
    """Return whether these are the fields of one row: text may follow the tag, but no other row."""
    if size == 4 or len(fields) <= 6:
        return len(fields) == size in {4, 6}
    after = fields[6:]
    return not any(len(after) >= i + 5 and after[i] == fields[1] and score_of(after[i + 3]) is not None for i in (0, 1))


def may_be_row(fields: list[bytes], size: int) -> bool:
    """Return whether a comment may be meant as a row, of a query that begins with #."""
    if fields[0] == b"#":
        return False
    is_qrel = len(fields) == 4 and GRADE.fullmatch(fields[3]) and -(2**63) <= int(fields[3]) < 2**63
    is_result = len(fields) == 6 and score_of(fields[4]) is not None
    return bool((is_qrel and size != 6) or (is_result and size != 4))


def is_text(line: bytes) -> bool:
    try:
        return "\0" not in line.decode("utf-8")
    except UnicodeDecodeError:
        return False


def grade_of(field: bytes) -> float | None:
    return float(field) if GRADE.fullmatch(field) and abs(int(field)) <= 2**53 else None


def score_of(field: bytes) -> float | None:
    if not SCORE.fullmatch(field):
        return None
    score = float(field)
    digits = field.lower().partition(b"e")[0].strip(b"+-0.")
    too_large = abs(score) == float("inf") and b"i" not in field.lower()
    too_small = score == 0 and digits
    is_rounded = not too_large and GRADE.fullmatch(field) and int(score) != int(field)
    return None if too_large or too_small or is_rounded else score


def _check_trec(text: bytes) -> None:
    """Wherever it is cut, a file is the same rows, or has the same fault."""
    whole = parse_trec(text, len(text) + 1)
    assert parse_trec(text, 1) == parse_trec(text, 7) == whole
    plain = reference_trec(text)
    assert plain == (whole[0] if isinstance(plain, int) else whole), text


REFUSALS = (exactk.ExactkError, TypeError)


def result_or_refusal(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what the call returns, or how it refuses."""
    try:
        return call(*arguments, **named)
    except exactk.ExactkError as error:
        return type(error).__name__, str(error)
    except TypeError:
        return "TypeError", "an argument that C++ has no type for"


def check(data: bytes) -> None:
    """What must hold, whatever the bytes."""
    _check_trec(trec_text(data))
    case = Case.read(data)
    try:
        truth, predictions = case.truth.core("truth"), case.core_predictions()
        exclude = None if case.exclude is None else case.exclude.core("exclude")
        tables = {"gain_table": case.gain_table, "discount_table": DISCOUNTS}
        rules = core_rules(**case.fields, min_grade=case.min_grade, **tables)
        values = [_core.PlannedValue(*value, rules) for value in case.values]
        base = None if case.base is None else case.base.core("base_predictions")
        items = None if case.items is None else case.items.core()
        histories, history_rows = (None, None) if case.histories is None else case.histories.core()
        tallies = [_core.ItemTallyRequest(rules, case.tally_cutoffs, True)] if case.tally_cutoffs else []
        group_tallies = [_core.PlannedValue(name, cutoff, 0, rules) for name, cutoff in case.group_values]
    except REFUSALS:
        return
    result_or_refusal(truth.validate, "truth", case.grades)
    lists: dict[str, Any] = {"truth": truth, "grades": case.grades, "predictions": predictions, "exclude": exclude}

    def evaluate(threads: int, isa: str) -> Any:
        result = result_or_refusal(
            _core.evaluate,
            **lists,
            items=items,
            histories=histories,
            history_rows=history_rows,
            base=base,
            weights=case.weights,
            groups=case.groups,
            group_count=case.group_count,
            values=values,
            item_tallies=tallies,
            group_tallies=group_tallies,
            tally_rules=rules,
            per_user=True,
            threads=threads,
            isa=isa,
        )
        return plain_result(result) if isinstance(result, _core.Result) else result

    same_everywhere(case, evaluate)
    if not isinstance(predictions, _core.Lists):
        _check_topk(case, predictions, exclude)
    _check_judged_lists(case, lists, rules)
    if case.against_reference and case.items is None:
        _check_reference(case)


def same_everywhere(case: Case, call: Callable[[int, str], Any]) -> Any:
    """Return the outcome, which is the same for any number of threads and instruction set."""
    scalar = call(1, "scalar")
    assert scalar == call(case.threads, ""), "other threads or the widest instruction set change the outcome"
    return scalar


def first_cutoff(case: Case) -> int:
    """Return a number of items; the largest cutoffs are legal too, and need much memory."""
    return min(1000, next((cutoff for _, cutoff, _ in case.values if cutoff is not None), 3))


def _check_judged_lists(case: Case, lists: dict[str, Any], rules: _core.Rules) -> None:
    """Truth, grades, predictions and exclusions are judged alike everywhere."""
    result = result_or_refusal(_core.PlannedValue, "num_hits", first_cutoff(case), 0, rules)
    if not isinstance(result, _core.PlannedValue):
        return

    def judge(threads: int, isa: str) -> Any:
        users = len(case.truth.indptr) - 1
        judged = result_or_refusal(_core.judge_lists, **lists, value=result, user_count=users, threads=threads, isa=isa)
        return [array.tobytes() for array in judged] if isinstance(judged[0], np.ndarray) else judged

    same_everywhere(case, judge)


def _check_topk(case: Case, scores: CoreScored, exclude: _core.Lists | None) -> None:
    """The best items are those of the reference, for any number of threads and instruction set."""
    ties, nan = case.fields.get("ties", "lowest_id"), case.fields.get("nan", "raise")
    k = first_cutoff(case)

    def best(threads: int, isa: str) -> Any:
        result = result_or_refusal(
            _core.topk, scores=scores, k=k, exclude=exclude, ties=ties, nan=nan, threads=threads, isa=isa
        )
        return as_bits(result) if isinstance(result[0], np.ndarray) else result

    found = same_everywhere(case, best)
    narrowed = case.embeddings is not None and case.embeddings.narrowed  # which the front door does by its own rules
    if isinstance(found[0], list) and case.against_reference and not narrowed:
        try:
            predictions, candidates = case.api_predictions(), case.candidate_items()
        except REFUSALS:  # what the core takes and no container has
            return
        assert not isinstance(predictions, exactk.Rankings)
        excluded = None if case.exclude is None else exactk.Exclusions.from_rows(case.exclude.rows())
        problem = TopKProblem(predictions, k, excluded, candidates, ties, nan, 1)
        assert found == as_bits(reference_ranker(problem))


def as_bits(best: Any) -> tuple[list[Any], list[Any] | None]:
    """Return the positions of the best items and the bits of their scores, if there are any."""
    positions, scores = best
    return positions.tolist(), None if scores is None else scores.view(np.int64).tolist()


def _check_reference(case: Case) -> None:
    """The reference finds the same values and counts, or refuses for the same reason."""
    try:
        evaluation = case.evaluation()
    except REFUSALS:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(evaluation)


def corpus() -> dict[str, bytes]:
    """Return the committed cases by what they are."""
    cases = {}
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, data = line.rpartition(":")
            cases[name] = bytes.fromhex(data)
    return cases


def mutate(data: bytes, generator: random.Random) -> bytes:
    """Return the bytes with a few of them changed, added or taken out."""
    changed = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        position = generator.randrange(len(changed) + 1)
        kind = generator.randrange(3)
        if kind == 0:
            changed[position:position] = generator.randbytes(generator.choice([1, 1, 8]))
        elif kind == 1:
            del changed[position : position + generator.choice([1, 1, 8])]
        elif position < len(changed):
            changed[position] = generator.choice([0, 1, 3, 255, generator.randrange(256)])
    return bytes(changed)


def run_unguided(seconds: float, seed: int, folder: Path) -> int:
    """Mutate committed cases for so long; return how many were run. What fails is written to the folder."""
    generator = random.Random(seed)  # noqa: S311 - no secret
    cases = [*corpus().values(), b""]
    runs = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutate(generator.choice(cases), generator) if runs % 4 else generator.randbytes(80)
        (folder / "running").write_bytes(data)  # for when the process itself ends
        try:
            check(data)
        except BaseException:
            sys.stderr.write(f"finding: {data.hex()}\n")
            raise
        cases.append(data)
        if len(cases) > 5000:
            del cases[generator.randrange(len(cases))]
        runs += 1
    return runs


def run_guided(seconds: float, seed: int, folder: Path) -> None:
    """Have libFuzzer do it. It ends the process, and prints its own figures."""
    import atheris  # noqa: PLC0415 - only where it is installed

    corpus_folder = folder / "corpus"
    corpus_folder.mkdir(exist_ok=True)
    for index, data in enumerate(corpus().values()):
        (corpus_folder / f"committed-{index}").write_bytes(data)
    options = [
        f"-max_total_time={seconds:.0f}", f"-seed={seed}", "-max_len=400", "-verbosity=0", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], str(corpus_folder), *options, f"-artifact_prefix={folder}/finding-"], check)
    atheris.Fuzz()


def main() -> None:
    """Fuzz for the time that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--unguided", action="store_true")
    parser.add_argument("--calls", type=int, help="instead: so many junk calls at everything that the extension has")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.calls is not None:
        begin = time.monotonic()
        figures = junk.run(options.calls, options.seed, options.folder)
        outcomes = f"{figures['results']} results, {figures['refusals']} refusals"
        sys.stdout.write(f"{options.calls} calls, {outcomes}, {time.monotonic() - begin:.0f} s, no finding\n")
        return
    if not options.unguided:
        run_guided(options.seconds, options.seed, options.folder)
    runs = run_unguided(options.seconds, options.seed, options.folder)
    sys.stdout.write(f"{runs} executions, {runs / options.seconds:.0f} a second, no finding\n")


if __name__ == "__main__":
    main()
