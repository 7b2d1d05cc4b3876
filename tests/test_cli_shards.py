"""Evaluation in shards on the command line: all of them are the whole, and what is not whole is refused."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import exactk
import kills
from children import run_child
from commands import Run, write_files
from exactk._cli import command_parser
from exactk._cli.shards import READING_OPTIONS
from exactk._report.state_shape import ShardedRun, Shards, united_shards
from strategies import examples
from test_files import FORMATS, ROWS, rows_of_users

INPUTS = ["truth.csv", "predictions.csv"]
METRICS = ["-m", "ndcg@[2,5]", "-m", "map"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    kills.write_files()
    Path("items.json").write_text(json.dumps([*range(50)]))
    Path("weights.csv").write_text("user,weight\n" + "".join(f"user {user},{user / 8}\n" for user in range(200)))
    with Path("exclude.csv").open("a") as exclude:
        exclude.write("a user of no other file,3\n")
    return tmp_path


def names_in(folder: Path | str) -> list[str]:
    """Return the names of the files, hidden ones too."""
    return sorted(path.name for path in Path(folder).iterdir())


def evaluate(run: Run, *options: object, code: int = 0) -> str:
    """Return what the command printed, to stdout or, with an exit code, to stderr."""
    result = run("evaluate", *INPUTS, *METRICS, *options)
    assert result.code == code, result.err
    return result.err if code else result.out


ALL_OPTIONS = {
    "none": "",
    "exclusions": "--exclude exclude.csv --min map=0.9",
    "groups and weights": "--groups groups.csv --weights weights.csv --set users=union",
    "items": "-m novelty@3 -m coverage@3 --train exclude.csv --catalogue items.json",
    "candidates": "--candidates exclude.csv --set users=both",
    "base predictions": "-m unexpectedness@3 --base-predictions predictions.csv --catalogue items.json",
    "a preset": "--convention replay --threads 3",
}


@pytest.mark.parametrize(
    ("name", "format_name"),
    [(name, "table") for name in ALL_OPTIONS]
    + [("groups and weights", name) for name in ("csv", "markdown", "latex", "json")],
)
def test_f36_shards_print_what_the_whole_prints(name: str, format_name: str, run: Run) -> None:
    options = [*ALL_OPTIONS[name].split(), "--format", format_name]
    arguments = ["evaluate", *INPUTS, *METRICS, *options]
    whole = run(*arguments, "--state", "whole")
    found = run(*arguments, "--shards", 7, "--shard-folder", "shards", "--state", "merged")
    merged = run("merge", "shards", "--format", format_name)
    assert Path("merged").read_bytes() == Path("whole").read_bytes()
    assert found.code == whole.code == ("--min" in options)
    if format_name == "json":
        documents = [json.loads(one.out) for one in (whole, found, merged)]
        assert len({str(document.pop("command")) for document in documents}) == 3
        assert documents[0].pop("inputs") == documents[1].pop("inputs") != documents[2].pop("inputs")
        assert documents[0] == documents[1] == documents[2]
    else:
        assert found.out == merged.out == whole.out


@pytest.mark.parametrize(
    ("truth", "predictions"),
    [
        *zip(FORMATS, [*list(FORMATS)[1:], next(iter(FORMATS))], strict=True),
        ("rows.json", "run"),
        ("qrels", "rows.json"),
        ("a.csv", "parts"),
    ],
)
def test_f38_shards_of_any_format(truth: str, predictions: str, run: Run) -> None:
    """A user's rows may be in several files."""
    for name, data in FORMATS.items():
        Path(name).write_bytes(data)
    lines = [f"{user},{item},{score}\n" for user, item, score in ROWS]
    write_files({f"parts/{part}.csv": "user,item,score\n" + "".join(lines[part::3]) for part in range(3)})
    write_files({"rows.json": json.dumps(rows_of_users())})
    write_files({"qrels": "".join(f"{user} 0 {item} 1\n" for user, item, _ in ROWS)})
    write_files({"run": "".join(f"{user} Q0 {item} 0 {score} x\n" for user, item, score in ROWS)})
    arguments = ["evaluate", truth, predictions, *METRICS]
    whole = run(*arguments, "--state", "whole")
    assert whole.code == 0, whole.err
    assert run(*arguments, "--shards", 3, "--shard-folder", "shards", "--state", "merged").out == whole.out
    assert Path("merged").read_bytes() == Path("whole").read_bytes()


