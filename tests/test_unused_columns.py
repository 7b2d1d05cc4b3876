"""Columns that say what happened, how far, or in which order: used, named, or warned of, in frames as in files."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import exactk
from exactk._cli import main
from exactk._inputs.keys.column_roles import events_among

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INTERACTIONS: dict[str, list[Any]] = {"user": ["ann", "ann", "bob", "bob"], "item": [1, 2, 3, 4]}
PREDICTIONS = {"ann": [2, 1], "bob": [4, 3]}
FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas, categories": lambda frame: frame.astype({frame.columns[-1]: "category"}),
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
    "pandas, Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, index": lambda frame: frame.set_index("user"),
    "Polars": pl.from_pandas,
    "Polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow": pa.Table.from_pandas,
    "DuckDB": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame)),
}
FILES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "arrow": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
}


def warnings_of(call: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]


def containers(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Return the frame in every container of columns."""
    inputs = {name: build(frame) for name, build in FRAMES.items()}
    for ending, write in FILES.items():
        write(frame, folder / f"truth.{ending}")
        inputs[ending] = folder / f"truth.{ending}"
    return inputs


def recall_of(truth: Any) -> float:
    return float(exactk.evaluate(truth, PREDICTIONS, "recall@1")["recall@1"])


EVENTS: dict[str, tuple[list[Any], Any]] = {
    "event": (["view", "purchase"], "purchase"),
    "eventType": (["a", "b"], "a"),
    "action": (["click", "impression"], "click"),
    "behavior": (["pv", "fav"], "fav"),
    "type": (["cart", "buy"], "buy"),
    "interaction": (["like", "dislike"], "like"),
    "status": (["delivered", "returned"], "delivered"),
    "order_status": (["pending", "completed"], "completed"),
    "clicked": (["yes", "no"], "yes"),
    "relevant": (["Y", "N"], "Y"),
    "is_positive": (["false", "true"], "true"),
    "judgement": (["1", "0"], "1"),
    "esci_label": (["Irrelevant", "Exact"], "Exact"),
    "sentiment": (["happy", "sad"], "happy"),
    "split": (["train", "test"], "test"),
    "set": (["Test", "Train"], "Test"),
}
"""Columns of two values, and one whose rows alone may be meant."""
BY_VALUES = ["type", "status", "order_status", "split", "set"]
"""Those whose names alone do not tell; JSON lines are not read before."""
POSITIVE = ["clicked", "relevant", "is_positive", "judgement", "esci_label", "split", "set"]
"""Those whose values say which rows count."""


@pytest.mark.parametrize("column", EVENTS)
def test_f86_what_happened_is_warned_of_in_every_container(column: str, tmp_path: Path) -> None:
    values, kept = EVENTS[column]
    frame = pd.DataFrame(INTERACTIONS | {column: values * 2})
    for name, truth in containers(frame, tmp_path).items():
        if name == "jsonl" and column in BY_VALUES:
            continue
        if name in {"csv", "tsv"} and column == "judgement":  # of numbers
            continue
        (message,) = warnings_of(lambda: recall_of(truth))  # noqa: B023 - called at once
        seen = "" if name in FILES else f" ({values[0]!r}, {values[1]!r})"
        start = f"truth: every item counts as relevant, because no grade column was found, and {column!r}{seen} is not used; "
        value, of_value = (repr(kept), repr(kept)) if column in POSITIVE else ("...", "one value")
        rows = f"truth[truth[{column!r}] == {value}] in pandas has the rows of {of_value} alone"
        rows = "pass the rows of one value if these alone count" if name in FILES else rows
        assert message.startswith(f"{start}{rows}, truth["), name
    for name, build in FRAMES.items():
        truth = build(frame[frame[column] == kept])
        assert warnings_of(lambda: recall_of(truth)) == [], name  # noqa: B023 - called at once
    frame[frame[column] == kept].to_csv(tmp_path / "kept.csv", index=False)
    assert warnings_of(lambda: recall_of(tmp_path / "kept.csv")) == []


ORDINARY: dict[str, list[Any]] = {
    "title": ["Play it again", "A view to a kill"], "genre": ["Action", "Drama"], "country": ["NL", "NO"],
    "type": ["movie", "book"], "gender": ["f", "m"], "event_time": ["2020-01-01", "2020-01-02"],
    "event_location": ["Rome", "Oslo"], "transactionid": [5, 6], "price": [2.5, 1.0], "fold": [0, 1], "user_age": [31, 40], "language": ["en", "no"],
    "zip_code": [8001, 9400], "t": [5, 6], "lat": [47.25, 46.5], "__index_level_0__": [0, 1], "test_set": ["a", "b"],
}  # fmt: skip
"""Columns by which rows mean the same."""


