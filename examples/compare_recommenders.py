"""Compare two recommenders on one data set, in one call of `exactk.compare`: how good they are, for whom, and with which items.

``python examples/compare_recommenders.py`` draws a synthetic catalogue; with a path it reads a file in the form of
MovieLens's ``ratings.csv``.

The call has accuracy, what the popular items cost (how much of the catalogue the lists cover, how known their items are,
and what becomes of the tail), and tests of the difference by how many ratings the users have in train, which need SciPy.

Everything up to this call is plain NumPy, and `run` hands back the truth and the lists that they evaluated, so that
`exactk.reference.compare` can check each number of the tables.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

import exactk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

COLUMNS = ("userId", "movieId", "rating", "timestamp")
COMPARED_METRIC = "ndcg@10"
METRICS = (
    *(
        f"{name}@[5,10,20]"
        for name in ("precision", "recall", "ndcg", "average_precision", "reciprocal_rank", "hit_rate")
    ),
    *(f"{name}@10" for name in ("coverage", "gini", "personalization", "novelty", "arp", "aplt")),
    "recall@20(item_group=every)",
)
POPULARITY = (0.5, 0.8)  # shares of the ratings in train of the items that are the head, and of these with the middle
ACTIVITY = (30, 100)  # ratings in train, from which on a user is in the next group
SEED = 20
TEST_SHARE = 5  # a user's latest ratings, one in five, are the test
FEWEST_RATINGS = TEST_SHARE  # with fewer, a user's test would be empty
RELEVANT_RATING = 4.0
LIST_LENGTH = 20
MOST_CELLS = 2**25  # of the dense matrix users x items: 256 MiB
BLOCK_CELLS = 2**22  # of the scores computed at a time: 32 MiB
WEIGHT_UNIT = 2.0**-27  # see recommend_similar


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings, one a position; users and items have codes from 0 in the order of their ids."""

    users: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]
    ratings: npt.NDArray[np.float64]
    timestamps: npt.NDArray[np.int64]
    n_users: int
    n_items: int
    item_ids: npt.NDArray[np.int64]  # by code

    @classmethod
    def from_ids(
        cls,
        user_ids: npt.NDArray[np.int64],
        item_ids: npt.NDArray[np.int64],
        ratings: npt.NDArray[np.float64],
        timestamps: npt.NDArray[np.int64],
    ) -> Self:
        """Build ratings from arbitrary ids: encode the users and the items that occur."""
        distinct_users, users = np.unique(user_ids, return_inverse=True)
        distinct_items, items = np.unique(item_ids, return_inverse=True)
        return cls(users, items, ratings, timestamps, distinct_users.size, distinct_items.size, distinct_items)

    def take(self, positions: npt.NDArray[np.intp]) -> Ratings:
        """Return the ratings at these positions; users and items keep their codes."""
        return Ratings(
            self.users[positions],
            self.items[positions],
            self.ratings[positions],
            self.timestamps[positions],
            self.n_users,
            self.n_items,
            self.item_ids,
        )


@dataclass(frozen=True, eq=False)
class Demo:
    """All that the demo evaluated, and what came out."""

    source: str
    users_left_out: int
    train: Ratings
    test: Ratings
    truth: exactk.Truth
    predictions: dict[str, npt.NDArray[np.int64]]
    items: exactk.Items
    result: exactk.Comparison
    seconds: float  # of the call of exactk.compare alone

    def describe(self) -> str:
        """Return what the script prints."""
        n_train, n_test = self.train.users.size, self.test.users.size
        n_relevant = np.count_nonzero(self.test.ratings >= RELEVANT_RATING)
        n_lists = sum(len(lists) for lists in self.predictions.values())
        n_ids = sum(np.count_nonzero(lists >= 0) for lists in self.predictions.values())
        n_values = sum(len(report.metrics) for report in self.result.reports.values())
        differences, by_group = (
            table.of(COMPARED_METRIC) for table in (self.result.differences, self.result.differences.by_group)
        )
        return (
            f"{self.source}: {self.train.n_users:,} users, {self.train.n_items:,} items, {n_train + n_test:,} ratings.\n"
            f"Each user's ratings are split by time: the earlier 80 % ({n_train:,}) train, the later 20 % ({n_test:,}) test.\n"
            f"Relevant are the {n_relevant:,} test ratings of {RELEVANT_RATING:g} or more. "
            f"Users left out for having fewer than {FEWEST_RATINGS} ratings: {self.users_left_out:,}.\n"
            f"\n{self.result!r}\n"
            f"\nIs item-item cosine better than popularity?\n{differences!r}\n"
            f"\nAnd for whom? By the number of the user's ratings in train:\n{by_group!r}\n\n"
            f"exactk.compare gave {n_values} values from {n_lists:,} lists with {n_ids:,} ids "
            f"in {self.seconds * 1e3:,.1f} ms.\n"
        )


