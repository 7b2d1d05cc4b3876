from __future__ import annotations

import dataclasses
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_equal
from scipy import stats

import compare_recommenders as demo
import exactk
from strategies import at_night

if TYPE_CHECKING:
    import numpy.typing as npt

HEADER = "userId,movieId,rating,timestamp\n"


@pytest.fixture(scope="module")
def synthetic_demo() -> demo.Demo:
    return demo.run()


@pytest.fixture(scope="module")
def small_demo(tmp_path_factory: pytest.TempPathFactory) -> demo.Demo:
    """Return a run on a file with few users, of all three groups by activity."""
    return demo.run(write_ratings(tmp_path_factory.mktemp("small") / "ratings.csv", demo.synthetic(3, 150, 600)))


@pytest.fixture(scope="module")
def movielens_demo() -> demo.Demo:
    folder = os.environ.get("EXACTK_DATA")
    if folder is None:
        pytest.skip("set EXACTK_DATA to the folder of the real ratings")
    return demo.run(Path(folder) / "ml-latest-small" / "ratings.csv")


@pytest.fixture
def small_ratings() -> demo.Ratings:
    return demo.synthetic(3, n_users=60, n_items=90)


def write_ratings(path: Path, ratings: demo.Ratings) -> Path:
    columns = (ratings.users, ratings.item_ids[ratings.items], ratings.ratings, ratings.timestamps)
    lines = (f"{user},{item},{rating},{time}\n" for user, item, rating, time in zip(*columns, strict=True))
    path.write_text(HEADER + "".join(lines))
    return path


def test_synthetic_ratings_are_the_same_twice_and_differ_by_seed() -> None:
    first, again, other = (demo.synthetic(seed, 50, 80) for seed in (1, 1, 2))
    assert_equal(dataclasses.asdict(first), dataclasses.asdict(again))
    assert not np.array_equal(first.items, other.items)