@pytest.mark.parametrize("column", ORDINARY)
def test_f86_columns_that_say_nothing_of_the_kind_are_quiet(column: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(INTERACTIONS | {column: ORDINARY[column] * 2})
    for name, truth in containers(frame, tmp_path).items():
        assert warnings_of(lambda: recall_of(truth)) == [], name  # noqa: B023 - called at once


@pytest.mark.parametrize("library", sorted(set(FRAMES) - {"pandas, categories"}))  # which are no numbers
@pytest.mark.parametrize("value", [1, 1.0, 2.5, -3])
def test_f86_columns_of_one_number_are_quiet_and_of_others_are_not(library: str, value: float) -> None:
    build = FRAMES[library]
    frame = pd.DataFrame(INTERACTIONS | {"weight": [value] * 4, "label": 1, "dwell": [value] * 4})
    for columns in (["user", "item", "weight"], ["user", "item", "label", "dwell"]):
        assert warnings_of(lambda: recall_of(build(frame[columns]))) == []  # noqa: B023 - called at once
    others = frame.assign(weight=[value, value, value, 7])[["user", "item", "weight"]]
    assert len(warnings_of(lambda: recall_of(build(others)))) == 1
    blocks = ((build(others[begin : begin + 2]), {user: PREDICTIONS[user]}) for begin, user in ((0, "ann"), (2, "bob")))
    assert len(warnings_of(lambda: exactk.evaluate(None, blocks, "recall@1"))) == 1


@pytest.mark.parametrize("column", ["sentiment", "cluster_label", "votes"])
def test_other_numbers_beside_grades_are_quiet(column: str) -> None:
    frame = pd.DataFrame(INTERACTIONS | {"rating": [5, 4, 4, 5], column: [0.5, 0.0, 1.0, -1.0]})
    assert warnings_of(lambda: recall_of(frame)) == []
    assert len(warnings_of(lambda: recall_of(frame.drop(columns="rating")))) == 1


@pytest.mark.parametrize("column", ["event", "clicked", "has_viewed", "is_relevant"])
def test_f86_beside_grades_that_were_found_too_but_not_beside_named_ones(column: str, tmp_path: Path) -> None:
    values = ["view", "buy"] if column == "event" else [0.0, 1.0]
    frame = pd.DataFrame(INTERACTIONS | {"label": 1, column: values * 2})
    for name, truth in containers(frame, tmp_path).items():
        if name == "pandas, categories" and column != "event":  # no numbers, but categories of them
            continue
        (message,) = warnings_of(lambda: recall_of(truth))  # noqa: B023 - called at once
        assert message.startswith(f"truth: the rows count by 'label' alone, and {column!r} "), name
        assert message.endswith(", grade='label' keeps it so"), name
        options: dict[str, Any] = {"grade": "label"}
        assert warnings_of(lambda: exactk.evaluate(truth, PREDICTIONS, "recall@1", **options)) == [], name  # noqa: B023


def test_f86_constant_columns_of_files_are_quiet(tmp_path: Path) -> None:
    """As the iteration of qrels and run numbers are."""
    frame = pd.DataFrame(INTERACTIONS | {"Q0": 0, "run": [3] * 4, "event": "buy"})
    for ending in ("csv", "tsv", "parquet", "arrow"):
        FILES[ending](frame, tmp_path / f"truth.{ending}")
        assert warnings_of(lambda: recall_of(tmp_path / f"truth.{ending}")) == []  # noqa: B023 - called at once


def test_f86_one_warning_for_events_numbers_and_lists() -> None:
    frame = pd.DataFrame(INTERACTIONS | {"event": ["view", "buy"] * 2, "dwell": [1.5, 1, 1, 1], "plays": [1, 2, 3, 4]})
    (message,) = warnings_of(lambda: recall_of(frame))
    assert "and 'event' ('view', 'buy') and 'dwell' and 'plays' are not used; " in message
    assert "grade='dwell' uses it as grades" in message
    assert warnings_of(lambda: exactk.evaluate(frame, PREDICTIONS, "recall@1", groups={"ann": "x", "bob": "y"})) == [
        message
    ]
    lists = frame.groupby("user", as_index=False).agg(list)[["user", "item", "event"]]
    for truth in (lists, pl.from_pandas(lists)):
        (message,) = warnings_of(lambda: recall_of(truth))  # noqa: B023 - called at once
        assert "'event' is not used; " in message


@given(
    st.lists(st.sampled_from(["view", "add_to_cart", "purchase", "click", "like"]), min_size=2, unique=True),
    st.sampled_from(["event", "Action", "interaction_type", "type", "kind"]),
)
def test_f86_drawn_events_are_never_silent(values: list[str], name: str) -> None:
    assert events_among([name], lambda _: values) == ((name, *values),)
    assert events_among([name], lambda _: values[:1]) == ()


LOWER_IS_BETTER = ["loss", "distance", "dist", "error", "position", "rank", "val_loss", "L2Distance", "log_loss"]
HIGHER_IS_BETTER = [
    "neg_loss",
    "-distance",
    "rank_score",
    "PageRank",
    "cosine",
    "not_distance",
    "rrf_rank",
    "1-distance",
]


@pytest.mark.parametrize("column", [*LOWER_IS_BETTER, *HIGHER_IS_BETTER])
def test_f86_scores_whose_names_say_that_the_lowest_is_best(
    column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], column: [1.0, 2.0]})
    truth, warns = {"a": ["x"]}, column in LOWER_IS_BETTER
    start = (
        f"predictions: the item of the highest {column!r} comes first, though the name says that the lowest is best; "
    )
    inputs = containers(frame, tmp_path)
    for name, predictions in inputs.items():
        messages = warnings_of(lambda: exactk.evaluate(truth, predictions, "mrr", score=column))  # noqa: B023
        assert [message.startswith(start) for message in messages] == [True] * warns, name
    (tmp_path / "truth.txt").write_text("a 0 x 1\n", encoding="utf-8")
    assert main(["evaluate", str(tmp_path / "truth.txt"), str(inputs["csv"]), "-m", "mrr", f"--score={column}"]) == 0
    assert (f"; --rank {column} puts the lowest first" in capsys.readouterr().err) is warns
    if warns:
        assert exactk.evaluate(truth, frame, "mrr", rank=column)["mrr"] == 1.0