def run(path: str | Path | None = None) -> Demo:
    """Split the ratings of the file, or synthetic ones, by time; recommend in two ways; evaluate both at once."""
    source = f"Synthetic catalogue (seed {SEED})" if path is None else str(path)
    ratings, users_left_out = leave_out_rare_users(synthetic(SEED) if path is None else read_ratings(path))
    train, test = split_by_time(ratings)
    truth = truth_of(test)
    rated = rated_matrix(train)
    predictions = {"popularity": recommend_popular(rated), "item-item cosine": recommend_similar(rated)}

    rated_items = items_of_users(train)
    popularity = exactk.Items.popularity_groups(rated_items, cuts=POPULARITY)
    items = exactk.Items(train.n_items, train=rated_items, item_groups=popularity)
    start = time.perf_counter()
    result = exactk.compare(
        truth,
        predictions,
        METRICS,
        baseline="popularity",
        groups=activity_groups(train),
        items=items,
        margin={COMPARED_METRIC: "2%"},
        per_user=True,  # for the page's worst and best users
    )
    seconds = time.perf_counter() - start
    return Demo(source, users_left_out, train, test, truth, predictions, items, result, seconds)


def write_report(demo: Demo, path: Path, titles: dict[int, str]) -> None:
    """Write the page of both recommenders: by group of activity, with what they recommend to those who lose and gain most."""
    names = {code: titles[item] for code, item in enumerate(demo.train.item_ids.tolist()) if item in titles}
    lists = {system: exactk.judge(demo.truth, ids, k=10) for system, ids in demo.predictions.items()}
    title = "Is item-item cosine better than popularity?"
    gate = demo.result.check(no_worse=COMPARED_METRIC)
    demo.result.to_html(
        path,
        title=title,
        note=demo.source,
        lists=lists,
        item_names=names,
        gate=gate,
        headline=COMPARED_METRIC,
        items=demo.items,
    )