def test_item_item_cosine_beats_popularity_though_few_items_have_most_ratings(synthetic_demo: demo.Demo) -> None:
    raters = np.sort(np.bincount(synthetic_demo.train.items))[::-1]
    assert raters[: raters.size // 5].sum() > 0.6 * raters.sum()
    values = synthetic_demo.result["ndcg@10"]
    assert values["item-item cosine"] > 1.2 * values["popularity"]
    assert synthetic_demo.result.best("ndcg@10") == ("item-item cosine",)


@pytest.mark.parametrize("which", ["small_demo", pytest.param("movielens_demo", marks=at_night)])
def test_numbers_equal_the_reference(which: str, request: pytest.FixtureRequest) -> None:
    run: demo.Demo = request.getfixturevalue(which)
    options: Any = {"groups": demo.activity_groups(run.train), "items": run.items, "per_user": True}
    expected = exactk.reference.compare(run.truth, run.predictions, demo.METRICS, **options)
    assert list(run.result.reports) == list(expected.reports) == ["popularity", "item-item cosine"]
    for name, report in run.result.reports.items():
        assert list(report) == list(expected.reports[name])
        assert report.counts == expected.reports[name].counts
        for metric in report.metrics:
            value = expected[metric][name]
            assert abs(report[metric] - value) <= max(2 * math.ulp(value), 2**-78), (name, metric)


def test_movielens_is_read_whole(movielens_demo: demo.Demo) -> None:
    assert (movielens_demo.train.n_users, movielens_demo.train.n_items) == (671, 9066)
    assert movielens_demo.train.users.size + movielens_demo.test.users.size == 100_004
    assert movielens_demo.users_left_out == 0


@pytest.mark.parametrize("which", ["small_demo", "movielens_demo"])
def test_differences_by_activity_are_those_of_scipy(which: str, request: pytest.FixtureRequest) -> None:
    run: demo.Demo = request.getfixturevalue(which)
    popularity, similar = (
        exactk.reference.evaluate(run.truth, lists, "ndcg@10", per_user=True).per_user["ndcg@10"]
        for lists in run.predictions.values()
    )
    counts = np.bincount(run.train.users)
    activity = [counts < 30, (counts >= 30) & (counts < 100), counts >= 100]
    differences, by_group = (table.of("ndcg@10") for table in (run.result.differences, run.result.differences.by_group))
    assert len(differences) == 1
    assert [row.group for row in by_group] == ["1: below 30", "2: 30 to 99", "3: 100 or more"]
    for row, users in zip([*differences, *by_group], [counts > 0, *activity], strict=True):
        both = users & ~np.isnan(popularity) & ~np.isnan(similar)
        expected = stats.ttest_rel(similar[both], popularity[both])
        assert row.users == np.count_nonzero(both)
        assert_allclose([row.statistic, row.p], [expected.statistic, expected.pvalue], rtol=1e-9)


def test_movielens_prints_for_whom_it_is_better(movielens_demo: demo.Demo) -> None:
    (row,) = movielens_demo.result.differences.of("ndcg@10")
    assert f"{row.baseline_value:.4f} {row.value:.4f} {row.p:.1e} {row.effect:.3f}" == "0.0614 0.0895 9.7e-06 0.174"
    assert (row.wins, row.ties, row.losses) == (201, 333, 122)
    printed = movielens_demo.describe().partition("And for whom?")[2]
    for group, interval, verdict in (
        ("1: below 30", "-0.0025 to +0.0607", "not worse"),
        ("2: 30 to 99", "+0.0169 to +0.0501", "better"),
        ("3: 100 or more", "+0.0000 to +0.0415", "better"),
    ):
        (line,) = (line for line in printed.splitlines() if line.startswith(group))
        assert interval in line
        assert line.endswith(verdict)
    assert "heterogeneity between groups, ndcg@10 of item-item cosine: p = 0.64" in printed


@pytest.mark.parametrize("which", ["small_demo", "movielens_demo"])
def test_the_split_is_by_time_within_each_user(which: str, request: pytest.FixtureRequest) -> None:
    run: demo.Demo = request.getfixturevalue(which)
    for user in range(run.train.n_users):
        train = run.train.timestamps[run.train.users == user]
        test = run.test.timestamps[run.test.users == user]
        assert train.max() <= test.min()
        assert test.size == (train.size + test.size) // 5 >= 1


def test_the_split_does_not_depend_on_the_order_of_the_file(small_ratings: demo.Ratings) -> None:
    times = small_ratings.timestamps // 10**6  # many ratings at the same time
    small_ratings = dataclasses.replace(small_ratings, timestamps=times)
    shuffled = small_ratings.take(np.random.default_rng(0).permutation(small_ratings.users.size))
    for part, part_of_shuffled in zip(demo.split_by_time(small_ratings), demo.split_by_time(shuffled), strict=True):
        assert_equal(dataclasses.asdict(part), dataclasses.asdict(part_of_shuffled))


def test_the_truth_is_the_relevant_part_of_the_test(small_demo: demo.Demo) -> None:
    test, truth = small_demo.test, small_demo.truth
    for user in range(test.n_users):
        relevant = test.items[(test.users == user) & (test.ratings >= 4)]
        assert sorted(truth.items[truth.indptr[user] : truth.indptr[user + 1]]) == sorted(relevant)


def naive_lists(rated: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """By the words of the definition, one user and one item at a time."""
    lists = np.full((len(rated), demo.LIST_LENGTH), -1)
    for user, (user_rated, user_scores) in enumerate(zip(rated, scores, strict=True)):
        items = [item for item in range(rated.shape[1]) if not user_rated[item] and user_scores[item] > 0]
        items = sorted(items, key=lambda item: (-user_scores[item], item))[: demo.LIST_LENGTH]
        lists[user, : len(items)] = items
    return lists


def listed_scores(scores: npt.NDArray[np.float64], lists: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(lists >= 0, np.take_along_axis(scores, lists, axis=1), 0.0)


@pytest.mark.parametrize("shape", [(60, 90), (90, 60)])
def test_the_recommenders_do_what_they_say(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "BLOCK_CELLS", 7 * max(shape))  # blocks of 7 users, and a remainder
    rated = (np.random.default_rng(5).random(shape) < 0.2).astype(np.float64)
    rated[:, 4] = 0.0  # an item that nobody has rated
    rated[3] = 0.0  # a user who has rated nothing
    rated[4, 5:] = 1.0  # and one who has rated all but four items and that one
    rated[4, :4] = 0.0

    raters = np.tile(rated.sum(axis=0), (len(rated), 1))
    np.testing.assert_array_equal(demo.recommend_popular(rated), naive_lists(rated, raters))

    columns = rated / np.sqrt(np.maximum(rated.sum(axis=0), 1.0))
    cosine = rated @ columns.T @ columns
    lists = demo.recommend_similar(rated)
    # The lists may differ where two scores are equal but for their last bits; the scores may not.
    expected = listed_scores(cosine, naive_lists(rated, cosine))
    np.testing.assert_allclose(listed_scores(cosine, lists), expected, rtol=0, atol=1e-6)
    assert not np.take_along_axis(rated, lists, axis=1)[lists >= 0].any()
    assert (lists[3] == -1).all()
    assert sorted(lists[4][lists[4] >= 0]) == [0, 1, 2, 3]


def test_columns_may_be_in_any_order_and_ids_any_number(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    header = b'\xef\xbb\xbf"tag","timestamp","rating","movieId","userId"\r\n'
    path.write_bytes(header + b"\xe9,5,4.5,-7,1000000000000\r\n\r\nb,4,1,9,2\r\n")
    ratings = demo.read_ratings(path)
    assert ratings.users.tolist() == [1, 0]
    assert ratings.items.tolist() == [0, 1]
    assert ratings.ratings.tolist() == [4.5, 1.0]
    assert ratings.timestamps.tolist() == [5, 4]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        (HEADER, "no ratings"),
        ("1,2,3,4\n", "line 1: the header must name each of the columns userId,movieId,rating,timestamp once"),
        ("userId,movieId,rating\n1,2,3\n", "line 1: .* found 'userId,movieId,rating'"),
        (HEADER + "1,2,3.5,10\n1,3,4.0\n", "line 3: expected 4 fields, found 3: '1,3,4.0'"),
        (HEADER + "1,2,3.5,10\n\n\n1,x,3.5,11\n", "line 5: .* found '1,x,3.5,11'"),
        (HEADER + "1,2.5,3.5,10\n", "line 2: .* whole numbers"),
        (HEADER + f"{2**63},2,3.5,10\n", "line 2: .* 64-bit"),
        (HEADER + "1,2,nan,10\n", "line 2: the rating must be finite"),
        (HEADER + "1,3,3,10\n1,2,1e999,10\n", "line 3: the rating must be finite"),
        (HEADER + '1,2,"3.5,10\n', "line 2: unexpected end of data"),
        (HEADER + "1,2,3.5,10\n1,3,1,10\n2,2,1,11\n1,2,4.5,12\n", "line 5: user 1 has already rated item 2"),
        (HEADER + "1,2,3.5," + "x" * 1000 + "\n", r"line 2: .* found '1,2,3.5,x{69}\.\.\.'$"),
    ],
)
def test_malformed_files_are_refused_with_the_line(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(content)
    with pytest.raises(exactk.InputError, match=complaint) as caught:
        demo.run(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["absent.csv", "."])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(exactk.InputError, match="cannot read"):
        demo.read_ratings(tmp_path / name)


def test_users_with_few_ratings_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    ratings = [(user, item) for user, count in ((1, 4), (2, 5), (3, 6)) for item in range(user, user + count)]
    path.write_text(HEADER + "".join(f"{user},{item},5,{item}\n" for user, item in ratings))
    run = demo.run(path)
    assert run.users_left_out == 1
    assert (run.train.n_users, run.train.n_items) == (2, 7)
    assert "fewer than 5 ratings: 1.\n" in run.describe()


def test_ratings_that_cannot_be_evaluated_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(HEADER + "1,2,5,3\n")
    with pytest.raises(exactk.InputError, match="users with 5 ratings or more"):
        demo.run(path)
    path.write_text(HEADER + "".join(f"1,{item},3,{item}\n" for item in range(5)))
    with pytest.raises(exactk.InputError, match="no rating of the test is 4 or more"):
        demo.run(path)


def test_more_than_dense_matrices_can_hold_is_refused(small_ratings: demo.Ratings) -> None:
    with pytest.raises(exactk.InputError, match="60,000 users x 90,000 items are too many"):
        demo.rated_matrix(dataclasses.replace(small_ratings, n_users=60_000, n_items=90_000))


def test_the_command_prints_data_table_and_time(
    small_ratings: demo.Ratings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_ratings(tmp_path / "ratings.csv", small_ratings)
    assert demo.main([str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith(f"{path}: ")
    assert "\n" + repr(demo.run(path).result) + "\n" in printed.out
    assert printed.out.splitlines()[-1].startswith("exactk.compare gave 54 values from ")


def test_the_report_is_a_page_with_titles_of_items(
    small_ratings: demo.Ratings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_ratings(tmp_path / "ratings.csv", small_ratings)
    titles = "".join(f'{item},"Film <{item}>, The (1995)",Drama\n' for item in small_ratings.item_ids)
    (tmp_path / "movies.csv").write_text(f"\ufeffmovieId,title,genres\n{titles}", encoding="utf-8")
    page = tmp_path / "page.html"
    assert demo.main(["--report", str(page), str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"The same as a page, with pictures: {page}"
    text = page.read_text(encoding="utf-8")
    assert "<h1>Is item-item cosine better than popularity?</h1>" in text
    run = demo.run(path)
    shown = re.findall(r"Film &lt;(\d+)&gt;, The \(1995\)", text)
    best = {int(run.train.item_ids[code]) for lists in run.predictions.values() for code in lists[:, 0] if code >= 0}
    assert len(shown) > 20
    assert best & set(map(int, shown))
    for name in ("ndcg@20", "novelty@10", "item-item cosine", "1: below 30"):
        assert name in text


def test_ids_of_items_outlast_the_users_who_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    ratings = [(1, 10, 1), (1, 900, 2)] + [(user, item, item) for user in (2, 3) for item in range(user, 90, 7)]
    path.write_text(HEADER + "".join(f"{user},{item},5,{time}\n" for user, item, time in ratings))
    kept, users_left_out = demo.leave_out_rare_users(demo.read_ratings(path))
    assert users_left_out == 1
    assert kept.item_ids.tolist() == sorted({item for user, item, _ in ratings if user > 1})
    for part in demo.split_by_time(kept):
        assert part.item_ids[part.items].tolist() == part.timestamps.tolist()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "line 1: the header must begin with the columns movieId,title"),
        ("title,movieId\n", "line 1: the header must begin with the columns movieId,title"),
        ("movieId,title\n1,a\n\nx,b\n", "line 4: expected a movieId and a title, found 'x,b'"),
        ("movieId,title\n1\n", "line 2: expected a movieId and a title, found '1'"),
    ],
)
def test_malformed_titles_are_refused_with_the_line(content: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "movies.csv").write_text(content)
    with pytest.raises(exactk.InputError, match=complaint):
        demo.read_titles(tmp_path / "ratings.csv")


def test_ratings_without_titles_have_none(tmp_path: Path) -> None:
    assert demo.read_titles(tmp_path / "ratings.csv") == {}


def test_the_command_without_a_file_is_the_synthetic_demo(
    synthetic_demo: demo.Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "run", {None: synthetic_demo}.__getitem__)
    assert demo.main([]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == synthetic_demo.describe().splitlines()[:-1]


def test_a_fault_of_the_input_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["absent.csv"]) == 2
    assert capsys.readouterr() == ("", "error: cannot read absent.csv: No such file or directory\n")


@pytest.mark.parametrize("which", ["small_demo", "movielens_demo"])
def test_what_is_recommended_of_the_catalogue(which: str, request: pytest.FixtureRequest) -> None:
    run: demo.Demo = request.getfixturevalue(which)
    raters = np.bincount(run.train.items, minlength=run.train.n_items)
    for system, lists in run.predictions.items():
        top = lists[:, :10]
        report = run.result.reports[system]
        recommended = top[top >= 0]
        assert report["coverage@10"] == len(np.unique(recommended)) / run.train.n_items
        counted = [row[row >= 0] for row in top]
        novelty = [np.log2(run.train.n_users / np.maximum(raters[row], 1)).mean() for row in counted if len(row)]
        assert report["novelty@10"] == pytest.approx(np.sum(novelty) / len(counted), rel=1e-12)
        assert report["arp@10"] == pytest.approx(np.mean([raters[row].mean() for row in counted]), rel=1e-12)
