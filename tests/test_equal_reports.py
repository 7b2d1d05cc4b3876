"""One input in every container, with any options, gives one report, or one error."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse

import exactk
from strategies import in_pairs, latin
from warned import result_and_warnings

ITEMS = 8
RULES = ["truth", "both", "predictions", "union"]
METRICS = ["ndcg@2", "recall@3", "precision@2", "num_recommended"]
OPTIONS = list(itertools.product([False, True], repeat=3))  # of weights, groups, exclude
SIDES = {"both": (), "truth": (4,), "predictions": (5,), "either": (4, 5)}
"""Who has rows on one side only: user 4 in the truth, user 5 in the predictions."""

TRUTH = {0: {1: 3.0, 4: 1.0}, 1: {2: 2.0, 5: 0.0}, 2: {4: 1.0, 6: 3.0}, 3: {7: 2.0, 1: 1.0}, 4: {3: 1.0, 6: 2.0}}
RANKED = {0: [4, 2, 1], 1: [2, 5, 0], 2: [3, 4], 3: [3, 1, 0, 7], 5: [6, 2]}
EXCLUDED = {0: [2], 2: [3, 1], 3: [1], 4: [0], 5: [6]}
WEIGHTS = {0: 1.0, 1: 0.5, 2: 4.0, 3: 0.0, 4: 2.0, 5: 8.0}
GROUPS = {0: "few", 1: "many", 2: "few", 3: "many", 4: "left out", 5: "new"}  # two have one user each, of one side
Rows = dict[Any, Any]


def scores_of(user: int) -> dict[int, float]:
    """Return a score for each item; none are tied."""
    return {item: ((5 * item + 3 * user) % ITEMS) / ITEMS for item in range(ITEMS)}


@dataclass(frozen=True)
class Case:
    """What users have, by number."""

    truth: Rows
    predictions: Rows
    order: str  # what ranks the predictions: rank or score
    rule: str  # which users are counted

    @property
    def users(self) -> list[int]:
        return sorted(set(self.truth) | set(self.predictions))

    @property
    def counted(self) -> list[int]:
        truth, predictions = set(self.truth), set(self.predictions)
        by_rule = {"truth": truth, "both": truth & predictions, "predictions": predictions}
        return sorted(by_rule.get(self.rule, truth | predictions))

    @property
    def metrics(self) -> list[str]:
        return [f"{metric}(users={self.rule},empty_truth=compute)" for metric in METRICS]


def case_of(order: str, sides: str, rule: str, *, is_dense: bool = False) -> Case:
    absent = {4, 5} - set(SIDES[sides])
    predictions: Rows = RANKED
    if order == "score":  # of all items, or of those in the list
        predictions = {u: {i: s for i, s in scores_of(u).items() if is_dense or i in row} for u, row in RANKED.items()}
    truth, predictions = ({u: row for u, row in rows.items() if u not in absent} for rows in (TRUTH, predictions))
    return Case(truth, predictions, order, rule)


def outcome_of(truth: Any, predictions: Any, metrics: Any, **options: Any) -> tuple[exactk.Report, list[str]]:
    """Return the report and the texts of the warnings."""
    return result_and_warnings(partial(exactk.evaluate, truth, predictions, metrics, per_user=True, **options))


def complete_scores(rows: list[dict[int, float]]) -> exactk.SparseScores:
    """Return scores that are said to be all that there are, as those of a matrix: what is missing is warned of."""
    items, scores = ([entry for row in rows for entry in part(row)] for part in (dict.keys, dict.values))
    return exactk.SparseScores(np.cumsum([0, *map(len, rows)]), np.array(items, np.int64), np.array(scores, float))


def assert_equal(
    outcome: tuple[exactk.Report, list[str]], expected: tuple[exactk.Report, list[str]], *, but: str = "nothing"
) -> None:
    """Assert that the two have the same values, groups, values of users, users, warnings, and counts but one."""
    (report, texts), (expected_report, expected_texts) = outcome, expected
    counts, expected_counts = (
        one.state.counts._replace(candidates=None) if but == "candidates" else one.state.counts
        for one in (report, expected_report)
    )
    assert counts == expected_counts
    assert list(report.by_group) == list(expected_report.by_group)
    assert report.users.tolist() == expected_report.users.tolist()
    with_counts = exactk.Report(
        report.state._replace(counts=expected_report.state.counts), report.users, report._user_table
    )
    assert with_counts == expected_report
    assert texts == expected_texts


# Users with keys.

KEYS: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "int": (lambda user: 100 - user, lambda item: item),
    "str": (lambda user: f"user {user}", lambda item: f"item {item}"),
}


@dataclass(frozen=True)
class KeyedInputs:
    """The rows of a case by key, in the order in which the frame of predictions has its users."""

    truth: Rows
    predictions: Rows
    order: str
    folder: Path

    def columns(self, rows: Rows, value: str) -> dict[str, list[Any]]:
        """Return one row per user and item, grouped by user."""
        columns: dict[str, list[Any]] = {"user": [], "item": []} | ({value: []} if value else {})
        for user, row in rows.items():
            values = row.values() if isinstance(row, Mapping) else range(1, len(row) + 1)
            for item, number in zip(row, values, strict=True):
                for name, cell in zip(columns, (user, item, number), strict=False):
                    columns[name].append(cell)
        return columns

    def frames(self, build: Callable[[dict[str, list[Any]]], Any]) -> tuple[Any, Any]:
        return build(self.columns(self.truth, "grade")), build(self.columns(self.predictions, self.order))

    def batches(self, size: int, *, mixed: bool = False) -> exactk.Batches:
        frame = pl.DataFrame(self.columns(self.predictions, self.order))
        if mixed:  # the first row of each user, then the others
            is_first = frame["user"].is_first_distinct()
            frame = pl.concat([frame.filter(is_first), frame.filter(~is_first)])
        return exactk.Batches(lambda: (frame[begin : begin + size] for begin in range(0, len(frame), size)))

    def read(self, name: str, write: Callable[[pa.Table, Path], None]) -> tuple[Any, Any]:
        tables, paths = self.frames(pa.table), (self.folder / f"truth.{name}", self.folder / f"predictions.{name}")
        for table, path in zip(tables, paths, strict=True):
            write(table, path)
        return exactk.read(paths[0], "truth"), exactk.read(paths[1], "predictions")

    def blocks(self, size: int) -> tuple[None, Iterator[Any]]:
        users = list(dict.fromkeys([*self.truth, *self.predictions]))
        parts = [users[begin : begin + size] for begin in range(0, len(users), size)]
        sides = (self.truth, self.predictions)
        return None, iter([tuple({u: rows[u] for u in part if u in rows} for rows in sides) for part in parts])


KEYED: dict[str, Callable[[KeyedInputs], tuple[Any, Any]]] = {
    "pandas": lambda inputs: inputs.frames(pd.DataFrame),
    "Polars": lambda inputs: inputs.frames(pl.DataFrame),
    "Arrow": lambda inputs: inputs.frames(pa.table),
    "DuckDB": lambda inputs: inputs.frames(lambda columns: duckdb.from_arrow(pa.table(columns))),
    "CSV": lambda inputs: inputs.read("csv", pyarrow.csv.write_csv),
    "Parquet": lambda inputs: inputs.read("parquet", pyarrow.parquet.write_table),
    "batches of a row": lambda inputs: (inputs.truth, inputs.batches(1)),
    "batches of four": lambda inputs: (inputs.truth, inputs.batches(4)),
    "one batch": lambda inputs: (inputs.truth, inputs.batches(99)),
    "mixed batches": lambda inputs: (inputs.truth, inputs.batches(4, mixed=True)),
    "blocks of a user": lambda inputs: inputs.blocks(1),
    "blocks of two users": lambda inputs: inputs.blocks(2),
    "dicts": lambda inputs: (dict(inputs.truth), exactk.as_predictions(inputs.predictions)),
}
BY_USER: list[Callable[[Rows], Any]] = [
    dict,
    pd.Series,
    lambda values: pl.DataFrame({"user": list(values), "value": list(values.values())}),
    lambda values: pa.table({"user": list(values)[::-1], "value": list(values.values())[::-1]}),
]


def with_keys(rows: Rows, kind: str) -> Rows:
    user_key, item_key = KEYS[kind]
    return {
        user_key(user): {item_key(item): value for item, value in row.items()}
        if isinstance(row, dict)
        else [item_key(item) for item in row]
        for user, row in rows.items()
    }


def values_by_key(case: Case, kind: str, *, weights: bool, groups: bool) -> dict[str, Rows]:
    """Return the weights and groups that a case has; users who are not counted need no weight."""
    user_key, _ = KEYS[kind]
    return ({"weights": {user_key(user): WEIGHTS[user] for user in case.counted}} if weights else {}) | (
        {"groups": {user_key(user): group for user, group in GROUPS.items()}} if groups else {}
    )


@cache
def outcome_of_mappings(
    order: str, sides: str, rule: str, kind: str, has: tuple[bool, bool, bool]
) -> tuple[exactk.Report, list[str]]:
    """Return what mappings give, which every other container is compared with."""
    case = case_of(order, sides, rule)
    options: dict[str, Any] = dict(values_by_key(case, kind, weights=has[0], groups=has[1]))
    if has[2]:
        options["exclude"] = with_keys(EXCLUDED, kind)
    return outcome_of(with_keys(case.truth, kind), with_keys(case.predictions, kind), case.metrics, **options)


@pytest.mark.parametrize("container", KEYED)
def test_f44_keyed_containers_give_one_report(container: str, tmp_path: Path) -> None:
    for number, case_keys in enumerate(in_pairs(["rank", "score"], SIDES, RULES, KEYS, OPTIONS)):
        order, sides, rule, kind, has = case_keys
        case = case_of(order, sides, rule)
        inputs = KeyedInputs(with_keys(case.truth, kind), with_keys(case.predictions, kind), order, tmp_path)
        by_user = values_by_key(case, kind, weights=has[0], groups=has[1])
        held = {name: BY_USER[number % len(BY_USER)](values) for name, values in by_user.items()}
        if has[2]:
            excluded = with_keys(EXCLUDED, kind)
            held["exclude"] = excluded if number // 2 % 2 else pd.DataFrame(inputs.columns(excluded, ""))
        expected = outcome_of_mappings(*case_keys)
        assert_equal(outcome_of(*KEYED[container](inputs), case.metrics, **held), expected)


# Users by row.


@dataclass(frozen=True)
class RowInputs:
    """The rows of a case by number; None for a user without."""

    truth: list[Any]
    predictions: list[Any]

    @classmethod
    def of(cls, case: Case) -> RowInputs:
        return cls([case.truth.get(u) for u in case.users], [case.predictions.get(u) for u in case.users])

    def csr(self, rows: list[Any]) -> tuple[Any, ...]:
        """Return indptr, items, values and which rows are there."""
        values = [value for row in rows for value in (row.values() if isinstance(row, dict) else row or ())]
        indptr = [0, *np.cumsum([len(row or ()) for row in rows]).tolist()]
        present = np.array([row is not None for row in rows])
        return indptr, np.array([item for row in rows for item in row or ()], np.int64), np.array(values), present

    @property
    def truth_csr(self) -> exactk.Truth:
        indptr, items, grades, present = self.csr(self.truth)
        return exactk.Truth(indptr, items, grades, present=present)

    def scipy(self) -> Any:
        indptr, items, scores, _ = self.csr(self.predictions)
        return scipy.sparse.csr_array((scores, items, indptr), shape=(len(self.predictions), ITEMS))

    def blocks(self, size: int, build: Callable[[RowInputs], tuple[Any, Any]]) -> tuple[None, Iterator[Any]]:
        starts = range(0, len(self.truth), size)
        blocks = [RowInputs(self.truth[i : i + size], self.predictions[i : i + size]) for i in starts]
        return None, iter([build(block) for block in blocks])

    def rankings_csr(self) -> exactk.Rankings:
        indptr, items, _, present = self.csr(self.predictions)
        return exactk.Rankings(indptr, items, present)

    def sparse_scores(self) -> exactk.SparseScores:
        indptr, items, scores, present = self.csr(self.predictions)
        return exactk.SparseScores(indptr, items, scores, present=present)


def padded(rows: list[Any]) -> Any:
    width = max(map(len, rows)) + 1
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows])


def lists(inputs: RowInputs) -> tuple[Any, Any]:
    return inputs.truth, inputs.predictions


def dense(inputs: RowInputs) -> tuple[Any, Any]:
    return inputs.truth, np.array([[row[item] for item in range(ITEMS)] for row in inputs.predictions])


ROWS: dict[tuple[str, str], Callable[[RowInputs], tuple[Any, Any]]] = {  # by container, and what ranks
    ("CSR", "rank"): lambda inputs: (inputs.truth_csr, inputs.rankings_csr()),
    ("padded", "rank"): lambda inputs: (inputs.truth, padded(inputs.predictions)),
    ("blocks of a user", "rank"): lambda inputs: inputs.blocks(1, lists),
    ("blocks of four users", "rank"): lambda inputs: inputs.blocks(4, lists),
    ("CSR", "score"): lambda inputs: (inputs.truth_csr, inputs.sparse_scores()),
    ("blocks of a user", "score"): lambda inputs: inputs.blocks(1, lists),
    ("blocks of four users", "score"): lambda inputs: inputs.blocks(4, lists),
    ("scipy", "score"): lambda inputs: (inputs.truth, inputs.scipy()),
    ("dense", "score"): dense,
    ("Scores", "score"): lambda inputs: (inputs.truth_csr, exactk.Scores(dense(inputs)[1])),
    ("embeddings", "score"): lambda inputs: (inputs.truth, exactk.Embeddings(dense(inputs)[1], np.eye(ITEMS))),
    ("dense blocks of a user", "score"): lambda inputs: inputs.blocks(1, dense),
    ("dense blocks of four users", "score"): lambda inputs: inputs.blocks(4, dense),
}
HOLD_MISSING = {"CSR", "blocks of a user", "blocks of four users"}  # predictions; a list of truth always can
DENSE = {"dense", "Scores", "embeddings", "dense blocks of a user", "dense blocks of four users"}
BY_ROW: list[Callable[[list[Any]], Any]] = [list, np.array, pl.Series, pd.Series]
HELD_EXCLUDED: list[Callable[[list[Any]], Any]] = [list, padded, lambda rows: list(map(set, rows))]


def values_by_row(case: Case, has: tuple[bool, bool, bool]) -> dict[str, list[Any]]:
    """Return the weights, groups and exclusions that a case has."""
    by_name: list[tuple[str, Rows]] = [("weights", WEIGHTS), ("groups", GROUPS), ("exclude", EXCLUDED)]
    used = [one for one, is_used in zip(by_name, has, strict=True) if is_used]
    return {name: [by_user.get(user, []) for user in case.users] for name, by_user in used}


@pytest.mark.parametrize(("container", "order"), ROWS)
def test_f44_containers_of_rows_give_one_report(container: str, order: str) -> None:
    for number, (has, rule, sides) in enumerate(in_pairs(OPTIONS, RULES, SIDES)):
        if container not in HOLD_MISSING and 4 in SIDES[sides]:
            sides = {"truth": "both", "either": "predictions"}[sides]  # noqa: PLW2901
        case = case_of(order, sides, rule, is_dense=True)
        inputs = RowInputs.of(case)
        plain: dict[str, Any] = dict(values_by_row(case, has))
        holds = {"exclude": HELD_EXCLUDED[number % len(HELD_EXCLUDED)]}
        held = {name: holds.get(name, BY_ROW[number % len(BY_ROW)])(column) for name, column in plain.items()}
        expected = outcome_of(*lists(inputs), case.metrics, **plain)
        outcome = outcome_of(*ROWS[container, order](inputs), case.metrics, **held)
        # How many items each user has scores for is counted unless all items have one.
        assert_equal(outcome, expected, but="candidates" if container in DENSE else "nothing")


def test_f44_blocks_of_text_items_beside_exclusions_by_row() -> None:
    def named(rows: list[Any]) -> list[Any]:
        return [None if row is None else [f"item {item}" for item in row] for row in rows]

    for has, rule, sides, size in in_pairs(OPTIONS, RULES, SIDES, (1, 4)):
        case = case_of("rank", sides, rule)
        inputs = RowInputs(*map(named, lists(RowInputs.of(case))))
        options: dict[str, Any] = dict(values_by_row(case, has))
        options |= {"exclude": named(options["exclude"])} if has[2] else {}
        expected = outcome_of(*lists(inputs), case.metrics, **options)
        assert_equal(outcome_of(*inputs.blocks(size, lists), case.metrics, **options), expected)


CANDIDATES: dict[str, Callable[[list[list[int]]], Any]] = {
    "lists": list,
    "padded": padded,
    "multi-hot": lambda rows: np.array([[item in row for item in range(ITEMS)] for row in rows]),
    "CSR": lambda rows: exactk.Truth([0, *np.cumsum([len(row) for row in rows])], np.concatenate(rows)),
}


@pytest.mark.parametrize("container", sorted(DENSE))
def test_f44_candidates_leave_the_scores_of_others_out(container: str) -> None:
    cases = in_pairs(OPTIONS, RULES, CANDIDATES, ["both", "predictions"], [False, True])
    for has, rule, candidates, sides, for_all in cases:
        case = case_of("score", sides, rule, is_dense=True)
        rows = [[1, 2, 4, 5, 7] if for_all else [(user + i) % ITEMS for i in range(5)] for user in case.users]
        inputs = RowInputs.of(case)
        left = [{item: row[item] for item in some} for row, some in zip(inputs.predictions, rows, strict=True)]
        options: dict[str, Any] = dict(values_by_row(case, has))
        expected = outcome_of(inputs.truth, complete_scores(left), case.metrics, **options)
        held = np.array(rows[0]) if for_all and candidates == "CSR" else CANDIDATES[candidates](rows)
        outcome = outcome_of(*ROWS[container, "score"](inputs), case.metrics, candidates=held, **options)
        assert_equal(outcome, expected)


# Empty arguments.


def empty_frames(*names: str) -> list[Callable[[], Any]]:
    """Return what makes containers of no user."""
    frame = pl.DataFrame(schema={name: pl.Float64 if name == "value" else pl.Int64 for name in ("user", *names)})
    return [frame.clone, dict, frame.to_pandas, frame.to_arrow, lambda: duckdb.from_arrow(frame.to_arrow())]


EMPTY_BY_USER = {"weights": empty_frames("value"), "groups": empty_frames("value"), "exclude": empty_frames("item")}
EMPTY_VALUES: list[Callable[[], Any]] = [
    *(list, tuple, partial(iter, []), partial(np.array, [])),
    *(partial(pd.Series, [], dtype=float), partial(pl.Series, [], dtype=pl.Float64)),
]
EMPTY_LISTS: list[Callable[[], Any]] = [
    *(list, tuple, partial(iter, []), partial(np.zeros, (0, 3), int), partial(scipy.sparse.csr_array, (0, ITEMS))),
]
EMPTY_BY_ROW = {"weights": EMPTY_VALUES, "groups": EMPTY_VALUES, "exclude": EMPTY_LISTS}


def assert_refused(argument: str, *inputs: Any, **options: Any) -> None:
    with pytest.raises(exactk.ExactkError) as error:
        exactk.evaluate(*inputs, **options)
    assert error.value.argument == argument


@pytest.mark.parametrize("container", KEYED)
def test_f44_empty_options_beside_keys(container: str, tmp_path: Path) -> None:
    for rule, argument in latin(RULES, [*EMPTY_BY_USER], [*KEYED].index(container)):
        case = case_of("score", "either", rule)
        inputs = KeyedInputs(case.truth, case.predictions, "score", tmp_path)
        expected = outcome_of(inputs.truth, inputs.predictions, case.metrics)
        for make in EMPTY_BY_USER[argument]:
            if argument == "exclude":
                assert_equal(outcome_of(*KEYED[container](inputs), case.metrics, exclude=make()), expected)
            else:  # nobody has a weight or a group
                assert_refused(argument, *KEYED[container](inputs), case.metrics, **{argument: make()})
        for make in EMPTY_BY_ROW[argument]:
            assert_refused(argument, *KEYED[container](inputs), case.metrics, **{argument: make()})


@pytest.mark.parametrize(("container", "order"), ROWS)
def test_f44_empty_options_beside_rows(container: str, order: str) -> None:
    case = case_of(order, "predictions", "union", is_dense=True)
    for argument in EMPTY_BY_ROW:
        # Of exclusions that name users, the message says that the truth does not.
        at_fault = "truth" if argument == "exclude" else argument
        for of_message, containers in ((argument, EMPTY_BY_ROW), (at_fault, EMPTY_BY_USER)):
            for make in containers[argument]:
                inputs = ROWS[container, order](RowInputs.of(case))
                assert_refused(of_message, *inputs, case.metrics, **{argument: make()})


KEYED_OPTIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "weights": {"weights": WEIGHTS},
    "groups": {"groups": GROUPS},
    "exclude": {"exclude": EXCLUDED},
    "all": {"weights": WEIGHTS, "groups": GROUPS, "exclude": EXCLUDED},
    "of other keys too": {"weights": {"eve": 1.0} | WEIGHTS, "groups": {"eve": "none"} | GROUPS, "exclude": {}},
}


def test_f44_an_empty_truth_of_keyed_users(tmp_path: Path) -> None:
    empty_truths, orders = empty_frames("item", "grade"), ["rank", "score"]
    for container, options, empty, rule, order in in_pairs(KEYED, KEYED_OPTIONS, empty_truths, RULES, orders):
        case = case_of(order, "either", rule)
        expected = outcome_of({}, case.predictions, case.metrics, **KEYED_OPTIONS[options])
        if rule in {"union", "predictions"}:
            assert expected[0][case.metrics[-1]] > 0  # num_recommended
        in_blocks = container.startswith("blocks")
        inputs = KeyedInputs({} if in_blocks else case.truth, case.predictions, order, tmp_path)
        truth, predictions = KEYED[container](inputs)
        outcome = outcome_of(truth if in_blocks else empty(), predictions, case.metrics, **KEYED_OPTIONS[options])
        assert_equal(outcome, expected)


def test_f44_empty_predictions_of_keyed_users() -> None:
    frames = empty_frames("item", "rank")
    batches = [partial(exactk.Batches, list), lambda: exactk.Batches(lambda: [frames[0]()])]
    for empty, options, rule, has_truth in in_pairs([*frames, *batches], KEYED_OPTIONS, RULES, [False, True]):
        case = case_of("rank", "either", rule)
        truth = case.truth if has_truth else {}
        expected = outcome_of(truth, {}, case.metrics, **KEYED_OPTIONS[options])
        assert_equal(outcome_of(truth, empty(), case.metrics, **KEYED_OPTIONS[options]), expected)
        if not has_truth and options != "none":  # that users would have keys is in the options alone
            assert_equal(outcome_of(None, iter([]), case.metrics, **KEYED_OPTIONS[options]), expected)


EMPTY_ROWS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "padded": lambda: (np.zeros((0, 3), int), np.zeros((0, 2), int)),
    "CSR": lambda: (exactk.Truth([0], []), exactk.Rankings([0], [])),
    "dense": lambda: (np.zeros((0, ITEMS), bool), np.zeros((0, ITEMS))),
    "scipy": lambda: (scipy.sparse.csr_array((0, ITEMS)), scipy.sparse.csr_array((0, ITEMS))),
    "sparse scores": lambda: ([], exactk.SparseScores([0], [], [])),
    "no block": lambda: (None, iter([])),
    "an empty block": lambda: (None, iter([([], [])])),
}


@pytest.mark.parametrize("container", EMPTY_ROWS)
def test_f44_no_rows(container: str) -> None:
    for rule in RULES:
        metrics = case_of("rank", "both", rule).metrics
        empty: list[dict[str, Any]] = [{}, {"weights": []}, {"groups": []}, {"exclude": []}]
        for options in empty:
            report, texts = outcome_of(*EMPTY_ROWS[container](), metrics, **options)
            expected, expected_texts = outcome_of([], [], metrics, **options)
            assert report.state.totals == expected.state.totals
            assert (report.users.tolist(), dict(report.by_group), texts) == ([], {}, expected_texts)
            counts = report.state.to_dict()["counts"]
            assert expected.state.to_dict()["counts"].items() <= counts.items()
            assert not any(counts.values())
        of_one: list[dict[str, Any]] = [{"weights": [1.0]}, {"groups": ["few"]}, {"exclude": [[1]]}]
        for options in of_one:
            assert_refused(next(iter(options)), *EMPTY_ROWS[container](), metrics, **options)


@pytest.mark.parametrize("container", sorted(DENSE))
def test_f44_no_candidates(container: str) -> None:
    case = case_of("score", "predictions", "union", is_dense=True)
    inputs = RowInputs.of(case)
    expected = outcome_of(inputs.truth, complete_scores([{} for _ in case.users]), case.metrics)
    accepted: list[Any] = [(), set(), np.array([], int), [[] for _ in case.users]]
    for empty in accepted:
        assert_equal(outcome_of(*ROWS[container, "score"](inputs), case.metrics, candidates=empty), expected)
    refused: list[Any] = [[], iter([]), np.zeros((0, ITEMS), bool)]
    for empty in refused:
        assert_refused("candidates", *ROWS[container, "score"](inputs), case.metrics, candidates=empty)


USERS_IN_PARTS: dict[str, list[list[Any]]] = {
    "a long key": [["ann"], ["x" * 1000, *map(str, range(2000))]],
    "a long key in few users": [[*map(str, range(10_000))], ["x" * 1000]],
    "a key that ends in a zero byte": [["ann"], ["bob\0"], ["cy"]],
    "bytes": [[b"ann"], [b"\xff"]],
    "integers of int64 and of uint64": [[1, 2**53 + 1], [2**64 - 1]],
    "tuples": [[("ann", 1)], [("x" * 1000, 2), *((str(key), 3) for key in range(2000))], [("bob", 2**63)]],
}


@pytest.mark.parametrize("kind", USERS_IN_PARTS)
def test_f44_keys_of_users_are_the_same_in_parts(kind: str) -> None:
    parts = [{user: [1] for user in users} for users in USERS_IN_PARTS[kind]]
    whole = {user: [1] for users in USERS_IN_PARTS[kind] for user in users}
    report, _ = outcome_of(whole, whole.copy(), "P@1")
    in_blocks, _ = outcome_of(None, iter([(part, part.copy()) for part in parts]), "P@1")
    merged = exactk.merge([outcome_of(part, part.copy(), "P@1")[0] for part in parts])
    for one in (in_blocks, merged):
        assert one == report
        assert one.users.dtype == report.users.dtype
        assert one.users.tolist() == list(whole)


OF_OTHER_KINDS: list[tuple[Any, Any]] = [
    ("ann", b"ann"), ("ann\0", b"ann"), ("1", 1), (-1, 2**63), (("ann", 1), ("ann", "1")), (("ann", 1), ("ann", 1, 2)),
    (("ann", 1), "ann"),
]  # fmt: skip


@pytest.mark.parametrize("users", OF_OTHER_KINDS, ids=str)
def test_f44_keys_of_users_of_several_kinds_are_not_merged(users: tuple[Any, Any]) -> None:
    """NumPy would make all of them strings, or floats."""
    reports = [outcome_of({user: [1]}, {user: [1]}, "P@1")[0] for user in users]
    with pytest.raises(exactk.StateMismatchError, match=r"^parts: expected user keys"):
        exactk.merge(reports)
