"""What each form of input is taken for in each container: what is meant, or an error or a warning says what to write.

``python tests/test_taken_for.py`` writes the tables of the page anew.
"""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import exactk
from exactk._runtime.table import markdown_of_cells

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/what_your_input_is_taken_for.md"
Call = Callable[[], object]


class Form(NamedTuple):
    """A form of input, what it means, what each reading gives, and calls by container."""

    name: str
    meant: str
    readings: Mapping[str, object]
    calls: Mapping[str, Call]

    def outcome(self, container: str) -> str:
        """Return what the input is taken for, and whether that is said."""
        if container not in self.calls:
            return ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                given = self.calls[container]()
            except exactk.ExactkError:
                return "error"
        reading = next((name for name, one in self.readings.items() if one == given), None)
        assert reading is not None, (self.name, container, given, self.readings)
        return f"{reading}, warns" if caught else reading


# --- keyed items, of so many users that nothing is alike by chance

USERS = [f"u{number:02}" for number in range(12)]
DRAWN = {user: [f"d{item}" for item in np.random.default_rng(at).permutation(9)] for at, user in enumerate(USERS)}
RANKED = {user: items[:5] for user, items in DRAWN.items()}
RELEVANT = {user: items[3:5] + items[8:] for user, items in DRAWN.items()}
GRADES = {user: dict(zip(items, (1, 2, 4), strict=True)) for user, items in RELEVANT.items()}
SCORES = {user: dict(zip(items, (0.875, 0.75, 0.5, 0.25, 0.125), strict=True)) for user, items in RANKED.items()}
RANKS = {user: dict(zip(items, range(1, 6), strict=True)) for user, items in RANKED.items()}
TEST_ALONE = {user: dict(zip(items, (0.5, 0.25, 0.75), strict=True)) for user, items in RELEVANT.items()}
PAGES = {user: [(item, 3 - at) for at, item in enumerate(items)] for user, items in RELEVANT.items()}
OTHER_PAGES = {user: [(item, 1 + at) for at, item in enumerate(items)] for user, items in RELEVANT.items()}
Rows = Mapping[str, Any]


def values(truth: Any, predictions: Any, **options: Any) -> dict[str, float]:
    return dict(exactk.evaluate(truth, predictions, ["ndcg", "mrr"], **options))


def frame_of(rows: Rows, number: str) -> pd.DataFrame:
    """Return one row per user and item, with the number of each; without numbers, with its rank or nothing."""
    pairs = [
        (user, item, row[item] if isinstance(row, dict) else rank)
        for user, row in rows.items()
        for rank, item in enumerate(row, 1)
    ]
    frame = pd.DataFrame(pairs, columns=["user", "item", number or "rank"])
    return frame if number else frame[["user", "item"]]


def file_of(name: str, write: Callable[[Path], object]) -> str:
    """Write a file in the current folder; return its path."""
    write(Path(name))
    return name


def in_containers(rows: Rows, number: str) -> dict[str, Callable[[], Any]]:
    """Return the rows in each container of keyed items, by a function that makes it."""
    frame = frame_of(rows, number)
    with_numbers = isinstance(rows[USERS[0]], dict)
    return {
        "mapping": lambda: dict(rows),
        "pairs": lambda: {user: list(row.items() if with_numbers else row) for user, row in rows.items()},
        "pandas": frame.copy,
        "Polars": lambda: pl.from_pandas(frame),
        "Series": lambda: frame.set_index(["user", "item"])[number] if with_numbers else pd.Series(dict(rows)),
        "CSV": lambda: file_of("given.csv", lambda path: frame.to_csv(path, index=False)),
        "Parquet": lambda: file_of("given.parquet", frame.to_parquet),
        "JSON": lambda: file_of("given.json", lambda path: path.write_text(json.dumps(rows))),
    }


