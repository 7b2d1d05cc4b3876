"""What each form of input is taken for in each container: what is meant, or an error or a warning says what to write.

``python tests/test_taken_for.py`` writes the tables of the page anew.
"""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import exactk
from exactk._cli.streams import as_command_option
from exactk._runtime.faults import Option
from exactk._runtime.table import markdown_of_cells
from strategies import examples

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/what_your_input_is_taken_for.md"
Call = Callable[[], object]


class Form(NamedTuple):
    """A form of input, what it means, what each reading gives, and calls by container."""

    name: str
    meant: str
    readings: Mapping[str, object]
    calls: Mapping[str, Call]
    refused: Callable[[exactk.ExactkError], str] = lambda _: "error"

    def outcome(self, container: str) -> str:
        """Return what the input is taken for, and whether that is said."""
        if container not in self.calls:
            return ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                given = self.calls[container]()
            except exactk.ExactkError as error:
                return self.refused(error)
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


# --- data sets and what tools write, each as its first lines

TIME = 881250949
Meant = Mapping[Any, Any]
"""The items of each user: in order, or with grades or scores."""


class File(NamedTuple):
    """A file as people have it, and what it means as a truth and as predictions, if it can be either."""

    name: str
    lines: tuple[str, ...]
    truth: Meant | None = None
    predictions: Meant | None = None


