"""Progress of a call, reported while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import numpy as np

from exactk._runtime.errors import type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from exactk._runtime.optional import DisplayHandle

ProgressCallback = Callable[[int, int | None], object]
"""Takes the number of finished users and the total, or None if the total is unknown."""

_REPORT_INTERVAL = 0.05  # seconds between calls


class Progress:
    """The number of finished users of a call, over all its systems or blocks; or of other things that are counted."""

    def __init__(self, progress: object, counted: str = "users") -> None:
        self._display = _display_callback(progress, counted)
        self._callback: ProgressCallback = _draw_nothing
        self._total: int | None = None
        self._finished_before = 0
        self._last_report = 0.0

    @contextmanager
    def track(self, total: int | None) -> Iterator[None]:
        """Report the progress of this many users (None if unknown) and, unless an error is raised, completion."""
        self._total, self._last_report = total, time.monotonic()
        with self._display as self._callback:
            yield
            self._callback(self._finished_before, self._finished_before)

    def report_finished(self, finished: int) -> None:
        """Report the number of finished users of the current problem; engines may call it at any time.

        Only `track` reports completion, so that it is reported once.
        """
        done = self._finished_before + finished
        if done == self._total or time.monotonic() - self._last_report < _REPORT_INTERVAL:
            return
        self._callback(done, self._total)
        self._last_report = time.monotonic()  # after the call, so that a slow callable does not take all of the time

    def add_finished(self, users: int) -> None:
        """Continue with the next system or block, after one with this many users."""
        self._finished_before += users
        self.report_finished(0)


def _display_callback(progress: object, counted: str) -> AbstractContextManager[ProgressCallback]:
    if isinstance(progress, (bool, np.bool_)):
        return _bar_callback(counted) if progress else nullcontext(_draw_nothing)
    if not callable(progress):
        raise type_error("progress", "True, False, or a callable (done, total)", repr(progress))
    return nullcontext(progress)


def _bar_callback(counted: str) -> AbstractContextManager[ProgressCallback]:
    """Return a progress bar in a notebook, or on stderr; a no-op if stderr is not a terminal."""
    from exactk._runtime.optional import notebook_display, progress_bar

    display = notebook_display()
    if display is not None:
        return nullcontext(_notebook_callback(display, counted))
    bar = progress_bar()  # needs rich even without a terminal, so that a call fails everywhere or nowhere
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext(_draw_nothing)

    @contextmanager
    def draw_bar() -> Iterator[ProgressCallback]:
        with bar:
            task = bar.add_task(counted, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    return draw_bar()


class ProgressView(NamedTuple):
    """Progress as a notebook displays it."""

    counted: str
    done: int
    total: int | None

    def __repr__(self) -> str:
        of_total = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{of_total} {self.counted}"

    def _repr_html_(self) -> str:
        amount = "" if self.total is None else f' value="{self.done}" max="{max(1, self.total)}"'
        bar = f'<progress aria-label="{self.counted}"{amount} style="vertical-align:middle"></progress>'
        return f'<div class="exactk-progress">{bar} {self!r}</div>'


def _notebook_callback(display: Callable[[object], DisplayHandle], counted: str) -> ProgressCallback:
    """Return what displays the progress as one output of a cell, which changes."""
    handles: list[DisplayHandle] = []

    def show(done: int, total: int | None) -> None:
        view = ProgressView(counted, done, total)
        if handles:
            handles[0].update(view)
        else:
            handles.append(display(view))

    return show


def _draw_nothing(_done: int, _total: int | None) -> None:
    """Draw nothing."""