RANKS = {"ts_rank": [0.06, 0.09], "percentiles": [0.5, 1.0], "ranks": [1.0, 2.0], "integers": [1, 2]}


@pytest.mark.parametrize("kind", RANKS)
def test_f86_ranks_with_fractions_may_be_scores(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "rank": RANKS[kind]})
    warns = kind in {"ts_rank", "percentiles"}
    inputs = containers(frame, tmp_path) | {"Series": frame.set_index(["user", "item"])["rank"]}
    for name, predictions in inputs.items():
        messages = warnings_of(lambda: exactk.evaluate({"a": ["x"]}, predictions, "mrr"))  # noqa: B023
        assert len(messages) == warns, name
        if warns:
            assert messages[0].endswith("; score='rank' if the highest is best, rank='rank' keeps the order"), name
        for options, mrr in (({"rank": "rank"}, 1.0), ({"score": "rank"}, 0.5)) if warns else ():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert exactk.evaluate({"a": ["x"]}, predictions, "mrr", **options)["mrr"] == mrr  # type: ignore[arg-type]


def test_f86_series_named_as_distances_and_unused_distances() -> None:
    frame = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "distance": [1.0, 2.0]})
    series = frame.set_index(["user", "item"])["distance"]
    (message,) = warnings_of(lambda: exactk.evaluate({"a": ["x"]}, series, "mrr"))
    assert "the highest 'distance' comes first" in message
    unused = frame.assign(score=1.0)
    assert "rank='distance' orders by it" in warnings_of(lambda: exactk.as_predictions(unused))[0]


NAMES = {
    "item": ["prediction", "score", "rank", "query", "rating"],
    "user": ["query", "label", "rating", "item", "doc", "score"],
}


