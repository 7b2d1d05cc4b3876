"""Hypothesis strategies for whole evaluations."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import note, strategies as st
from hypothesis.extra import numpy as hnp

import exactk
from core_rules import CHOICES
from exactk._plan.conventions import as_convention
from exactk._plan.fields import FIELDS, fields_of
from exactk._plan.metric_strings import plan
from exactk._plan.metrics import evaluation_metrics, metrics
from exactk._plan.values import counts_ranks, reads_items

# Ids where widths, signs and hashes have their edges, beside a few that meet often.
LARGE_IDS = [2**31 - 1, 2**31, 2**32 + 7, 2**62, 2**63 - 1]
IDS = st.one_of(st.integers(0, 12), st.sampled_from(LARGE_IDS))
CUTOFFS = st.one_of(st.integers(1, 8), st.just(2**31 - 1))
SCORE_DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
RANKED_OTHERWISE = ("nan=last", "score_dtype=float32", "negative_infinity=exclude")
GRADES = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 1.5, 2.5, -1.0], [0.0, 1.0, 3.0, -1.0, -2.5])


def parameters(bounds: exactk._core.MetricParameter) -> st.SearchStrategy[float]:
    """Draw a metric's parameter: what it is by default, the least and the highest it may be, or what lies between."""
    ends = [bounds.low, bounds.high] if bounds.standard is None else [bounds.standard, bounds.low, bounds.high]
    highest = min(bounds.high, bounds.low + 64)
    between = st.integers(int(bounds.low), int(highest)).map(float) if bounds.whole else st.floats(bounds.low, highest)
    return st.one_of(st.sampled_from(ends), between)


def parameter_of(name: str) -> float:
    """Return the metric's parameter as it is by default, or a number that fits whatever is drawn."""
    parameter = metrics[name].parameter
    if parameter is None:
        return 0.0
    return min(1e6, parameter.high) if parameter.standard is None else parameter.standard


def spell(name: str, cutoff: object = None) -> str:
    """Return the metric at a cutoff, or at several in brackets, with what must be given beside it; at 3 where it needs one."""
    cutoff = 3 if cutoff is None and counts_ranks(metrics[name]) else cutoff
    text = name if cutoff is None else f"{name}@{cutoff}"
    parameter = exactk.metrics[name].parameter
    required = parameter is not None and parameter.standard is None
    if metrics[name].gains_to_one:
        return f"{text}(gain=scaled,gain_range=[0,4])"
    return f"{text}({parameter.name}={parameter_of(name)})" if parameter is not None and required else text


def spellings(name: str, cutoffs: object, *, whole: bool = True) -> list[str]:
    """Return the metric at the cutoffs, as far as it has any, and without."""
    if metrics[name].pairwise:
        return [name]
    has_whole = whole and not counts_ranks(metrics[name])
    return [*([spell(name)] if has_whole else []), spell(name, cutoffs)]


SHARE = float(os.environ.get("EXACTK_EXAMPLES", "1"))


def examples(count: int) -> int:
    """Return how many examples to draw: fewer where the code runs slowly, as under a sanitizer."""
    return max(10, round(count * SHARE))


at_night = pytest.mark.skipif(SHARE < 1, reason="set EXACTK_EXAMPLES=1, as at night")
"""For tests that take long and find what other tests find too."""


def latin(rows: Sequence[Any], columns: Sequence[Any], turn: int) -> list[tuple[Any, Any]]:
    """Return each column beside one of the rows, as a Latin square has them: the next turn has the next rows.

    With EXACTK_EXAMPLES=1, return every column beside every row.
    """
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
    return [(rows[i], columns[j]) for i, j in pairs if SHARE >= 1 or (i + j + turn) % len(rows) == 0]


@cache
def _numbers_in_pairs(*sizes: int) -> list[tuple[int, ...]]:
    rest = list(product(*map(range, sizes)))
    missing = {pair for numbers in rest for pair in combinations(enumerate(numbers), 2)}
    chosen = []
    while missing:  # greedily
        chosen.append(max(rest, key=lambda numbers: len(missing.intersection(combinations(enumerate(numbers), 2)))))
        missing.difference_update(combinations(enumerate(chosen[-1]), 2))
    return chosen