def of_predictions(name: str, meant: str, rows: Rows, number: str, readings: Mapping[str, Rows]) -> Form:
    given = {reading: values(RELEVANT, lists) for reading, lists in readings.items()}
    builders = in_containers(rows, number).items()
    return Form(
        name, meant, given, {one: partial(lambda make: values(RELEVANT, make()), make) for one, make in builders}
    )


def of_truth(name: str, meant: str, rows: Rows, number: str, readings: Mapping[str, Any]) -> Form:
    given = {reading: values(truth, RANKED) for reading, truth in readings.items()}
    builders = in_containers(rows, number).items()
    return Form(name, meant, given, {one: partial(lambda make: values(make(), RANKED), make) for one, make in builders})


def twice(make: Callable[[], Any]) -> Any:
    one = make()
    return values(one, one)


def keyed_forms() -> Iterator[Form]:
    """Yield the forms of keyed items."""
    both_orders = {"best first": RANKED, "worst first": {user: row[::-1] for user, row in RANKED.items()}}
    alone = {user: sorted(row, key=lambda item: -row[item]) for user, row in TEST_ALONE.items()}
    yield of_predictions("predictions: items, best first", "best first", RANKED, "rank", both_orders)
    yield of_predictions("predictions: items with scores", "best first", SCORES, "score", both_orders)
    yield of_predictions("predictions: items with ranks, in place of scores", "best first", RANKS, "score", both_orders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_alone = of_predictions("predictions: the test items alone", "", TEST_ALONE, "score", {"best first": alone})
    yield of_alone
    grades, relevant = {"grades": GRADES}, {"relevant": RELEVANT}
    yield of_truth("truth: items", "relevant", RELEVANT, "", relevant)
    yield of_truth("truth: items with grades", "grades", GRADES, "grade", grades | relevant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratings = of_truth("truth: items with ratings", "", GRADES, "rating", grades | relevant)
        events = of_truth("truth: items with numbers of another name", "", GRADES, "clicks", grades | relevant)
    frames = ("pandas", "Polars", "Series", "CSV", "Parquet")
    yield ratings._replace(calls={one: ratings.calls[one] for one in frames})
    yield events._replace(calls={one: events.calls[one] for one in frames if one != "Series"})
    seen = {user: dict(zip(items, (1, 0, 1), strict=False)) for user, items in DRAWN.items()}
    above_0 = {user: [item for item, label in row.items() if label] for user, row in seen.items()}
    excluded = {
        name: values(RELEVANT, RANKED, exclude=rows)
        for name, rows in {"all items": {user: [*row] for user, row in seen.items()}, "items above 0": above_0}.items()
    }
    exclude = {
        one: partial(lambda make: values(RELEVANT, RANKED, exclude=make()), make)
        for one, make in in_containers(seen, "label").items()
    }
    yield Form("exclude: items with labels of 0 and 1", "items above 0", excluded, exclude)
    yes_or_no = {user: dict(zip(row, ("yes", "no", "yes"), strict=True)) for user, row in GRADES.items()}
    yes = {user: [item for item, flag in row.items() if flag == "yes"] for user, row in yes_or_no.items()}
    distances = {user: {item: at / 8 for at, item in enumerate(row)} for user, row in RANKED.items()}
    joined = {user: " ".join(row) for user, row in RELEVANT.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flags = of_truth(
            "truth: items with a column of yes and no", "yes", yes_or_no, "relevant", relevant | {"yes": yes}
        )
        near = of_predictions(
            "predictions: items with distances, nearest first", "best first", distances, "score", both_orders
        )
        texts = {"texts": values({user: [text] for user, text in joined.items()}, RANKED)}
    yield flags._replace(calls={one: flags.calls[one] for one in frames if one != "Series"})
    yield near._replace(calls={one: near.calls[one] for one in ("mapping", "pairs", "JSON")})
    as_frame = pd.DataFrame({"user": list(joined), "item": list(joined.values())})
    makes: dict[str, Callable[[], Any]] = {
        "mapping": lambda: joined,
        "pandas": lambda: as_frame,
        "Polars": lambda: pl.from_pandas(as_frame),
        "Series": lambda: pd.Series(joined),
        "CSV": lambda: file_of("given.csv", lambda path: as_frame.to_csv(path, index=False)),
        "Parquet": lambda: file_of("given.parquet", as_frame.to_parquet),
        "JSON": lambda: file_of("given.json", partial(write_json, joined)),
    }
    calls = {one: partial(lambda make: values(make(), RANKED), make) for one, make in makes.items()}
    yield Form("truth: several items in one text", "items", texts, calls)
    same = {one: partial(twice, make) for one, make in in_containers(GRADES, "grade").items()}
    yield Form("one input as truth and predictions", "", {}, same)
    pages = {
        "mapping": lambda: values(PAGES, OTHER_PAGES),
        "Series": lambda: values(pd.Series(PAGES), pd.Series(OTHER_PAGES)),
        "JSON": lambda: values(
            *(file_of(f"{at}.json", partial(write_json, rows)) for at, rows in enumerate((PAGES, OTHER_PAGES)))
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_numbers = values(*({user: dict(row) for user, row in rows.items()} for rows in (PAGES, OTHER_PAGES)))
    yield Form("items of two parts: (document, page)", "", {"items with numbers": as_numbers}, pages)


def write_json(rows: Rows, path: Path) -> None:
    path.write_text(json.dumps(rows))


# --- matrices

MATRIX = np.random.default_rng(3).random((4, 6))
FLAGS = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [1, 0, 0, 0, 0, 1]], bool)
INTEGERS = (MATRIX * 100).astype(int)
MATRICES: dict[str, Callable[[Any], Any]] = {
    "array": lambda matrix: matrix,
    "lists": lambda matrix: matrix.tolist(),
    "sparse": scipy.sparse.csr_array,
    "Truth.from_dense, Scores": lambda matrix: (exactk.Truth.from_dense if matrix.dtype == bool else exactk.Scores)(
        matrix
    ),
}


def of_matrices(name: str, meant: str, readings: Mapping[str, Call], call: Callable[[Any], object], given: Any) -> Form:
    calls = {one: partial(lambda make: call(make(given)), make) for one, make in MATRICES.items()}
    return Form(name, meant, {reading: one() for reading, one in readings.items()}, calls)


def matrix_forms() -> Iterator[Form]:
    """Yield the forms of matrices, beside a truth of flags or scores of floats."""
    best = np.argsort(-MATRIX, axis=1)
    sets = [np.flatnonzero(row) for row in FLAGS]
    ids: dict[str, Call] = {"ids": lambda: values(sets, best)}
    scores: dict[str, Call] = {"scores": lambda: values(FLAGS, MATRIX)}
    integers: dict[str, Call] = {"scores": lambda: values(FLAGS, exactk.Scores(INTEGERS))}
    beside_flags, beside_scores = partial(values, FLAGS), partial(lambda truth: values(truth, MATRIX))
    yield of_matrices("predictions: scores", "scores", scores, beside_flags, MATRIX)
    yield of_matrices("predictions: integer scores", "scores", integers, beside_flags, INTEGERS)
    yield of_matrices("predictions: all columns, best first", "ids", ids, beside_flags, best)._replace(
        calls={one: partial(lambda make: values(FLAGS, make(best)), MATRICES[one]) for one in ("array", "lists")}
    )
    yield of_matrices("truth: flags", "flags", {"flags": lambda: values(sets, MATRIX)}, beside_scores, FLAGS)
    yield of_matrices("truth: flags without the last column", "", {}, beside_scores, FLAGS[:, :-1])
    yield of_matrices("truth: flags without the first column", "", {}, beside_scores, FLAGS[:, 1:])
    exclude = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0]], bool)
    beside_both = partial(lambda mask: values(FLAGS, MATRIX, exclude=mask))
    excluded: dict[str, Call] = {
        "flags": lambda: values(sets, MATRIX, exclude=[np.flatnonzero(row) for row in exclude])
    }
    yield of_matrices("exclude: flags", "flags", excluded, beside_both, exclude)
    yield of_matrices("exclude: flags without the first column", "", {}, beside_both, exclude[:, 1:])
    padded = np.pad(exclude, ((0, 0), (1, 0)))
    shifted: dict[str, Call] = {
        "shifted": lambda: values(sets, MATRIX, exclude=[np.flatnonzero(row[:6]) for row in padded])
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        behind = of_matrices(
            "exclude: flags behind a column of padding", "flags", excluded | shifted, beside_both, padded
        )
        from_1: dict[str, Call] = {"ids": lambda: values(sets, best[:, :5] + 1)}
        ids_from_1 = of_matrices(
            "predictions: ids from 1, by truth", "", from_1, lambda truth: values(truth, best[:, :5] + 1), FLAGS
        )
    yield behind
    yield ids_from_1


# --- files

LINES = {
    "qrels": [f"{user} 0 {item} 1" for user, row in RELEVANT.items() for item in row],
    "ratings with times": [f"{at} {at % 7 + 20} {at % 5 + 1} {881250949 + at}" for at in range(9)],
    "a user and items per line": [f"{at} {at + 3} {at + 4} {at + 7}" for at in range(9)],
    "CSV": ["user,item", *(f"{user},{item}" for user, row in RELEVANT.items() for item in row)],
    "TSV": ["user\titem", *(f"{user}\t{item}" for user, row in RELEVANT.items() for item in row)],
    "JSON": [json.dumps(RELEVANT)],
    "JSON lines": [json.dumps({"user": user, "items": row}) for user, row in RELEVANT.items()],
}
ENDINGS = ["", ".qrels", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".npz"]


def file_forms() -> Iterator[Form]:
    """Yield the forms of text, under each ending."""
    for name, lines in LINES.items():
        text = "\n".join(lines) + "\n"

        def read(ending: str, text: str = text) -> dict[str, float]:
            return values(file_of(f"given{ending}", lambda path: path.write_text(text)), RANKED)

        calls = {ending or "none": partial(read, ending) for ending in ENDINGS}
        yield Form(f"truth: {name}", "what it is", {"what it is": values(RELEVANT, RANKED)}, calls)


TABLES: dict[str, tuple[Callable[[], Iterator[Form]], list[str]]] = {
    "keyed items": (keyed_forms, ["mapping", "pairs", "pandas", "Polars", "Series", "CSV", "Parquet", "JSON"]),
    "matrices": (matrix_forms, list(MATRICES)),
    "files": (file_forms, [ending or "none" for ending in ENDINGS]),
}


def table(name: str) -> str:
    """Return a table of the page."""
    forms, containers = TABLES[name]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        rows = [[form.name, *map(form.outcome, containers)] for form in forms()]
    return markdown_of_cells([name, *containers], rows, left=len(containers) + 1)


def parts(page: str) -> list[str]:
    """Return the page's text, in which every second part is a table."""
    return re.split(r"((?:^\|.*\n)+)", page, flags=re.MULTILINE)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("what", ["the page", "no silence"])
def test_what_input_is_taken_for(name: str, what: str) -> None:
    found = table(name)
    if what == "the page":
        assert found.strip() in PAGE.read_text(encoding="utf-8"), f"python {__file__} writes it"
        return
    meant = {form.name: form.meant for form in TABLES[name][0]()}
    for row in found.strip().splitlines()[2:]:
        form, *outcomes = (cell.strip() for cell in row.strip("|").split("|"))
        for one in filter(None, outcomes):
            assert one == "error" or one.endswith(", warns") or one == meant[form], (form, one)


def write_page() -> None:
    """Write the tables of the page anew."""
    names = iter(TABLES)
    text = [
        table(next(names)).strip() + "\n" if part.startswith("|") else part for part in parts(PAGE.read_text("utf-8"))
    ]
    PAGE.write_text("".join(text), encoding="utf-8")


if __name__ == "__main__":
    write_page()