STARS = {1: {20: 4, 31: 3}, 2: {20: 5}}
HITS = {"q1": {"d1": 2.5, "d2": 1.5}}
FILES = [
    File("qrels.txt", ("q1 0 d1 2", "q1 0 d2 1", "q2 0 d3 1"), {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}),
    File("aspects.qrels", ("q1 1 d1 1", "q1 2 d2 1", "q2 1 d3 1"), {"q1": ["d1", "d2"], "q2": ["d3"]}),
    File("numbers.qrels", ("1 1 21 1", "1 2 22 1", "2 1 23 1")),
    File("bm25.run", ("q1 Q0 d1 1 2.5 t", "q1 Q0 d2 2 1.5 t"), None, HITS),
    File("copied.run", ("q1 Q0 d1 1 1 t", "q1 Q0 d2 2 2 t"), None, {"q1": ["d2", "d1"]}),
    File("blank.run", ("q1 Q0 my doc 1 9.5 t", "q1 Q0 d2 2 8.5 t")),
    File("qrels.dev.tsv", ("11\t0\t21\t1", "12\t0\t22\t1"), {"11": ["21"], "12": ["22"]}),
    File("run.tsv", ("11\t22\t2", "11\t21\t1", "12\t21\t1"), None, {"11": ["21", "22"], "12": ["21"]}),
    File("coil.tsv", ("11\t21\t0.9", "11\t22\t0.4")),
    File("three.tsv", ("11\t21\t1", "12\t22\t1")),
    File("beir.tsv", ("query-id\tcorpus-id\tscore", "q1\td1\t2.5", "q1\td2\t1.5"), HITS, HITS),
    File("mteb.jsonl", ('{"query-id": "q1", "corpus-id": "d1", "score": 1}',), {"q1": ["d1"]}, {"q1": ["d1"]}),
    File("u.data", (f"1\t20\t4\t{TIME}", f"1\t31\t3\t{TIME}", f"2\t20\t5\t{TIME}"), STARS),
    File("u1.base", (f"ann\t20\t4\t{TIME}", f"ann\t31\t3\t{TIME}")),
    File("ratings.dat", (f"1::20::4::{TIME}", f"1::31::3::{TIME}", f"2::20::5::{TIME}"), STARS),
    File("ncf.test.negative", ("(0,25)\t1064\t174\t27", "(1,33)\t1072\t315\t33")),
    File("train.txt", ("0 5 7 9 4", "1 6", "2 8 3"), *[{0: [5, 7, 9, 4], 1: [6], 2: [8, 3]}] * 2),
    File("three_items.txt", ("0 5 7 9", "1 6 8 3")),
    File("letor.txt", ("2 qid:1 1:.5 # d1", "1 qid:1 1:.2 # d2"), {1: {"d1": 2, "d2": 1}}),
    File("mslr.txt", ("2 qid:1 1:.5", "1 qid:1 1:.2"), {1: {0: 2, 1: 1}}),
    File("gowalla.txt", ("0\t2010-10-19T23:55:27Z\t30.23\t-97.79\t22847",)),
    File("yoochoose.dat", ("1,2014-04-07T10:51:09.277Z,214536502,0",)),
    File("amazon.csv", ("A1,B00,5.0,1341100800", "A2,B01,1.0,1367193600")),
    File("lastfm.dat", ("userID\tartistID\tweight", "2\t51\t13883", "2\t52\t11690")),
    File("hm.csv", ("customer_id,prediction", "0a,0568601043 0656719005")),
    File(
        "events.csv",
        ("timestamp,visitorid,event,itemid", "1433221332117,2,view,35", "1433221332118,2,buy,36"),
        {2: [35, 36]},
    ),
    File("ml.inter", ("user_id:token\titem_id:token\trating:float", "1\t20\t4", "1\t31\t3", "2\t20\t5"), STARS),
    File("seq.inter", ("user_id:token\titem_id_list:token_seq", "a\tx y")),
    File("header.csv", ("user,item,rating", "1,20,4", "1,31,3", "2,20,5"), STARS),
    File("semicolon.csv", ("user;item;rating", "1;20;4", "1;31;3")),
    File("bars.txt", ("user|item|rating", "1|20|4", "1|31|3")),
    File("texts.csv", ("ann,tea,4", "ann,rice,3")),
    File("integers.csv", ("1,20,4", "1,31,3")),
    File("pairs.csv", ("ann,tea", "bob,rice")),
    File("map.json", ('{"q1": {"d1": 2.5, "d2": 1.5}}',), HITS, HITS),
    File("lists.json", ('{"q1": ["d1", "d2"]}',), {"q1": ["d1", "d2"]}, {"q1": ["d1", "d2"]}),
    File("pairs.json", ('[["q1", "d1"], ["q1", "d2"]]',)),
    File(
        "rows.jsonl",
        ('{"user": "q1", "item": "d1", "score": 2.5}', '{"user": "q1", "item": "d2", "score": 1.5}'),
        {"q1": ["d1", "d2"]},
        HITS,
    ),
    File(
        "hits.jsonl",
        ('{"qid": "q1", "results": [{"corpus_id": "d1", "score": 2.5}, {"corpus_id": "d2", "score": 1.5}]}',),
        HITS,
        HITS,
    ),
    File(
        "rag.jsonl",
        ('{"query": "q1", "expected_ids": ["d1"], "retrieved_ids": ["d2", "d1"]}',),
        {"q1": ["d1"]},
        {"q1": ["d2", "d1"]},
    ),
    File("otto.jsonl", ('{"session": 1, "events": [{"aid": 20, "ts": 16, "type": "clicks"}]}',), {1: [20]}, {1: [20]}),
    File("corpus.jsonl", ('{"_id": "d1", "title": "", "text": "a"}',)),
    File(
        "rank_eval.json",
        ('{"requests": [{"id": "q1", "ratings": [{"_index": "i", "_id": "d1", "rating": 2}]}]}',),
        {"q1": {"d1": 2}},
    ),
    File(
        "judgments.json",
        ('{"judgmentRatings": [{"query": "q1", "ratings": [{"docId": "d1", "rating": "2.000"}]}]}',),
        {"q1": {"d1": 2}},
    ),
    File("rows.json", ('[{"qid": "q1", "docid": "d1", "score": 2.5}]',), {"q1": ["d1"]}, {"q1": ["d1"]}),
    File("response.json", ('{"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}}',)),
    File(
        "responses.json",
        ('{"q1": {"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 2.5}, {"_id": "d2", "_score": 1.5}]}}}',),
        HITS,
        HITS,
    ),
]


def lines_to_write(error: exactk.ExactkError) -> str:
    """Return what the command line writes for each reading of a file that is refused."""
    options = [as_command_option(part) for part in error.fault.hint if isinstance(part, Option)]
    lines = [f"`{line}`" if line.startswith("--") else "pandas" for line in options]
    return f"error: {' or '.join(lines)}" if lines else "error"


def data_set_forms() -> Iterator[Form]:
    """Yield the forms of data sets and of what tools write, in both roles."""
    for name, lines, truth, predictions in FILES:
        text = "\n".join(lines) + "\n"

        def reads(role: str, meant: Meant | None, name: str = name, text: str = text) -> bool:
            """Return whether the file means that, by the values beside the same users."""
            path = file_of(name, lambda path: path.write_text(text))
            if meant is None:
                return exactk.read(path, role) is None  # type: ignore[call-overload]
            if role == "truth":
                others = {user: [*items][::-1] for user, items in meant.items()}
                return values(path, others) == quiet_values(meant, others)
            others = {user: [*items][:1] for user, items in meant.items()}
            return values(others, path) == quiet_values(others, meant)

        first = lines[0].replace("\t", "→")
        shown = first if len(first) <= MOST_SHOWN else f"{first[:MOST_SHOWN]}..."
        calls = {"truth": partial(reads, "truth", truth), "predictions": partial(reads, "predictions", predictions)}
        yield Form(f"{name}: `{shown}`", "read", {"read": True}, calls, lines_to_write)