def synthetic(seed: int, n_users: int = 3_000, n_items: int = 2_000) -> Ratings:
    """Return ratings with a long tail of popularity and with clusters of taste."""
    generator = np.random.default_rng(seed)
    n_tastes = 25
    log_popularity = -1.3 * np.log(generator.permutation(n_items) + 20.0)  # a power law with a flattened head
    quality = generator.normal(0.0, 0.4, n_items)
    item_taste = generator.integers(n_tastes, size=n_items)
    favourites = generator.integers(n_tastes, size=(n_users, 2))
    likes = (item_taste == favourites[:, :1]) | (item_taste == favourites[:, 1:])

    # The items with the largest log weight + Gumbel noise are a sample by weight without replacement.
    appeal = log_popularity + 3.0 * likes + generator.gumbel(size=(n_users, n_items))
    lengths = np.clip(generator.lognormal(math.log(40), 1.0, n_users), 3, n_items // 4).astype(np.int64)
    is_rated = np.arange(n_items) < lengths[:, np.newaxis]
    users = np.nonzero(is_rated)[0]
    items = np.argsort(-appeal, axis=1)[is_rated]

    opinion = 3.3 + 0.7 * likes[users, items] + quality[items] + generator.normal(0.0, 0.7, users.size)
    ratings = np.clip(np.rint(2 * opinion) / 2, 0.5, 5.0)
    start_times = generator.integers(3 * 365 * 86_400, size=n_users)
    timestamps = 1_500_000_000 + start_times[users] + generator.integers(90 * 86_400, size=users.size)
    return Ratings.from_ids(users, items, ratings, timestamps)


def read_ratings(path: str | Path) -> Ratings:
    """Read a file of ratings in MovieLens's format: a header that names `COLUMNS`, then a line for each rating."""
    row_type = [("user", "i8"), ("item", "i8"), ("rating", "f8"), ("timestamp", "i8"), ("line", "i8")]
    try:
        # A byte that is not UTF-8 spoils the field it stands in, which matters only where that field is read.
        with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            table = np.fromiter(_parse_rows(path, _rows_with_lines(path, file)), dtype=row_type)
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise exactk.InputError(message) from error
    if table.size == 0:
        message = f"{path} has a header but no ratings"
        raise exactk.InputError(message)
    _check_no_repeated_pairs(path, table)
    return Ratings.from_ids(table["user"], table["item"], table["rating"], table["timestamp"])


def read_titles(ratings: str | Path) -> dict[int, str]:
    """Return the titles of items in MovieLens's ``movies.csv`` beside the ratings, by id; none without that file."""
    path = Path(ratings).with_name("movies.csv")
    if not path.exists():
        return {}
    titles = {}
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = _rows_with_lines(path, file)
        if next(rows, (0, []))[1][:2] != ["movieId", "title"]:
            raise _line_error(path, 1, "the header must begin with the columns movieId,title")
        for line, fields in rows:
            if len(fields) < 2 or not fields[0].isdecimal():
                raise _line_error(path, line, f"expected a movieId and a title, found {_abbreviate(fields)}")
            titles[int(fields[0])] = fields[1]
    return titles


def _rows_with_lines(path: str | Path, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each line that is not blank."""
    reader = csv.reader(lines, strict=True)
    try:
        for fields in reader:
            if fields:
                yield reader.line_num, fields
    except csv.Error as error:
        raise _line_error(path, reader.line_num, str(error)) from error


def _parse_rows(
    path: str | Path, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[np.int64, np.int64, float, np.int64, int]]:
    """Yield user, item, rating, timestamp and line number of each rating."""
    names = ",".join(COLUMNS)
    line, header = next(rows, (0, []))
    if not header:
        message = f"{path} is empty; a header with the columns {names} was expected"
        raise exactk.InputError(message)
    if any(header.count(name) != 1 for name in COLUMNS):
        raise _line_error(
            path, line, f"the header must name each of the columns {names} once, found {_abbreviate(header)}"
        )
    user, item, rating, timestamp = (header.index(name) for name in COLUMNS)

    for line, fields in rows:
        if len(fields) != len(header):
            raise _line_error(path, line, f"expected {len(header)} fields, found {len(fields)}: {_abbreviate(fields)}")
        try:
            # np.int64 rather than int: it refuses what the column cannot hold.
            values = np.int64(fields[user]), np.int64(fields[item]), float(fields[rating]), np.int64(fields[timestamp])
        except (ValueError, OverflowError) as error:
            expected = "userId, movieId and timestamp must be 64-bit whole numbers and rating a number"
            raise _line_error(path, line, f"{expected}, found {_abbreviate(fields)}") from error
        if not math.isfinite(values[2]):
            raise _line_error(path, line, f"the rating must be finite, found {_abbreviate(fields)}")
        yield *values, line


def _check_no_repeated_pairs(path: str | Path, table: npt.NDArray[np.void]) -> None:
    """Raise where a user rates an item again: one of the two could be in train and the other in test."""
    ordered = table[np.lexsort((table["line"], table["item"], table["user"]))]
    is_repeat = (ordered["user"][1:] == ordered["user"][:-1]) & (ordered["item"][1:] == ordered["item"][:-1])
    if is_repeat.any():
        repeats = ordered[1:][is_repeat]
        first = repeats[np.argmin(repeats["line"])]
        fault = f"user {first['user']} has already rated item {first['item']}"
        raise _line_error(path, first["line"], fault)


def _line_error(path: str | Path, line: int, fault: str) -> exactk.InputError:
    return exactk.InputError(f"{path}, line {line}: {fault}")


def _abbreviate(fields: list[str]) -> str:
    """Return the line, cut where it is too long to be read."""
    text = ",".join(fields)
    return repr(text if len(text) <= 80 else text[:77] + "...")


def leave_out_rare_users(ratings: Ratings) -> tuple[Ratings, int]:
    """Return the ratings of the users who have `FEWEST_RATINGS` or more, and the number of the other users."""
    enough = np.bincount(ratings.users, minlength=ratings.n_users) >= FEWEST_RATINGS
    if not enough.any():
        message = f"the demo needs users with {FEWEST_RATINGS} ratings or more; none of the {enough.size:,} has so many"
        raise exactk.InputError(message)
    kept = ratings.take(np.flatnonzero(enough[ratings.users]))
    recoded = Ratings.from_ids(kept.users, kept.item_ids[kept.items], kept.ratings, kept.timestamps)
    return recoded, int(np.count_nonzero(~enough))


def split_by_time(ratings: Ratings) -> tuple[Ratings, Ratings]:
    """Return the earlier ratings of each user and the later ones; both are sorted by user, then time, then item."""
    order = np.lexsort((ratings.items, ratings.timestamps, ratings.users))
    counts = np.bincount(ratings.users, minlength=ratings.n_users)
    ratings_left = np.repeat(np.cumsum(counts), counts) - np.arange(order.size)  # of the same user, this one included
    late = ratings_left <= np.repeat(counts // TEST_SHARE, counts)
    return ratings.take(order[~late]), ratings.take(order[late])


def truth_of(test: Ratings) -> exactk.Truth:
    """Return what each user liked; a user who liked nothing has an empty row."""
    relevant = test.take(np.flatnonzero(test.ratings >= RELEVANT_RATING))
    if relevant.users.size == 0:
        message = f"no rating of the test is {RELEVANT_RATING:g} or more, so there is nothing to recommend"
        raise exactk.InputError(message)
    counts = np.bincount(relevant.users, minlength=test.n_users)
    return exactk.Truth(np.concatenate(([0], np.cumsum(counts))), relevant.items)


def items_of_users(train: Ratings) -> list[npt.NDArray[np.int64]]:
    """Return the items that each user has rated."""
    counts = np.bincount(train.users, minlength=train.n_users)
    return np.split(train.items[np.argsort(train.users, kind="stable")], np.cumsum(counts)[:-1])


def activity_groups(train: Ratings) -> list[str]:
    """Return the group of each user by the number of ratings in train."""
    low, high = ACTIVITY
    labels = (f"1: below {low}", f"2: {low} to {high - 1}", f"3: {high} or more")
    counts = np.bincount(train.users, minlength=train.n_users)
    return [labels[index] for index in np.searchsorted(ACTIVITY, counts, side="right")]


def rated_matrix(train: Ratings) -> npt.NDArray[np.float64]:
    """Return the dense matrix users x items that is 1 where the user has rated the item."""
    if train.n_users * train.n_items > MOST_CELLS:
        message = (
            f"{train.n_users:,} users x {train.n_items:,} items are too many for the demo, which recommends with dense "
            f"matrices of at most {MOST_CELLS:,} cells; exactk.evaluate itself has no such limit"
        )
        raise exactk.InputError(message)
    rated = np.zeros((train.n_users, train.n_items))
    rated[train.users, train.items] = 1.0
    return rated


def recommend_popular(rated: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Recommend the items that most users have rated."""
    n_raters = rated.sum(axis=0)
    return np.concatenate([best_unrated(np.tile(n_raters, (len(block), 1)), block) for block in _user_blocks(rated)])


def recommend_similar(rated: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Recommend the items with the largest sum of cosine similarities to the items that the user has rated.

    With the columns of `rated` scaled to length 1 as C, the scores are rated @ C.T @ C. Here the first scaling is rounded
    to multiples of `WEIGHT_UNIT` and the second is done last. Then each partial sum of the matrix products is a multiple
    of that unit and at most `MOST_CELLS`, so float64 holds it exactly, and every BLAS recommends the same lists.
    """
    n_users, n_items = rated.shape
    lengths = np.sqrt(np.maximum(rated.sum(axis=0), 1.0))
    inverse_lengths = np.rint(1.0 / lengths / WEIGHT_UNIT) * WEIGHT_UNIT
    co_ratings = rated.T @ rated if n_items < n_users else None  # the cheaper order of the two products
    lists = []
    for block in _user_blocks(rated):
        weighted = block * inverse_lengths
        sums = weighted @ rated.T @ rated if co_ratings is None else weighted @ co_ratings
        lists.append(best_unrated(sums / lengths, block))
    return np.concatenate(lists)


def _user_blocks(rated: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the rows in blocks, so that what is computed from a block stays small."""
    n_users = max(1, BLOCK_CELLS // max(rated.shape))
    for start in range(0, len(rated), n_users):
        yield rated[start : start + n_users]


def best_unrated(scores: npt.NDArray[np.float64], rated: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return each row's `LIST_LENGTH` best items, of equal scores the lower item first, padded with -1.

    An item without a positive score is not recommended, nor is one that the user has rated.
    """
    scores = np.where(rated > 0, 0.0, scores)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :LIST_LENGTH]
    return np.where(np.take_along_axis(scores, best, axis=1) > 0, best, -1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code: 2 where the file is at fault, or SciPy is not installed."""
    parser = argparse.ArgumentParser(description="Compare two recommenders on synthetic ratings, or on yours.")
    parser.add_argument("--report", type=Path, metavar="FILE", help="also write an HTML page, which needs jinja2")
    parser.add_argument(
        "ratings",
        nargs="?",
        metavar="ratings.csv",
        help="a file in MovieLens's format, with the columns userId, movieId, rating and timestamp",
    )
    try:
        arguments = parser.parse_args(argv)
        demo = run(arguments.ratings)
        sys.stdout.write(demo.describe())
        if arguments.report is not None:
            write_report(demo, arguments.report, read_titles(arguments.ratings) if arguments.ratings else {})
            sys.stdout.write(f"\nThe same as a page, with pictures: {arguments.report}\n")
    except (exactk.ExactkError, ImportError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
