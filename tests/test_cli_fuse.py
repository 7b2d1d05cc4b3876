"""``exactk fuse``: the runs of several systems become one run."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import exactk
from commands import assert_refused, write_files
from exactk._cli.other_commands import _FUSION_NAMES
from exactk._options import ReadingOptions

if TYPE_CHECKING:
    from commands import Run

LISTS: dict[str, dict[str, float]] = {
    "a": {"a": 9, "b": 7, "c": 4, "d": 1},
    "b": {"c": 0.8, "a": 0.5, "e": 0.2},
    "c": {"e": 3, "c": -1},
}
RUNS = ("a.run", "b.run", "c.run")


def run_of(lists: dict[str, dict[str, float]]) -> str:
    return "".join(f"{query} Q0 {item} 0 {score} x\n" for query, row in lists.items() for item, score in row.items())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files({f"{name}.run": run_of({"q": row}) for name, row in LISTS.items()})


# What ranx 0.3.21 returns for these lists, to 10 digits; weighted rrf and the lows are by hand.
GOLDEN: dict[str, dict[str, float]] = {
    "": {"c": 0.0483954908, "a": 0.0325224749, "e": 0.0322664585, "b": 0.0161290323, "d": 0.015625},
    "--weights a=.5,b=.3,c=.2": {
        "c": 0.5 / 63 + 0.3 / 61 + 0.2 / 62,
        "a": 0.5 / 61 + 0.3 / 62,
        "b": 0.5 / 62,
        "e": 0.3 / 63 + 0.2 / 61,
        "d": 0.5 / 64,
    },
    "--rank-constant 0": {"c": 1 / 3 + 1 + 1 / 2, "a": 1.5, "e": 1 / 3 + 1, "b": 0.5, "d": 0.25},
    "--method sum": {"a": 1.5, "c": 1.375, "e": 1, "b": 0.75, "d": 0},
    "--method sum --norm none --missing lowest": {"a": 8.5, "b": 6.2, "e": 4.2, "c": 3.8, "d": 0.2},
    "--method sum --weights a=.5,b=.3,c=.2": {"a": 0.65, "c": 0.4875, "b": 0.375, "e": 0.2, "d": 0},
    "--method sum --norm theoretical_min_max --low a=0,b=0,c=-1": {
        "a": 1.625,
        "c": 1.4444444444,
        "e": 1.25,
        "b": 0.7777777778,
        "d": 0.1111111111,
    },
    "--method mnz": {"c": 4.125, "a": 3, "e": 2, "b": 0.75, "d": 0},
    "--method mnz --power .5": {"c": 2.3815698604, "a": 2.1213203436, "e": 1.4142135624, "b": 0.75, "d": 0},
    "--method anz --norm none": {"b": 7, "a": 4.75, "e": 1.6, "c": 1.2666666667, "d": 1},
    "--method median --norm none": {"b": 7, "a": 4.75, "e": 1.6, "d": 1, "c": 0.8},
    "--method rbc": {"c": 0.488, "a": 0.36, "e": 0.328, "b": 0.16, "d": 0.1024},
    "--method rbc --persistence .5": {"c": 0.875, "a": 0.75, "e": 0.625, "b": 0.25, "d": 0.0625},
    "--method borda": {"c": 12, "a": 11, "e": 9, "b": 7.5, "d": 5.5},
    "--method sum --depth 2": {"a": 1, "c": 1, "e": 1, "b": 0},  # min_max of the two best of each
    "--depth 2 -k 2": {"a": 1 / 61 + 1 / 62, "c": 1 / 61 + 1 / 62},
}


@pytest.mark.parametrize("options", GOLDEN)
def test_golden_values(options: str, run: Run) -> None:
    result = run("fuse", *RUNS, *options.split())
    assert (result.code, result.err) == (0, "")
    rows = [line.split(" ") for line in result.out.splitlines()]
    method = options.split()[1] if options.startswith("--method") else "rrf"
    assert [[query, q0, rank, tag] for query, q0, _, rank, _, tag in rows] == [
        ["q", "Q0", str(rank), method] for rank in range(1, len(rows) + 1)
    ]
    fused = {item: float(score) for _, _, item, _, score, _ in rows}
    assert list(fused) == list(GOLDEN[options])
    assert fused == pytest.approx(GOLDEN[options], rel=0, abs=6e-11)


def test_it_has_the_options_of_the_function() -> None:
    """Beside those that name columns, and what all commands leave to the process."""
    parameters = dict(list(inspect.signature(exactk.fuse).parameters.items())[1:])
    assert list(_FUSION_NAMES) == [name for name in parameters if name not in ReadingOptions.__annotations__]


def test_ties_and_nan(run: Run) -> None:
    write_files(
        {"tied.run": run_of({"q": {"x": 2, "y": 2, "z": 1}}), "nan.run": run_of({"q": {"x": 1, "y": float("nan")}})}
    )
    for ties, scores in {"highest_id": [1 / 62, 1 / 61, 1 / 63], "shared": [1 / 62, 1 / 62, 1 / 63]}.items():
        rows = [line.split() for line in run("fuse", "tied.run", "--ties", ties).out.splitlines()]
        assert [float(row[4]) for row in sorted(rows, key=lambda row: row[2])] == scores
    assert_refused(
        run("fuse", "nan.run"),
        "predictions: expected scores without NaN, found NaN in system 'nan'; --nan last ranks them last",
    )
    assert run("fuse", "nan.run", "--nan", "last").out.splitlines()[1].split()[2:4] == ["y", "2"]


def test_what_is_written_is_what_is_printed(run: Run) -> None:
    options = ("--method", "sum", "--tag", "hybrid")
    printed = run("fuse", *RUNS, *options)
    assert run("fuse", *RUNS, *options, "-o", "fused.run") == (0, "", "")
    assert Path("fused.run").read_text(encoding="utf-8") == printed.out
    assert printed.out == exactk.fuse({name: f"{name}.run" for name in LISTS}, "sum").to_trec(tag="hybrid")
    again = exactk.evaluate({"q": {"c": 1}}, "fused.run", "mrr")
    assert again["mrr"] == exactk.evaluate({"q": {"c": 1}}, exactk.fuse({"x": "fused.run"}), "mrr")["mrr"] == 0.5


def test_several_files_are_one_system(run: Run) -> None:
    """By a pattern or a folder; in any format, each with the columns that it has."""
    write_files({"parts/1.run": run_of({"q": {"a": 9, "d": 1}}), "parts/2.run": run_of({"q": {"c": 4, "b": 7}})})
    expected = run("fuse", *RUNS, "--weights", "a=2,b=1,c=1")
    assert expected.code == 0
    for system in ("a=parts", "a=parts/*.run"):
        assert run("fuse", system, "b.run", "c.run", "--weights", "a=2,b=1,c=1") == expected
    rows = "".join(f"q,{item},{score},{-score}\n" for item, score in LISTS["a"].items())
    write_files({"a.csv": f"who,what,good,bad\n{rows}"})
    columns = ("--user", "who", "--item", "what")
    for option in (("--score", "good"), ("--rank", "bad")):
        assert run("fuse", "a.csv", "b.run", "c.run", "--weights", "a=2,b=1,c=1", *columns, *option) == expected


def test_queries_of_any_system(run: Run) -> None:
    write_files(
        {"d.run": run_of({"p": {"x": 1}}), "ids.csv": "user,item,score\n1,3,0.5\n", "id.run": run_of({"1": {"3": 1}})}
    )
    lines = run("fuse", "a.run", "d.run").out.splitlines()
    assert [line.split()[0] for line in lines] == ["q"] * 4 + ["p"]
    assert_refused(run("fuse", "ids.csv", "id.run"), "--text-ids reads ids in files as strings")
    assert run("fuse", "ids.csv", "id.run", "--text-ids").out.startswith(f"1 Q0 3 1 {2 / 61!r} rrf")


def test_ids_are_written_as_they_are_read(run: Run) -> None:
    write_files({"odd.run": "q\u00a01 Q0 d\u00e9 0 1 x\n", "fused.run": ""})
    assert run("fuse", "odd.run", "-o", "fused.run").code == 0
    assert Path("fused.run").read_text(encoding="utf-8") == f"q\u00a01 Q0 d\u00e9 1 {1 / 61!r} rrf\n"
    assert exactk.fuse({"x": {b"q": {b"d": 1.0}}}).to_trec() == f"q Q0 d 1 {1 / 61!r} fused\n"
    for item in ("", "a b", b"\xff", "\ud800"):
        with pytest.raises(exactk.InputError, match=r"^item: expected UTF-8 text without blanks, as"):
            exactk.fuse({"x": {"q": {item: 1.0}}}).to_trec()


REFUSED = {
    "a.run none.run": "predictions: expected a readable file, found no file at 'none.run'",
    "x=a.run x=b.run": "predictions: expected a distinct name for each system, found 'x' twice",
    "a.run twice.run": "predictions: expected each document once per query, found document 'd' again in system 'twice' (query",
    "a.run inf.run --method sum": "predictions: expected scores from -2^500 to 2^500, found document 'd' inf in system 'inf' (query",
    "ranks.csv --method sum": "predictions: expected scores, found rankings, which have none in system 'ranks'",
    "a.run c.run --method sum --norm none": "predictions: expected normalised scores of at least 0, found document 'c' -1 in system 'c'",
    "a.run b.run --method sum --norm theoretical_min_max --low 1": "predictions: expected no score below its low, 1, found document 'c' 0.8 in",
    "sites.csv --user user --user site": "users: expected one key, as TREC runs have, found 2 columns",
    "blank.csv": "item: expected UTF-8 text without blanks, as TREC runs have, found 'x y'",
    "a.run --tag=x\ty": "--tag: expected UTF-8 text without blanks, as TREC runs have, found 'x\\ty'; see exactk fuse --help",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_it_refuses_leaves_the_old_file(arguments: str, run: Run) -> None:
    write_files(
        {
            "twice.run": run_of({"q": {"d": 1}}) * 2,
            "inf.run": run_of({"q": {"d": float("inf")}}),
            "ranks.csv": "user,item,rank\nq,a,1\n",
            "sites.csv": "user,site,item,score\n1,x,3,.5\n",
            "blank.csv": "user,item,score\nq,x y,.5\n",
            "fused.run": "old\n",
        }
    )
    assert_refused(run("fuse", *arguments.split(" "), "-o", "fused.run"), f"exactk: error: {REFUSED[arguments]}")
    assert Path("fused.run").read_text(encoding="utf-8") == "old\n"