def test_f38_shards_of_other_formats_and_orders(run: Run) -> None:
    """Each machine may have the rows in its own order and its own format: the user's key decides."""
    rows = [line.split(",") for line in Path("truth.csv").read_text().splitlines()[1:]]
    Path("truth.tsv").write_text("item\tuser\n" + "".join(f"{item}\t{user}\n" for user, item in reversed(rows)))
    counts = []
    for truth in ("truth.csv", "truth.tsv"):
        for number in (1, 2, 3):
            run("evaluate", truth, "predictions.csv", *METRICS, "--shard", f"{number}/3", "--state", "one")
            counts.append(exactk.State.from_bytes(Path("one").read_bytes()).truth_digest)
    assert counts[:3] == counts[3:]
    assert len(set(counts)) == 3


def test_f35_a_run_goes_on(run: Run) -> None:
    options = ["--shards", 4, "--shard-folder", "shards"]
    expected = evaluate(run, *options)
    paths = [Path(f"shards/shard-{number}-of-4.state") for number in range(1, 5)]
    contents = [path.read_bytes() for path in paths]
    paths[1].unlink()
    paths[3].write_bytes(contents[3][:-1])  # as after a fault of the disk
    paths[0].rename("shards/from another machine")
    Path("shards/.exactk-shard-2-of-4.state-abc.tmp").write_text("cut")
    again = run("evaluate", *INPUTS, *METRICS, *options)
    assert again.out == expected
    assert "note: kept 2 shards of shards" in again.err
    assert "shard-4-of-4.state" in again.err
    assert "truncated or corrupted" in again.err
    assert "exactk evaluates this shard again" in again.err
    assert [path.read_bytes() for path in paths[1:]] == contents[1:]
    assert names_in("shards") == ["from another machine", *(path.name for path in paths[1:])]
    modified = [path.stat().st_mtime_ns for path in paths[1:]]
    assert evaluate(run, *options) == expected
    assert [path.stat().st_mtime_ns for path in paths[1:]] == modified


def test_warnings_of_one_kind_are_shown_once(run: Run) -> None:
    """With the shard that is the first to have it; a run that goes on shows it again."""
    options = ["--exclude", "exclude.csv", "--shards", 4, "--shard-folder", "shards"]
    lines = run("evaluate", *INPUTS, *METRICS, *options).err.splitlines()
    (first,) = (line for line in lines if "relevant items are in exclude" in line)
    assert re.match(r"exactk: warning: shard 1/4: \d+ relevant items are in exclude and count as misses", first)
    assert re.fullmatch(r"exactk: note: \d more warnings of these kinds, of other shards", lines[-1])
    Path("shards/shard-3-of-4.state").unlink()
    lines = run("evaluate", *INPUTS, *METRICS, *options).err.splitlines()
    assert any("warning: shard 3/4: " in line and "relevant items are in exclude" in line for line in lines)


def test_f35_shards_of_commands_of_their_own_are_used(run: Run) -> None:
    Path("shards").mkdir()
    evaluate(run, "--shard", "2/3", "--state", "shards/second")
    modified = Path("shards/second").stat().st_mtime_ns
    assert evaluate(run, "--shards", 3, "--shard-folder", "shards") == evaluate(run)
    assert Path("shards/second").stat().st_mtime_ns == modified
    assert names_in("shards") == ["second", "shard-1-of-3.state", "shard-3-of-3.state"]


def change_a_grade() -> None:
    path = Path("truth.csv")
    path.write_text(path.read_text().replace("user 7,", "user 8888,", 1))