@pytest.mark.parametrize(("role", "column"), [(role, name) for role, names in NAMES.items() for name in names])
def test_f86_a_named_column_has_no_other_role(role: str, column: str, tmp_path: Path) -> None:
    other = "customer_id" if role == "item" else "product_id"
    keys = {column: ["a", "b"], other: ["x", "y"]}
    user, item = (column, other) if role == "user" else (other, column)
    frames = {
        "truth": pd.DataFrame(keys),
        "predictions": pd.DataFrame(keys | {"rank" if column == "score" else "score": [1, 1]}),
        "exclude": pd.DataFrame({user: ["z"], item: ["z"]}).astype(str),
        "candidates": pd.DataFrame(keys),
        "weights": pd.DataFrame({user: keys[user], "grade": [1.0, 2.0]}),
        "groups": pd.DataFrame({user: keys[user], "side": ["left", "right"]}),
    }
    options: dict[str, Any] = {role: column}
    for ending in ("", *FILES):
        inputs: dict[str, Any] = dict(frames)
        for name, frame in frames.items() if ending else ():
            inputs[name] = tmp_path / f"{name}.{ending}"
            FILES[ending](frame, inputs[name])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no (user|query) of exclude")  # of an unknown user
            report = exactk.evaluate(metrics="recall@1", **inputs, **options)
        assert report["recall@1"] == 1.0
        assert report.state.grade_column is None
    items = exactk.evaluate(frames["truth"], frames["predictions"], "item_coverage@1", items=frames["truth"], **options)
    assert items["item_coverage@1"] == 1.0
    paths = [str(tmp_path / f"{name}.csv") for name in ("truth", "predictions")]
    assert main(["evaluate", *paths, "-m", "recall@1", f"--{role}", column]) == 0


@pytest.mark.parametrize("column", ["probs", "logits", "ratings", "confidences"])
def test_lists_of_scores_beside_items_are_told_of(column: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["a"], "items": [["y", "x"]], column: [[0.25, 0.75]]})
    frame.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    for predictions in (frame, pl.from_pandas(frame), tmp_path / "run.jsonl"):
        (message,) = warnings_of(lambda: exactk.evaluate({"a": ["x"]}, predictions, "mrr"))  # noqa: B023
        assert f"{column!r} is not used; score={column!r} orders by it" in message
        assert exactk.evaluate({"a": ["x"]}, predictions, "mrr", score=column)["mrr"] == 1.0


@pytest.mark.parametrize("argument", ["weights", "groups"])
def test_the_values_of_users_are_not_proposed_as_users(argument: str) -> None:
    frame = pd.DataFrame({"item": ["x"], argument[:-1]: [1]})
    with pytest.raises(exactk.InputError, match=f"^{argument}: .* for example with user='NAME'$"):
        exactk.evaluate({"a": ["x"]}, {"a": ["x"]}, "mrr", **{argument: frame})  # type: ignore[arg-type]


def test_f86_names_are_those_of_their_arguments() -> None:
    """A score that is named does not hide a truth's grades of that name."""
    truth = pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "label": [0.0, 1.0]})
    run = truth.rename(columns={"label": "rating"}).assign(label=[2.0, 1.0])[["user", "item", "label"]]
    report = exactk.evaluate(truth, run, "recall@1", score="label")
    assert (report["recall@1"], report.state.grade_column) == (0.0, "label")


HINTS: list[tuple[dict[str, list[Any]], dict[str, str], str]] = [
    ({"created": ["2024-01-31"], "review": ["very long text " * 9], "reader": ["r1"], "book": ["b7"]}, {}, "user='reader'"),
    ({"created": ["2024-01-31"], "review": ["very long text " * 9], "reader": ["r1"], "book": ["b7"]},
     {"user": "reader"}, "item='book'"),
    ({"price": [1.5], "comment": ["so so"], "reader_id": ["f81d"]}, {}, "user='reader_id'"),
    ({"user": ["a"], "note": ["free text " * 9], "handle": ["h1"]}, {}, "item='handle'"),
    ({"user": ["a"], "item": ["x"], "title": ["Solaris"], "closeness": [0.5]}, {}, "score='closeness'"),
    ({"user": ["a"], "item": ["x"], "neg_distance": [0.5]}, {}, "score='neg_distance' or rank='neg_distance'"),
    ({"user": ["a"], "item": ["x"], "reciprocal_rank": [0.5]}, {}, "score='reciprocal_rank' or rank="),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "named", "hint"), HINTS)
def test_f86_suggestions_look_like_ids(
    columns: dict[str, list[Any]], named: dict[str, str], hint: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame(columns)
    inputs = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    for ending in ("csv", "parquet", "jsonl")[: 2 if "score" in hint else 3]:  # any line of JSON may hold lists
        FILES[ending](frame, tmp_path / f"run.{ending}")
        inputs.append(tmp_path / f"run.{ending}")
    for predictions in inputs:
        with pytest.raises(exactk.InputError, match=f"name it, for example with {hint}"):
            exactk.evaluate({"a": ["x"]}, predictions, "mrr", **named)  # type: ignore[arg-type]