def in_pairs(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of choices in which any two choices of two factors meet; with EXACTK_EXAMPLES=1, all."""
    choices = [list(factor) for factor in factors]
    if SHARE >= 1:
        return list(product(*choices))
    numbers = _numbers_in_pairs(*map(len, choices))
    return [tuple(one[number] for one, number in zip(choices, of_case, strict=True)) for of_case in numbers]


@dataclass(frozen=True)
class DrawnItems:
    """The arguments of `exactk.Items`."""

    catalogue: list[int] | None
    train: list[list[int]]
    values: dict[int, float]
    features: str = "none"
    seed: int = 0

    def items(self, users: int | None = None) -> exactk.Items:
        """Return the items, with a row of train for each of so many users; four of five have one of three groups."""
        if users is not None:
            return replace(self, train=[self.train[user % len(self.train)] for user in range(users)]).items()
        keys = [*dict.fromkeys(chain(*self.train))] if self.catalogue is None else self.catalogue
        groups = {key: "abc"[i % 3] for i, key in enumerate(keys) if i % 5 != 4}
        kind = "float64" if self.features == "sparse" and self.catalogue is None else self.features  # rows need items
        features = features_of_items(keys, kind, np.random.default_rng(self.seed))
        values = {key: self.values[key] for key in keys if key in self.values}
        return exactk.Items(self.catalogue, train=self.train, values=values, item_groups=groups, features=features)

    def of_users(self, users: list[int]) -> DrawnItems:
        """Return the same items, with the train rows of these users in their order."""
        keys = [*dict.fromkeys(chain(*self.train))] if self.catalogue is None else self.catalogue
        return replace(self, catalogue=keys, train=[self.train[user % len(self.train)] for user in users])


FEATURES = ("none", "float32", "float64", "flags", "matrix", "sparse", "tags")


def features_of_items(items: list[int], kind: str, rng: np.random.Generator) -> Any:
    """Return features of the items, of which a few have none; distances need all kinds of them."""
    if kind == "none":
        return None
    if kind == "matrix" and len(items) < 64:
        distances = rng.integers(0, 9, (len(items), len(items))) / 4
        return dict(zip(items, np.triu(distances, 1) + np.triu(distances, 1).T, strict=True))
    if kind == "sparse":
        mask = rng.random((len(items), 7)) < rng.random()
        return scipy.sparse.csr_array(mask * rng.standard_normal((len(items), 7)))
    listed = [item for item in items if rng.random() < 0.98]
    if kind == "tags":
        return {item: [f"tag {tag}" for tag in set(rng.integers(0, 5, rng.integers(0, 4)))] for item in listed}
    vectors = rng.standard_normal((len(listed), rng.choice([1, 2, 7, 8, 19])))
    vectors[rng.random(len(listed)) < 0.05] = 0
    if kind == "flags":
        return dict(zip(listed, vectors > 0, strict=True))
    return dict(zip(listed, vectors.astype("float32" if kind == "float32" else "float64"), strict=True))


EVERY_ID = [*range(5000), *LARGE_IDS]

# Of the first 1000 items, one in three is not in train.
ANY_ITEMS = exactk.Items(
    EVERY_ID,
    train=[list(range(user, 1000, 3 * user + 1)) for user in range(1, 20)],
    values=[0.1 * (item % 7) for item in EVERY_ID],
    item_groups=[i % 7 for i in range(len(EVERY_ID))],
    features=np.random.default_rng(0).standard_normal((len(EVERY_ID), 11)),
)
"""Items for metrics that need some, where a test does not draw any."""


@cache
def items_of_users(users: int) -> exactk.Items:
    """Return items whose train has a row for each of so many users, for metrics that read what users have there."""
    rows = [list(range(user % 7, 1000, 3 * user + 1)) for user in range(users)]
    tags = {item: [f"a {item % 5}", f"b {item % 7}"][: 1 + item % 2] for item in EVERY_ID}
    groups = [i % 7 for i in range(len(EVERY_ID))]
    return exactk.Items(EVERY_ID, train=rows or [[1]], features=tags, item_groups=groups)


def reads_history(metric: str) -> bool:
    """Return whether a metric string names a metric that reads what users have in train."""
    info = metrics.get(re.split("[@(]", metric)[0])
    return info is not None and info.reads_history


def reads_tags(metric: str) -> bool:
    """Return whether a metric string names a metric that reads the tags of items, and no other features."""
    info = metrics.get(re.split("[@(]", metric)[0])
    return info is not None and info.reads_features and "distance" not in info.own_fields


def needs_items(metrics: Sequence[str], convention: Any) -> bool:
    """Return whether one of the metrics reads items, if they are legal."""
    try:
        return any(map(reads_items, plan(metrics, as_convention(convention), compares_lists=None)))
    except exactk.ExactkError:
        return False


WITHOUT_ITEMS = [name for name, info in evaluation_metrics.items() if not info.reads_list]
"""The metrics that need no items, and no base predictions."""


def reads_base(metric: str) -> bool:
    """Return whether the metric of a string needs base predictions."""
    info = metrics.get(re.split("[@(]", metric)[0])
    return info is not None and info.reads_base


def is_of_collection(metric: str) -> bool:
    """Return whether all lists together have the value of a string."""
    info = metrics.get(re.split("[@(]", metric)[0])
    return info is not None and info.of_collection


OF_COLLECTION = [name for name, info in evaluation_metrics.items() if info.of_collection]
"""The metrics that all lists together have."""


OF_ITEMS = [name for name in exactk.metrics if name not in {*WITHOUT_ITEMS, *OF_COLLECTION}]
"""The metrics of users that need items, or base predictions."""


def without_digest(report: exactk.Report) -> exactk.Report:
    """Return the report without the digests of its truth and items, and the keys of items, on which no number depends."""

    def without_keys(tallies: Any) -> Any:
        return tuple(replace(tally, keys=np.arange(len(tally.keys))) for tally in tallies)

    state = report.state
    by_group = {label: one._replace(items=without_keys(one.items)) for label, one in state.tallies_by_group.items()}
    tallies = without_keys(state.item_tallies)
    state = state._replace(truth_digest=None, catalogue=None, item_tallies=tallies, tallies_by_group=by_group)
    return exactk.Report(state, report.users, report._user_table)


@dataclass(frozen=True)
class Evaluation:
    """The arguments of one call."""

    truth: Any
    predictions: Any
    metrics: list[str]
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, evaluate: Any = exactk.evaluate, **more: Any) -> exactk.Report:
        options = self.options | more
        if needs_items(self.metrics, options.get("convention", "standard")):
            users = len(self.truth) if any(reads_history(one) or reads_tags(one) for one in self.metrics) else None
            items = options.get("items", ANY_ITEMS if users is None else items_of_users(users))
            options["items"] = items.items(users) if isinstance(items, DrawnItems) else items
        else:
            options.pop("items", None)
        if any(map(reads_base, self.metrics)):
            options.setdefault("base_predictions", self.predictions)
        else:
            options.pop("base_predictions", None)
        if any(map(is_of_collection, self.metrics)):  # which users with weights do not have
            options["weights"] = None
        report = evaluate(self.truth, self.predictions, self.metrics, **options)
        assert isinstance(report, exactk.Report)
        return report


@st.composite
def metric_strings(draw: st.DrawFn) -> str:
    info = draw(st.sampled_from(list(evaluation_metrics.values())))
    cutoff = None if info.pairwise else draw(st.one_of(st.none(), CUTOFFS))
    text = info.name if cutoff is None else f"{info.name}@{cutoff}"
    arguments = []
    if info.parameter is not None:
        arguments.append(f"{info.parameter.name}={draw(parameters(info.parameter))}")
    if info.gains_to_one:
        arguments.append("gain=binary" if draw(st.booleans()) else "gain=scaled,gain_range=[1,2.5]")
    if "weight" in info.own_fields and draw(st.integers(0, 3)) == 0:
        arguments.append(f"weight={draw(st.sampled_from(['values', 'values', 'self_normalized']))}")
    if "distance" in info.own_fields:
        arguments.append(f"distance={draw(st.sampled_from(CHOICES['distance']))}")
        arguments.append(f"missing_features={draw(st.sampled_from(['raise', 'skip', 'skip']))}")
    if info.weighs_users:
        arguments.append(f"gauc_over={draw(st.sampled_from(CHOICES['gauc_over']))}")
    if draw(st.integers(0, 4)) == 0 and not info.of_collection:
        averages = {"geometric": True, "micro": info.micro, "of_means": info.name in {"fbeta", "f1"}}
        arguments.append(
            f"average={draw(st.sampled_from([name for name, is_allowed in averages.items() if is_allowed]))}"
        )
    if draw(st.integers(0, 9)) == 0:  # of scores, another ranking than that of the other values
        arguments.append(draw(st.sampled_from([*(f"ties={ties}" for ties in CHOICES["ties"]), *RANKED_OTHERWISE])))
    return f"{text}({','.join(arguments)})" if arguments else text


@st.composite
def drawn_items(draw: st.DrawFn) -> DrawnItems:
    """Draw the training data, and a catalogue that may lack some of its items, and some that are recommended."""
    ids = st.one_of(IDS, IDS, st.integers(0, 40))
    train = draw(st.lists(st.lists(ids, max_size=8), max_size=6))
    every = [*range(41), *LARGE_IDS]  # no more than are drawn: each becomes objects of Python
    listed = draw(st.one_of(st.none(), st.just(every), st.just(every), st.sets(ids, max_size=20).map(list)))
    first = train[0][0] if train and train[0] else 0
    in_both = [first, first - 1 if first else 1]
    train = [*train, in_both]
    catalogue = None if listed is None else [*dict.fromkeys([*in_both, *listed])]
    keys = sorted({item for row in train for item in row}) if catalogue is None else catalogue
    values = draw(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, 1e75]), min_size=3, max_size=3))
    lacking = draw(st.sampled_from([keys[:0], keys[:0], keys[:2]]))
    of_items = {item: values[item % 3] for item in keys if item not in lacking}
    features = draw(st.sampled_from(["float64", *FEATURES]))
    return DrawnItems(catalogue, train, of_items, features, draw(st.integers(0, 99)))


@st.composite
def conventions(draw: st.DrawFn) -> exactk.Convention:
    others = {"average", "ties", "weight"}  # the last is for some metrics, whose strings have it
    names = draw(st.lists(st.sampled_from(sorted(set(CHOICES) - others)), unique=True, max_size=6))
    changes: dict[str, Any] = {name: draw(st.sampled_from(CHOICES[name])) for name in names}
    changes["min_grade"] = draw(st.sampled_from([None, None, None, "any", -1.0, 0.0, 0.5, 1.0, 2.0]))
    changes["negative_grades"] = draw(st.sampled_from(CHOICES["negative_grades"]))
    changes["gain_table"] = draw(st.sampled_from([(), (0.0, 1.0, 3.0, 7.0), (2.0, 1.0, 0.5, 4.0)]))
    changes["gain_range"] = draw(st.sampled_from([(0.0, 1.0), (0.5, 3.0)]))
    changes["discount_table"] = draw(st.sampled_from([(), (1.0,), (0.5, 0.5, 0.1)]))
    changes |= {
        "discount_base": draw(st.sampled_from([2.0, 10.0])),
        "discount_power": draw(st.sampled_from([1.0, 0.3])),
        "discount_persistence": draw(st.sampled_from([0.85, 0.5, 0.99])),
    }
    return exactk.conventions["standard"].replace(**changes)


@st.composite
def truths(draw: st.DrawFn, users: int) -> list[Any]:
    graded = draw(st.booleans())
    repeats = draw(st.integers(0, 9)) == 0
    grades = st.sampled_from(draw(st.sampled_from(GRADES)))
    row: st.SearchStrategy[Any] = (
        st.dictionaries(IDS, grades, max_size=6) if graded else st.lists(IDS, unique=not repeats, max_size=6)
    )
    return draw(st.lists(st.one_of(row, row, row, row, st.none()), min_size=users, max_size=users))


@st.composite
def rankings(draw: st.DrawFn, users: int) -> list[Any]:
    repeats = draw(st.integers(0, 9)) == 0
    row = st.lists(IDS, unique=not repeats, max_size=10)
    return draw(st.lists(st.one_of(row, row, row, row, row, st.none()), min_size=users, max_size=users))


def with_layout(array: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    """Return a matrix of the same elements that lie otherwise in memory."""
    rows, columns = array.shape
    match layout:
        case "Fortran":
            return np.asfortranarray(array)
        case "spaced":
            view = np.ones((2 * rows + 1, 3 * columns + 1), array.dtype)[1::2, 1::3]
        case "reversed":
            view = np.ones((rows, columns), array.dtype)[::-1, ::-1]
        case "spaced Fortran, reversed":
            view = np.ones((2 * columns, 2 * rows), array.dtype)[::-2, ::2].T
        case _:
            return np.ascontiguousarray(array)
    view[:] = array
    return view


LAYOUTS = ("C", "Fortran", "spaced", "reversed", "spaced Fortran, reversed")


def _edge_scores(dtype: np.dtype[Any]) -> list[Any]:
    """Return scores that meet often, and those where the type has its edges."""
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        return [limits.min, limits.min + 1, 0, 0, 1, 1, 2, limits.max - 1, limits.max]
    limit = np.finfo(dtype)
    values = [-math.inf, limit.min, -1, -limit.smallest_subnormal, -0.0, 0.0, 0.0, limit.smallest_subnormal]
    return [dtype.type(value) for value in (*values, 1, 1, 1 + limit.eps, limit.max, math.inf)]


@st.composite
def score_arrays(draw: st.DrawFn, shape: tuple[int, ...], *, nan: bool = True) -> np.ndarray[Any, Any]:
    """Draw scores of any type, all sorts of them or few that meet often."""
    dtype = np.dtype(draw(st.sampled_from(SCORE_DTYPES)))
    with_nan = nan and dtype.kind == "f" and draw(st.integers(0, 3)) == 0
    any_score = hnp.from_dtype(dtype, allow_nan=False)
    elements = draw(st.sampled_from([any_score, st.sampled_from(_edge_scores(dtype))]))
    if with_nan:
        elements = st.one_of(elements, elements, elements, st.just(dtype.type(math.nan)))
    return draw(hnp.arrays(dtype, shape, elements=elements))


@st.composite
def score_matrices(draw: st.DrawFn, users: int, *, nan: bool = True) -> np.ndarray[Any, Any]:
    """Draw a score for each of up to 40 items and as many users as are asked for, in any layout."""
    items = draw(st.one_of(st.integers(0, 14), st.integers(0, 40)))
    return with_layout(draw(score_arrays((users, items), nan=nan)), draw(st.sampled_from(LAYOUTS)))


@st.composite
def least_scores(draw: st.DrawFn, array: np.ndarray[Any, Any]) -> float | None:
    """Draw a min_score, often one that some item has."""
    least: st.SearchStrategy[float] = st.sampled_from([-math.inf, -0.0, 0.0, 0.5, 1.0, math.inf])
    exact_scores = [score for score in array.ravel().tolist() if score == score and float(score) == score]  # noqa: PLR0124 - not NaN
    if exact_scores:
        least = st.one_of(least, st.sampled_from(exact_scores))
    return draw(st.one_of(st.none(), st.none(), least))


@st.composite
def scores(draw: st.DrawFn, users: int) -> exactk.Scores:
    matrix = draw(score_matrices(users))
    min_score = draw(least_scores(matrix))
    note(f"scores of {matrix.dtype} and {matrix.strides=}: {matrix.tolist()}, {min_score=}")
    return exactk.Scores(matrix, min_score)


@st.composite
def sparse_scores(draw: st.DrawFn, users: int, *, nan: bool = True, repeats: bool = True) -> exactk.SparseScores:
    """Draw items of each user in any order, with scores of any type; a user may be missing."""
    with_repeats = repeats and draw(st.integers(0, 5)) == 0
    ids = st.one_of(IDS, st.integers(0, 40))
    row = st.lists(ids, unique=not with_repeats, max_size=30)
    rows = draw(st.lists(st.one_of(row, row, row, row, st.none()), min_size=users, max_size=users))
    if draw(st.booleans()):  # so that ids ascend with the positions
        rows = [None if row is None else sorted(row) for row in rows]
    items = np.array([item for row in rows for item in row or ()], np.uint64)
    widths = [name for name in ("i4", "i8", "u4", "u8") if not len(items) or items.max() <= np.iinfo(name).max]
    indptr = np.cumsum([0, *(len(row or ()) for row in rows)])
    array = draw(score_arrays((len(items),), nan=nan))
    if draw(st.integers(0, 3)) == 0:
        array = with_layout(array[:, None], "spaced")[:, 0]
    min_score = draw(least_scores(array))
    note(f"sparse scores {rows} with scores of {array.dtype}: {array.tolist()}, {min_score=}")
    present = np.array([row is not None for row in rows], np.bool_)
    dtype = draw(st.sampled_from(widths))
    return exactk.SparseScores(indptr, items.astype(dtype), array, min_score, None if present.all() else present)


@st.composite
def columns(draw: st.DrawFn, users: int, items: int) -> Any:
    """Draw which columns of a matrix may be ranked: for all users, or a row per user."""
    row = st.lists(st.integers(0, items - 1), max_size=2 * items) if items else st.just([])
    if draw(st.booleans()):
        return np.array(draw(row), np.int64)
    return draw(st.lists(row, min_size=users, max_size=users))


@st.composite
def evaluations(
    draw: st.DrawFn,
    *,
    min_users: int = 0,
    max_users: int = 8,
    predictions: Callable[[int], st.SearchStrategy[Any]] = rankings,
) -> Evaluation:
    """Draw a call that may well be refused."""
    users = draw(st.integers(min_users, max_users))
    options: dict[str, Any] = {"convention": draw(conventions())}
    if draw(st.booleans()):
        options["exclude"] = draw(st.lists(st.lists(IDS, max_size=4), min_size=users, max_size=users))
    if draw(st.booleans()):
        weights = st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5, 1e10]), min_size=users, max_size=users)
        options["weights"] = np.array(draw(weights), np.float64)
    if draw(st.booleans()):
        options["groups"] = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=users, max_size=users))
    metrics = draw(st.lists(metric_strings(), min_size=1, max_size=4))
    if needs_items(metrics, options["convention"]):
        options["items"] = draw(drawn_items())
    if any(map(reads_base, metrics)):
        options["base_predictions"] = draw(st.one_of(rankings(users), predictions(users)))
    return Evaluation(draw(truths(users)), draw(predictions(users)), metrics, options)


TIES = ("lowest_id", "highest_id", "input_order")


@st.composite
def score_evaluations(
    draw: st.DrawFn,
    *,
    min_users: int = 0,
    max_users: int = 8,
    predictions: Callable[[int], st.SearchStrategy[Any]] = scores,
) -> Evaluation:
    """Draw an evaluation of scores; where one is NaN, it is refused or ranked last."""
    evaluation = draw(evaluations(min_users=min_users, max_users=max_users, predictions=predictions))
    ties = draw(st.sampled_from(["lowest_id", "highest_id", *CHOICES["ties"]]))
    nan = draw(st.sampled_from(["raise", "last", "last"]))
    others = {name: draw(st.sampled_from(FIELDS[name].choices)) for name in fields_of("ranking")}
    convention = evaluation.options["convention"].replace(ties=ties, nan=nan, **others)
    return replace(evaluation, options=evaluation.options | {"convention": convention})


@st.composite
def restricted_evaluations(draw: st.DrawFn, *, min_users: int = 0) -> Evaluation:
    """Draw an evaluation of scores of which some columns alone may be ranked."""
    evaluation = draw(score_evaluations(min_users=min_users))
    return replace(
        evaluation, options=evaluation.options | {"candidates": draw(columns(*evaluation.predictions.values.shape))}
    )


@st.composite
def gapped_lists(draw: st.DrawFn, users: int) -> exactk.Rankings:
    """Draw lists, each with ranks that ascend; some users are missing."""
    rows, ranks = [], []
    for _ in range(users):
        items = draw(st.one_of(st.none(), st.lists(st.integers(0, 12), unique=draw(st.integers(0, 9)) > 0, max_size=6)))
        steps = draw(st.lists(st.integers(1, 3), min_size=len(items or ()), max_size=len(items or ())))
        rows.append(items)
        ranks += np.cumsum(steps, dtype=np.int64).tolist()
    indptr = np.cumsum([0, *(len(row or ()) for row in rows)])
    items_of_all = np.array([item for row in rows for item in row or ()], np.int64)
    present = np.array([row is not None for row in rows], np.bool_)
    return exactk.Rankings(indptr, items_of_all, present, np.array(ranks, np.int64))


@st.composite
def gapped_evaluations(draw: st.DrawFn, *, min_users: int = 0) -> Evaluation:
    """Draw an evaluation of lists with ranks, whose gaps are kept or closed."""
    evaluation = draw(evaluations(min_users=min_users, predictions=gapped_lists))
    changes = {name: draw(st.sampled_from(FIELDS[name].choices)) for name in ("rank_gaps", "ties")}
    convention = evaluation.options["convention"].replace(**changes)
    return replace(evaluation, options=evaluation.options | {"convention": convention})


EVALUATIONS: dict[str, Callable[..., st.SearchStrategy[Evaluation]]] = {
    "rankings": evaluations,
    "ranks with gaps": gapped_evaluations,
    "scores": score_evaluations,
    "sparse scores": partial(score_evaluations, predictions=sparse_scores),
    "columns": restricted_evaluations,
}
"""Evaluations by what they have as predictions."""