CHANGES: dict[str, tuple[list[str], Callable[[], None] | None, str]] = {
    "metrics": (["-m", "mrr"], None, "metrics ndcg@2, ndcg@5, map and ndcg@2, ndcg@5, map, mrr"),
    "convention": (["--set", "nan=last"], None, "nan 'raise' and 'last'"),
    "another option": (["--exclude", "exclude.csv"], None, r"content of exclude \(CSV\) \(not read and SHA-256 \w{8}\.\.\.\)"),
    "content": ([], change_a_grade, r"content of truth \(CSV\) \(SHA-256 \w{8}\.\.\. and SHA-256 \w{8}\.\.\.\)"),
    "columns": (["--score", "score"], None, r"--score \(none and score\)"),
    "ids": (["--text-ids"], None, r"--text-ids \(none and True\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_f37_shards_of_another_evaluation_are_refused(what: str, run: Run) -> None:
    """Nothing is evaluated or written then, and the message says what differs."""
    options, change, difference = CHANGES[what]
    folder = ["--shards", "2", "--shard-folder", "shards"]
    evaluate(run, *folder)
    Path("shards/shard-2-of-2.state").unlink()
    if change:
        change()
    text = evaluate(run, *folder, *options, code=2)
    another = rf"'shards/shard-1-of-2.state' of another: {difference};"
    assert re.search(rf"--shard-folder: expected shards of this .* {another}", text)
    assert names_in("shards") == ["shard-1-of-2.state"]
    evaluate(run, "--shard", "2/2", "--state", "second", *options)
    text = run("merge", "shards", "second").err
    assert re.search(rf"states: .*{'metrics' if what == 'metrics' else difference}", text)
    assert "'shards/shard-1-of-2.state' and 'second'" in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"", "expected a state file, found an empty file in shards/notes.txt"),
        ("whole", None, "found 'shards/whole' of another: it is no shard of --shard or --shards"),
        ("again", None, "each shard once, found shard 1/2 in 'shards/again' and in 'shards/shard-1-of-2.state'"),
        ("shard-1-of-3.state", None, "found 'shards/shard-1-of-3.state' of another: 3 and 2 shards"),
    ],
)
def test_f35_other_files_in_the_folder_are_refused(name: str, content: bytes | None, message: str, run: Run) -> None:
    folder = ["--shards", "2", "--shard-folder", "shards"]
    evaluate(run, *folder)
    path = Path("shards") / name
    if content is not None:
        path.write_bytes(content)
    else:
        evaluate(run, *{"whole": [], "again": ["--shard", "1/2"]}.get(name, ["--shard", "1/3"]), "--state", path)
    assert message in evaluate(run, *folder, code=2)


