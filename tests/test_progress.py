"""What a long call reports of its progress while it runs."""

from __future__ import annotations

import io
import os
import pty
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import exactk
from exactk._runtime import progress
from jobs import uniform_lists
from strategies import latin

Progress = tuple[int, int | None]
Call = Callable[..., Any]  # takes progress and num_threads

MOST_USERS = 2**22
FEW = ["precision@10", "ndcg@10"]
ITEMS = 500


def of_systems(users: int) -> Call:
    job = uniform_lists(users, 20)
    return partial(exactk.compare, job.truth, {"a": job.predictions, "b": job.predictions}, job.metrics)


def of_blocks(users: int) -> Call:
    job = uniform_lists(100, 20)
    blocks = [(job.truth, job.predictions)] * (users // 100)
    return lambda **options: exactk.evaluate(None, iter(blocks), job.metrics, **options)


def score_matrix(users: int) -> Any:
    return np.broadcast_to(np.random.default_rng(7).random(ITEMS, np.float32), (users, ITEMS))


def sparse_scores(users: int) -> exactk.SparseScores:
    items, scores = np.tile(np.arange(8), users), np.tile(np.random.default_rng(7).random(8), users)
    return exactk.SparseScores(np.arange(users + 1) * 8, items, scores)


FORMS: dict[str, Callable[[int], Call]] = {
    "lists": lambda users: uniform_lists(users, 20).run,
    "groups": lambda users: partial(uniform_lists(users, 20).run, groups=np.arange(users) % 3),
    "systems": of_systems,
    "blocks": of_blocks,
    "scores": lambda users: partial(exactk.evaluate, uniform_lists(users, 2).truth, score_matrix(users), FEW),
    "sparse scores": lambda users: partial(exactk.evaluate, uniform_lists(users, 2).truth, sparse_scores(users), FEW),
    "topk": lambda users: partial(exactk.topk, score_matrix(users), 5),
    "topk of sparse scores": lambda users: partial(exactk.topk, sparse_scores(users), 5),
}


def calls_before_the_end(calls: list[Progress]) -> list[Progress]:
    return [(done, total) for done, total in calls if done > 0 and done != total]


def is_same_result(one: Any, other: Any) -> bool:
    if isinstance(one, exactk.results.TopK):
        return bool(np.array_equal(one.items, other.items) and np.array_equal(one.scores, other.scores))
    return bool(one == other)


def long_call(form: str, progress: Callable[..., object], **options: Any) -> tuple[int, list[Progress], Any]:
    """Make longer and longer calls until one reports that it is not at its end: its users, reports and result."""
    calls: list[Progress] = []

    def record(done: int, total: int | None) -> None:
        calls.append((done, total))
        progress(done, total)

    users = 4000
    while not calls_before_the_end(calls):
        users *= 2
        assert users <= MOST_USERS, "no call before the end"
        calls.clear()
        result = FORMS[form](users)(progress=record, **options)
    return users, calls, result


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(("threads", "form"), latin([1, 2], list(FORMS), 0))
def test_a_long_call_reports_how_many_users_are_finished(form: str, threads: int) -> None:
    thread_ids: set[int] = set()
    users, calls, result = long_call(form, lambda *_: thread_ids.add(threading.get_ident()), num_threads=threads)
    total_users = 2 * users if form == "systems" else users
    assert is_same_result(result, FORMS[form](users)(num_threads=threads))
    assert thread_ids == {threading.get_ident()}
    assert calls[-1] == (total_users, total_users)
    assert {total for _, total in calls[:-1]} == {None if form == "blocks" else total_users}
    assert all(before <= after for (before, _), (after, _) in pairwise(calls))
    assert (total_users, total_users) not in calls[:-1]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("form", "error"), [("lists", KeyboardInterrupt), ("topk", RuntimeError)])
def test_what_a_callable_raises_ends_the_call(form: str, error: type[BaseException], threads: int) -> None:
    calls: list[Progress] = []

    def fail(*progress: Any) -> None:
        if calls_before_the_end([progress]):
            calls.append(progress)
            raise error

    with pytest.raises(error):
        long_call(form, fail, num_threads=threads)
    assert len(calls) == 1, "called again"
    call = FORMS[form](1000)
    assert is_same_result(call(num_threads=threads), call(num_threads=1))


