"""Errors about foreign values and files end in a way on: a line that works when it is pasted, or a near path."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import exactk

if TYPE_CHECKING:
    from commands import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.qrels").write_text("q1 0 a 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 0.5 t\n")
    return tmp_path


PATHS: dict[str, tuple[type[OSError], str]] = {
    "data/test.qrel": (FileNotFoundError, "no file at 'data/test.qrel'; did you mean 'data/test.qrels'?"),
    "data/Test.qrels": (FileNotFoundError, "no file at 'data/Test.qrels'; did you mean 'data/test.qrels'?"),
    "datta/test.qrels": (FileNotFoundError, "no folder at 'datta'; did you mean 'data'?"),
    "data/x.parquet": (FileNotFoundError, "no file at 'data/x.parquet'"),
    "data": (IsADirectoryError, "a folder at 'data'"),
    "bm25.run/x": (NotADirectoryError, "a file where a folder should be at 'bm25.run/x'"),
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", PATHS)
def test_f97_a_file_that_is_not_there_is_an_error_of_python_too(path: str) -> None:
    kind, message = PATHS[path]
    for call in (
        lambda: exactk.read(path, "truth"),
        lambda: exactk.evaluate(Path(path), "bm25.run", "recall@1"),
        lambda: exactk.evaluate(path, "bm25.run", "recall@1"),
        lambda: exactk.evaluate("data/test.qrels", "bm25.run", "recall@1", groups=path),
    ):
        with pytest.raises(exactk.InputError, match="expected a readable file, found") as caught:
            call()
        error = caught.value
        assert isinstance(error, kind)
        assert f"found {message}" in str(error).removesuffix("; a string is the path of a file") + "'"
        for other in (pickle.loads(pickle.dumps(error)), error.within("system 'a'")):  # noqa: S301 - our own
            assert type(other) is type(error)
            assert other.argument == error.argument
        assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


@pytest.mark.usefixtures("folder")
def test_f97_a_file_that_may_not_be_read_is_an_error_of_python_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "stat", refuse)  # as root may read everything
    with pytest.raises(exactk.InputError, match=r"no permission to read the file at 'bm25\.run'") as caught:
        exactk.read("bm25.run", "predictions")
    assert isinstance(caught.value, PermissionError)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["data/test.qrel", "datta/test.qrels", "bm25.run/x"])
def test_f97_a_file_that_is_not_there_is_one_line_of_the_command_line(path: str, run: Run) -> None:
    result = run("evaluate", path, "bm25.run")
    assert result.code == 2
    assert result.err == f"exactk: error: truth: expected a readable file, found {PATHS[path][1]}\n"


def test_f97_a_string_that_holds_the_data_is_no_path() -> None:
    with pytest.raises(FileNotFoundError, match=r"; truth=json.loads\(truth\) if it holds the data itself$"):
        exactk.evaluate('{"q1": ["a"]}', {"q1": ["a"]}, "recall@1")