def quiet_values(truth: Any, predictions: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return values(truth, predictions)


MOST_SHOWN = 36  # characters of a line


TABLES: dict[str, tuple[Callable[[], Iterator[Form]], list[str]]] = {
    "keyed items": (keyed_forms, ["mapping", "pairs", "pandas", "Polars", "Series", "CSV", "Parquet", "JSON"]),
    "matrices": (matrix_forms, list(MATRICES)),
    "files": (file_forms, [ending or "none" for ending in ENDINGS]),
    "data sets and outputs": (data_set_forms, ["truth", "predictions"]),
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
        form, *outcomes = (cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip("|")))
        for one in filter(None, outcomes):
            assert one.startswith("error") or one.endswith(", warns") or one == meant[form], (form, one)


def rows_of(lines: Sequence[str], name: str, role: str) -> dict[str, dict[str, float] | list[str]] | None:
    """Return the items of each user as text, with their values or in order; None if that is an error or warned of."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Path(folder) / name
        path.write_text("\n".join(lines) + "\n")
        try:
            given: Any = exactk.read(path, role)  # type: ignore[call-overload]
        except exactk.ExactkError:
            return None
    if caught:
        return None
    items = given.items if given.item_vocabulary is None else given.item_vocabulary.array[given.items]
    numbers = getattr(given, "grades", None) if role == "truth" else getattr(given, "scores", None)
    found: dict[str, dict[str, float] | list[str]] = {}
    for at, user in enumerate(given.user_vocabulary.array.tolist()):
        span = slice(*given.indptr[at : at + 2])
        texts = list(map(str, items[span].tolist()))
        in_order = texts if role == "predictions" else dict.fromkeys(texts, 1.0)
        found[str(user)] = in_order if numbers is None else dict(zip(texts, numbers[span].tolist(), strict=True))
    return found


def joined_by(line: str, change: Callable[[list[str]], list[str]]) -> str:
    """Return the line after a change of its fields, or of the values of its objects."""
    separator = next(one for one in ("::", "\t", ";", "|", ",", " ") if one in line)
    return separator.join(change(line.split(separator)))


CORRUPTIONS: dict[str, Callable[[str, int], list[str]]] = {
    "a field less": lambda line, at: [
        joined_by(line, lambda fields: [*fields[: at % len(fields)], *fields[at % len(fields) + 1 :]])
    ],
    "fields swapped": lambda line, at: [
        joined_by(line, lambda fields: [*fields[: at % len(fields)], *fields[at % len(fields) :][::-1]])
    ],
    "a number as text": lambda line, at: [
        joined_by(
            line, lambda fields: ["ann" if index == at % len(fields) else one for index, one in enumerate(fields)]
        )
    ],
    "a line that ends early": lambda line, at: [line[: at % len(line)]],
    "a line twice": lambda line, at: [line, line],  # noqa: ARG005 - where does not matter
}
READ = [  # all but documents that are numbers of lines
    (file, role)
    for file in FILES
    for role in ("truth", "predictions")
    if len(file.lines) > 1 and file.name != "mslr.txt" and rows_of(file.lines, file.name, role) is not None
]


@given(of=st.sampled_from(READ), line=st.integers(0, 9), at=st.integers(0, 99), kind=st.sampled_from([*CORRUPTIONS]))
@settings(max_examples=examples(300))
def test_a_corrupted_line_never_changes_what_the_others_mean(
    of: tuple[File, str], line: int, at: int, kind: str
) -> None:
    (name, lines, *_), role = of
    line %= len(lines)
    corrupted = rows_of([*lines[:line], *CORRUPTIONS[kind](lines[line], at), *lines[line + 1 :]], name, role)
    if corrupted is None:
        return
    without = rows_of([*lines[:line], *lines[line + 1 :]], name, role)
    if without is None:
        return
    assert sum(corrupted[user] != without.get(user) for user in corrupted) <= 1  # that of the line
    for user, items in without.items():
        found = corrupted[user]
        if isinstance(items, dict):
            assert isinstance(found, dict)
            assert items.items() <= found.items()
        else:
            assert [item for item in found if item in items] == items


def write_page() -> None:
    """Write the tables of the page anew."""
    names = iter(TABLES)
    text = [
        table(next(names)).strip() + "\n" if part.startswith("|") else part for part in parts(PAGE.read_text("utf-8"))
    ]
    PAGE.write_text("".join(text), encoding="utf-8")


if __name__ == "__main__":
    write_page()