def test_what_a_callable_raises_at_the_end_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        exactk.topk(SCORES, 1, progress=lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        exactk.evaluate([[1]], [[1]], "P@1", progress=lambda done, _: 1 // (done - 1))


@pytest.mark.usefixtures("eager")
def test_a_callable_may_evaluate_too() -> None:
    reports: list[exactk.Report] = []
    expected = exactk.evaluate([[1], [2]], [[1], [3]], "P@1")

    def evaluate_again(*_: Any) -> None:
        reports.append(exactk.evaluate([[1], [2]], [[1], [3]], "P@1"))

    long_call("lists", evaluate_again)
    assert all(report == expected for report in reports)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every step reported."""
    monkeypatch.setattr(progress, "_REPORT_INTERVAL", 0)


def progress_calls(call: Callable[..., object]) -> list[Progress]:
    calls: list[Progress] = []
    call(progress=lambda done, total: calls.append((done, total)))
    return calls


TRUTH: list[list[int]] = [[1], [2], [0]]
LISTS = [[1, 2], [0, 1], [2]]
SCORES = np.array([[0.5, 0.7, 0.1]] * 3)


@pytest.mark.usefixtures("eager")
def test_the_reference_reports_each_user() -> None:
    evaluate = exactk.reference.evaluate
    each = [(1, 3), (2, 3), (3, 3)]
    assert progress_calls(partial(evaluate, TRUTH, LISTS, "P@1")) == each
    assert progress_calls(partial(evaluate, TRUTH, SCORES, ["P@1", "ndcg"])) == each
    assert progress_calls(partial(exactk.reference.topk, SCORES, 2)) == each
    # After a system or block it is reported again, as the core may not have reported its last users.
    of_two = [(1, 6), (2, 6), (3, 6), (3, 6), (4, 6), (5, 6), (6, 6)]
    assert progress_calls(partial(exactk.reference.compare, TRUTH, {"a": LISTS, "b": LISTS}, "P@1")) == of_two
    of_blocks = [(1, None), (1, None), (2, None), (3, None), (3, None), (3, 3)]
    pairs = iter([(TRUTH[:1], LISTS[:1]), (TRUTH[1:], LISTS[1:])])
    assert progress_calls(partial(evaluate, None, pairs, "P@1")) == of_blocks


@pytest.mark.usefixtures("eager")
@pytest.mark.filterwarnings("default:.*the order of ties")
@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
def test_what_a_warning_of_ties_evaluates_is_not_reported(engine: Any) -> None:
    constant = np.zeros((3, 3))
    with pytest.warns(exactk.EvaluationWarning, match="the order of ties"):
        calls = progress_calls(partial(engine.evaluate, TRUTH, constant, "P@1"))
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    with pytest.warns(exactk.EvaluationWarning, match="the order of ties"):
        calls = progress_calls(partial(engine.compare, TRUTH, {"a": constant, "b": constant}, "P@1"))
    assert max(calls) == calls[-1] == (6, 6)
    assert calls.count((6, 6)) == 1


@pytest.mark.filterwarnings("ignore:.*no user was evaluated")
@pytest.mark.parametrize("engine", [exactk, exactk.reference], ids=["core", "reference"])
def test_no_users_are_finished_at_once(engine: Any) -> None:
    assert progress_calls(partial(engine.evaluate, [], [], "P@1")) == [(0, 0)]
    assert progress_calls(partial(engine.compare, [], {"a": [], "b": []}, "P@1")) == [(0, 0)]
    assert progress_calls(partial(engine.evaluate, None, iter([]), "P@1")) == [(0, 0)]
    assert progress_calls(partial(engine.topk, np.empty((0, 3)), 2)) == [(0, 0)]


def test_a_call_that_fails_does_not_report_its_end() -> None:
    calls: list[Progress] = []
    with pytest.raises(exactk.InputError):
        exactk.evaluate(TRUTH, [[1, 1]] * 3, "P@1", progress=lambda *numbers: calls.append(numbers))
    assert not calls


def test_the_function_of_a_metric_reports_too() -> None:
    assert progress_calls(partial(exactk.precision_at_k, TRUTH, LISTS, 1)) == [(3, 3)]


@pytest.mark.parametrize("wrong", [None, 0, 1, "bar", [], np.array([True])])
def test_progress_is_a_bool_or_a_callable(wrong: Any) -> None:
    calls: list[Callable[..., object]] = [
        partial(exactk.evaluate, TRUTH, LISTS, "P@1"),
        partial(exactk.reference.evaluate, TRUTH, LISTS, "P@1"),
        partial(exactk.precision_at_k, TRUTH, LISTS),
        partial(exactk.topk, SCORES, 1),
        partial(exactk.reference.topk, SCORES, 1),
    ]
    for call in calls:
        with pytest.raises(exactk.InputTypeError, match="progress: expected True, False, or a callable") as caught:
            call(progress=wrong)
        assert caught.value.argument == "progress"
        call(progress=np.False_)


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Make stderr a terminal; yield what reads what has been written there since it was last read."""
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with io.FileIO(ours) as screen, os.fdopen(theirs, "w", encoding="utf-8") as stderr:

        def read_screen() -> str:
            stderr.write("THE END")
            stderr.flush()
            text = b""
            while not text.endswith(b"THE END"):
                text += screen.read(1 << 16)
            return text.decode()

        monkeypatch.setattr(sys, "stderr", stderr)
        yield read_screen
        monkeypatch.undo()


def test_true_draws_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with terminal(monkeypatch) as seen:
        expected = exactk.evaluate(TRUTH, LISTS, "P@1")
        assert exactk.evaluate(TRUTH, LISTS, "P@1", progress=True) == expected
        assert "3/3" in seen()
        exactk.topk(SCORES, 1, progress=True)
        assert "3/3" in seen()
        exactk.evaluate(None, iter([(TRUTH, LISTS)] * 2), "P@1", progress=True)
        assert "6/6" in seen()
        with pytest.raises(exactk.InputError):
            exactk.evaluate(TRUTH, [[1, 1]] * 3, "P@1", progress=True)
        drawn = seen()
        assert "3/3" not in drawn
        assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h"), "the cursor stays hidden"
    assert capsys.readouterr().out == ""


class Notebook:
    """A kernel with one output, which keeps what it has shown."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.outputs = 0

    def display(self, shown: object, *, display_id: bool) -> Notebook:
        assert display_id
        self.outputs += 1
        self.update(shown)
        return self

    def update(self, shown: object) -> None:
        self.shown.append((repr(shown), shown._repr_html_()))  # type: ignore[attr-defined]


def kernel(monkeypatch: pytest.MonkeyPatch, **shell: object) -> Notebook:
    """Make this process look like one of IPython."""
    notebook = Notebook()
    module = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(**shell))
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=notebook.display))
    return notebook


def test_true_draws_one_output_in_a_notebook(eager: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - a fixture
    notebook = kernel(monkeypatch, kernel=object())
    exactk.reference.evaluate(TRUTH, LISTS, "P@1", progress=True)
    assert [text for text, _ in notebook.shown] == ["1 of 3 users", "2 of 3 users", "3 of 3 users"]
    assert notebook.outputs == 1
    notebook = kernel(monkeypatch, kernel=object())
    FORMS["lists"](3_000)(progress=True)
    assert notebook.outputs == 1
    texts = [text for text, _ in notebook.shown]
    assert texts[-1] == "3,000 of 3,000 users"
    assert '<progress aria-label="users" value="3000" max="3000"' in notebook.shown[-1][1]
    notebook = kernel(monkeypatch, kernel=object())
    of_blocks(1_000)(progress=True)
    assert notebook.shown[0][0].endswith("00 users")  # of an iterator, nobody knows how many
    assert "value=" not in notebook.shown[0][1]
    assert notebook.shown[-1][0] == "1,000 of 1,000 users"


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = kernel(monkeypatch)
    FORMS["lists"](100)(progress=True)
    assert not notebook.shown


def test_true_writes_nothing_where_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # which rich takes for a terminal
    for stderr in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stderr)
        assert exactk.evaluate(TRUTH, LISTS, "P@1", progress=True)["P@1"] == pytest.approx(1 / 3)
        assert stderr is None or stderr.getvalue() == ""


def test_without_its_library_a_bar_is_an_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"exactk\[progress\]"):
        exactk.evaluate(TRUTH, LISTS, "P@1", progress=True)
    assert progress_calls(partial(exactk.evaluate, TRUTH, LISTS, "P@1")) == [(3, 3)]