def put_another_shard(path: Path) -> None:
    Path("shards/shard-2-of-2.state").rename(path)


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "notes": (lambda path: path.write_bytes(b"notes"), "a state file, found a file that begins with b'notes'"),
    "an empty file": (Path.touch, "a state file, found an empty file"),
    "a link to nothing": (lambda path: path.symlink_to("outside"), "no file at"),
    "a link to a file": (lambda path: path.symlink_to("../outside.csv"), "a state file, found a file that begins with"),
    "a link to a damaged state": (lambda path: path.symlink_to("../damaged"), "which is a link"),
    "a name of a damaged state": (lambda path: path.hardlink_to("damaged"), "which has 2 hard links"),
    "a link to an input": (lambda path: path.symlink_to("../truth.csv"), "a state file, found a file that begins with"),
    "a name of an input": (lambda path: path.hardlink_to("truth.csv"), "a state file, found a file that begins with"),
    "a folder": (Path.mkdir, "a regular file, found a directory"),
    "another shard": (put_another_shard, "which is none of it"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_f92_a_shard_replaces_its_own_state_alone(what: str, run: Run) -> None:
    """The error comes before anything is evaluated."""
    make, message = FOREIGN[what]
    folder = ["--shards", "2", "--shard-folder", "shards"]
    evaluate(run, *folder)
    state = Path("shards/shard-1-of-2.state").read_bytes()
    Path("damaged").write_bytes(state[:-1])
    Path("outside.csv").write_bytes(b"outside")
    Path("shards/shard-1-of-2.state").unlink()
    make(Path("shards/shard-1-of-2.state"))
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert message in evaluate(run, *folder, code=2)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    assert not Path("shards/outside").exists()


@pytest.mark.parametrize("what", ["notes", "a link to nothing", "a link to an input", "a name of an input"])
def test_f92_what_appears_during_a_run_is_kept(what: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_part = exactk.evaluate

    def evaluate_and_make(*arguments: Any, **named: Any) -> exactk.Report:
        with suppress(FileExistsError):
            FOREIGN[what][0](Path("shards/shard-1-of-2.state"))
        return evaluate_part(*arguments, **named)

    monkeypatch.setattr(exactk, "evaluate", evaluate_and_make)
    before = Path("truth.csv").read_bytes()
    text = evaluate(run, "--shards", "2", "--shard-folder", "shards", code=2)
    assert "--shard-folder: expected shard 1/2 or no file, found 'shards/shard-1-of-2.state', which is" in text
    assert (Path("truth.csv").read_bytes(), names_in("shards")) == (before, ["shard-1-of-2.state"])
    assert not Path("shards/outside").exists()


def test_f92_stdout_is_no_shard(folder: Path) -> None:
    """A state that is damaged, because the shell has emptied it, is not that of a shard."""
    code = "import sys; from exactk._cli import main; sys.exit(main(sys.argv[1:]))"
    Path("shards").mkdir()
    with Path("shards/shard-1-of-2.state").open("wb") as stream:
        command = [sys.executable, "-c", code, "evaluate", *INPUTS, "--shards", "2", "--shard-folder", "shards"]
        ended = subprocess.run(command, check=False, stdout=stream, stderr=subprocess.PIPE, cwd=folder)  # noqa: S603 - our own code
    assert (ended.returncode, Path("shards/shard-1-of-2.state").read_bytes()) == (2, b"")
    assert b"found an empty file" in ended.stderr


@pytest.mark.parametrize("name", ["pipe", "shard-2-of-2.state"])
def test_f54_pipes_in_the_folder_are_not_waited_for(name: str, run: Run) -> None:
    folder = ["--shards", "2", "--shard-folder", "shards"]
    evaluate(run, *folder)
    Path("shards/shard-2-of-2.state").unlink()
    os.mkfifo(f"shards/{name}")
    message = f"expected a regular file, because it is read more than once, found a pipe in shards/{name}"
    assert f"--shard-folder: {message}" in evaluate(run, *folder, code=2)
    assert f"states: {message}" in run("merge", "shards").err


@pytest.mark.parametrize("options", [["--shards", "3", "--shard-folder", "shards"], ["--shard", "2/3", "--state", "s"]])
def test_f35_inputs_that_change_during_a_run(options: list[str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """No state says that it is of a content which may not be what was read."""
    evaluate_part = exactk.evaluate
    calls = []

    def evaluate_and_change(*arguments: Any, **named: Any) -> exactk.Report:
        report = evaluate_part(*arguments, **named)
        calls.append(report)
        if len(calls) == 2 or options[0] == "--shard":
            text = Path("predictions.csv").read_text()
            Path("predictions.csv").write_text(text.replace(",0.", ",0.0"))
        return report

    monkeypatch.setattr(exactk, "evaluate", evaluate_and_change)
    text = evaluate(run, *options, code=2)
    assert "predictions: expected a file that nothing changes while it is read, found 'predictions.csv', which" in text
    assert not Path("s").exists()
    if options[0] == "--shards":
        assert names_in("shards") == ["shard-1-of-3.state"]


def test_f35_merge_refuses_a_shard_twice_and_names_missing_ones(run: Run) -> None:
    paths = [Path(f"{number}.state") for number in (1, 2, 3, 4)]
    for number, path in enumerate(paths, 1):
        evaluate(run, "--shard", f"{number}/4", "--state", path)
    Path("copy").write_bytes(paths[2].read_bytes())
    assert "each shard once, found shard 3/4 in '3.state' and in 'copy'" in run("merge", *paths, "copy").err
    result = run("merge", *paths[1:3])
    assert result.code == 2
    assert "states: expected all 4 shards, found 2: 1/4, 4/4 are missing; exactk evaluate --shard 1/4" in result.err
    part = run("merge", *paths[1:3], "--incomplete", "--state", "part")
    assert part.code == 0
    assert part.out.endswith("; only shards 2/4, 3/4\n")
    assert part.err == "exactk: warning: states: 1/4, 4/4 are missing\n"
    assert "shard 3/4 in 'part' and in 'copy'" in run("merge", "part", "copy", "1.state", "4.state").err
    assert run("merge", "4.state", "part", "1.state", "--state", "all").out == evaluate(run, "--state", "whole")
    assert Path("all").read_bytes() == Path("whole").read_bytes()
    assert "'1.state' with shards, and 'whole' without" in run("merge", *paths, "whole").err


def test_f35_shards_that_the_caller_names(run: Run) -> None:
    for name in ("monday", "tuesday"):
        evaluate(run, "--shard-name", name, "--state", name)
    evaluate(run, "--state", "plain")
    assert run("merge", "monday", "tuesday", "plain", "--state", "week").code == 0
    message = "expected each shard once, found shard monday in 'week' and in 'monday'"
    assert message in run("merge", "week", "monday").err
    evaluate(run, "--shard", "1/2", "--state", "first")
    assert "'first' with shards, and 'monday' without" in run("merge", "first", "monday").err


def test_f35_merging_in_python() -> None:
    """In several steps too, whose order does not matter."""
    whole = exactk.evaluate({1: [1]}, {1: [1]}, "P@1").state
    run_of_shards = ShardedRun(3, "1", (("truth", "ab"),), ())
    states = [exactk.merge([whole])._of_shards(Shards((f"{number}/3",), run_of_shards)).state for number in (1, 2, 3)]
    part = exactk.merge([states[2], states[0]])
    assert part.state.shards == Shards(("1/3", "3/3"), run_of_shards)
    assert exactk.State.from_bytes(part.state.to_bytes()).shards == part.state.shards
    assert exactk.Report.from_json(part.to_json()).state.shards == part.state.shards
    assert repr(part).endswith("only shards 1/3, 3/3")
    twice: list[list[Any]] = [[part, states[0]], [states[0], states[1], part], [states[2], states[2]]]
    for parts in twice:
        with pytest.raises(exactk.StateMismatchError, match=r"expected each shard once, found shard [13]/3 in parts"):
            exactk.merge(parts)
    complete = exactk.merge([states[1], part]).state
    assert complete.shards is None
    assert complete.to_bytes() == exactk.merge([whole] * 3).state.to_bytes()
    with pytest.raises(exactk.StateMismatchError, match=r"found parts\[0\] with shards, and parts\[1\] without"):
        exactk.merge([states[0], whole])


@given(st.integers(1, 40), st.data())
@settings(max_examples=examples(100))
def test_f35_shards_unite_in_any_order(count: int, data: st.DataObject) -> None:
    """Into None exactly if there are all; a name that comes twice is always found."""
    sharded = ShardedRun(count, "1", (), ())
    numbers = data.draw(st.lists(st.integers(1, count), min_size=1))
    parts = {f"part {index}": Shards((f"{number}/{count}",), sharded) for index, number in enumerate(numbers)}
    if len(set(numbers)) < len(numbers):
        with pytest.raises(exactk.StateMismatchError, match="each shard once"):
            united_shards(parts, "parts")
        return
    united = united_shards(parts, "parts")
    assert (united is None) == (len(numbers) == count)
    if united is not None:
        assert united.names == tuple(f"{number}/{count}" for number in sorted(numbers))
        assert sorted([*united.names, *united.missing]) == sorted(f"{number}/{count}" for number in range(1, count + 1))


@pytest.mark.parametrize(
    "shards",
    [
        {"names": [], "run": None},
        {"names": ["b", "a"], "run": None},
        {"names": ["a", "a"], "run": None},
        {"names": ["1/2", "2/2"], "run": {"shards": 2, "version": "1", "inputs": [], "options": []}},
        {"names": ["3/2"], "run": {"shards": 2, "version": "1", "inputs": [], "options": []}},
        {"names": ["1/2"], "run": {"shards": 10**9, "version": "1", "inputs": [], "options": []}},
        {"names": ["1/2"], "run": {"shards": 2, "version": 1, "inputs": [], "options": []}},
        {"names": ["1/2"], "run": {"shards": 2, "version": "1", "inputs": [["a"]], "options": []}},
        {"names": ["1/2"], "run": {"shards": 2, "version": "1", "inputs": []}},
        {"names": [1], "run": None},
        None,
    ],
)
def test_f51_shards_that_no_run_has(shards: object) -> None:
    state = exactk.evaluate([[1]], [[1]], "P@1").state.to_dict()
    with pytest.raises(exactk.InputError, match="invalid data"):
        exactk.State.from_dict({**state, "shards": shards})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "1/2"], "--shard goes with --state FILE"),
        (["--shard-name", "a"], "--shard-name goes with --state FILE"),
        (["--shards", "2"], "--shards goes with --shard-folder DIR"),
        (["--shard-folder", "d"], "--shard-folder goes with --shards N"),
        (["--shard", "0/2", "--state", "s"], "expected K/N such as 3/8, with K from 1 to N, found '0/2'"),
        (["--shard", "3/2", "--state", "s"], "expected K/N"),
        (["--shard", "monday", "--state", "s"], "--shard-name names a shard of your own"),
        (["--shards", "0", "--shard-folder", "d"], "expected an integer from 1 to 100000, found '0'"),
        (["--shards", "2", "--shard", "1/2", "--state", "s"], "not allowed with"),
        (["--shards", "2", "--shard-folder", "d", "--per-user", "u.csv"], "--per-user goes with --shard K/N"),
        (["--shards", "2", "--shard-folder", "..", "--state", "../s"], "--state FILE goes into another folder"),
        (["--shard", "1/2", "--state", "s", "--format", "trec"], "--format trec goes without shards"),
        (["--shard-name", "\n", "--state", "s"], "expected a name of 1 to 200 printable characters"),
        (["--shards", "2", "--shard-folder", "none/d"], "none/d: No such file or directory"),
        (["--shards", "2", "--shard-folder", "truth.csv"], "truth.csv: File exists"),
    ],
)
def test_options_that_do_not_go_together(options: Sequence[str], message: str, run: Run, folder: Path) -> None:
    before = names_in(folder)
    assert message in run("evaluate", *INPUTS, "-m", "ndcg@5", *options).err
    assert names_in(folder) == before


