"""Names of columns: a name that nothing reads, and columns where rows of users are expected, are errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import exactk
from rankings import rankings_of

RECORDS: list[dict[str, Any]] = [
    {"user_id": 1, "item_id": 10, "rank": 1},
    {"user_id": 2, "item_id": 11, "rank": 1},
    {"user_id": 3, "item_id": 12, "rank": 1},
]


@pytest.mark.parametrize("orient", ["list", "dict"])
def test_columns_are_no_rows_of_users(orient: Any) -> None:
    """The names of their columns would be users or items."""
    frame = pd.DataFrame(RECORDS)
    content = frame.to_dict(orient)
    truth = {1: [10], 2: [90], 3: [12]}
    calls: tuple[tuple[str, Callable[[], object]], ...] = (
        ("truth", lambda: exactk.evaluate(content, frame, "mrr")),
        ("truth", lambda: exactk.as_truth(content)),
        ("predictions", lambda: exactk.as_predictions(content)),
        ("exclude", lambda: exactk.evaluate(truth, frame, "mrr", exclude=content)),
    )
    for argument, call in calls:
        with pytest.raises(exactk.InputTypeError, match=f"{argument}: expected the items of each user") as caught:
            call()
        hint = str(caught.value).partition("; ")[2].removesuffix(" makes a data frame of them")
        pasted = eval(hint, {"pandas": pd, argument: content})  # noqa: S307
        assert exactk.evaluate(truth, pasted, "mrr") == exactk.evaluate(truth, frame, "mrr")


def test_names_of_columns_name_columns() -> None:
    """Where nothing has columns, or what had some was read before, a name would change nothing."""
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "score": [1.0, 2.0], "other": [2.0, 1.0]})
    truth = {"a": ["x"], "b": ["y"]}
    read = exactk.as_predictions(frame[["user", "item", "score"]])
    scored: Any = read
    calls: list[tuple[str, str, Callable[[], object]]] = [
        ("score", "predictions", lambda: exactk.evaluate(truth, read, "mrr", score="other")),
        ("rank", "predictions", lambda: exactk.evaluate(truth, {"one": read}, "mrr", rank="other")),
        ("grade", "truth", lambda: exactk.evaluate(truth, frame, "mrr", score="score", grade="x")),
        ("user", "truth or predictions or", lambda: exactk.recall_at_k(truth, {**truth}, user="u")),
        ("item", "scores or exclude", lambda: exactk.topk(scored, 1, item="i")),
        ("user", "truth, found user='u' without one", lambda: exactk.as_truth(truth, user="u")),
        ("item", "exclude", lambda: exactk.as_exclusions(truth, item="i")),
        ("rank", "predictions, found", lambda: rankings_of([[1]], rank="r")),
    ]
    for name, argument, call in calls:
        with pytest.raises(exactk.InputError) as caught:
            call()
        assert str(caught.value).startswith(f"{name}: expected a data frame or file with columns as {argument}")
    weights = pd.DataFrame({"who": ["a", "b"], "weight": [1.0, 3.0]})
    assert exactk.evaluate(truth, {**truth}, "mrr", user="who", weights=weights)["mrr"] == 1.0
    assert exactk.compare(truth, {"one": frame}, "mrr", score="other")["mrr"]["one"] == 1.0
    assert exactk.evaluate(None, iter([(truth, frame)]), "mrr", score="other")["mrr"] == 1.0


HEADERS = {
    "ann,tea,0.5": r"0\.5 is a value, and files begin with a line of column names",
    "ann,7": "7 is a value, and files begin with a line of column names",
    "user;item;score": r"its separator is ';': predictions=exactk.read\(.*, separator=';'\)",
    "user|item": r"its separator is '\|': predictions=exactk.read\(.*, separator='\|'\)",
    "user\titem": r"its separator is '\\t': predictions=exactk.read\(.*, separator='\\t'\)",
    "member,sku": "name it, for example with user='member'",
    "a;b,sku": "name it, for example with user='a;b'",
    "ann": "files begin with a line of column names",
    "# made by x": "files begin with a line of column names",
    "1:": "files begin with a line of column names",
    "<!DOCTYPE html>": "files begin with a line of column names",
}


NO_NAMES = (
    r"; if no line has column names: (predictions=exactk\.read\(.*, columns=\['user', 'item'|name .*\['user', '-').*"
)


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_are_none_are_told(header: str, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"{header}\n{header}\n", encoding="utf-8")
    with pytest.raises(exactk.InputError, match=rf"run\.csv; {HEADERS[header]}({NO_NAMES})?$"):
        exactk.evaluate({"ann": ["tea"]}, path, "recall@1")