def test_inputs_that_are_read_once_have_no_shards(run: Run) -> None:
    os.mkfifo("pipe")
    result = run("evaluate", "pipe", "predictions.csv", "--shard", "1/2", "--state", "s")
    assert result.code == 2
    assert "truth: expected a regular file, because it is read more than once, found a pipe" in result.err


def test_every_option_that_says_how_files_are_read_is_kept() -> None:
    (commands,) = (one for one in command_parser()._actions if isinstance(one, argparse._SubParsersAction))
    groups = {group.title: group for group in commands.choices["evaluate"]._action_groups}
    titles = ("column names (common names are detected)", "forms and columns per file")
    names = [action.dest for title in titles for action in groups[title]._group_actions]
    assert {*names, "text_ids"} == set(READING_OPTIONS)


def test_f35_a_kill_at_each_step_of_a_write(run: Run) -> None:
    """The run killed leaves whole files alone, and hidden ones; the next removes these, and has the same bits."""
    cases = [(step, shard) for step in ("before", "fsync", "replace", "after") for shard in (1, 2, 3)]
    code = (  # runs in forks of one process, each with a folder of its own
        "import os, signal, sys, pathlib\n"
        "from exactk._cli import main, shards\n"
        "from exactk._runtime import written_files\n"
        "def killing(call, shard, at_end):\n"
        "    calls = []\n"
        "    def wrapped(*arguments, **options):\n"
        "        calls.append(call)\n"
        "        result = call(*arguments, **options) if at_end or len(calls) < shard else None\n"
        "        if len(calls) == shard: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return result\n"
        "    return wrapped\n"
        "def run_to_the_kill(step, shard, folder):\n"
        "    steps = {'before': (shards, 'replace_file'), 'fsync': (written_files, '_copy_attributes')}\n"
        "    owner, name = steps.get(step, (pathlib.Path, 'replace'))\n"
        "    setattr(owner, name, killing(getattr(owner, name), shard, at_end=step == 'after'))\n"
        "    os._exit(main([*sys.argv[1:], folder]))\n"
        f"for step, shard in {cases}:\n"
        "    child = os.fork()\n"
        "    if child == 0: run_to_the_kill(step, shard, f'{step}{shard}')\n"
        "    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, (step, shard)\n"
    )
    arguments = ["evaluate", *INPUTS, *METRICS, "--threads", "1", "--shards", "3", "--shard-folder"]
    killed = subprocess.run([sys.executable, "-c", code, *arguments], check=False, capture_output=True, text=True)  # noqa: S603 - our own code
    assert killed.returncode == 0, killed.stderr
    expected = evaluate(run)
    for step, shard in cases:
        folder = f"{step}{shard}"
        names = names_in(folder)
        hidden = [name for name in names if name.startswith(".exactk-shard-")]
        assert len(hidden) == (step in {"fsync", "replace"}), folder
        assert len(names) - len(hidden) == shard - (step != "after"), folder
        assert run(*arguments, folder).out == expected
        assert len(names_in(folder)) == 3


def test_f35_killed_at_random_moments() -> None:
    """200 times with EXACTK_EXAMPLES=1."""
    counts = run_child(kills.kill_often, examples(200), 1)
    assert counts["kills"] == examples(200)
    assert counts["kills after a shard"] > 0
