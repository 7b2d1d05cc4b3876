"""How far a call is, told while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from exactk._runtime.errors import type_error
from exactk._runtime.optional import progress_bar

Tell = Callable[[int, int | None], object]
"""Takes how many users are finished, and of how many; None where nobody knows."""

_SECONDS = 0.05  # that pass before it is called again


class Progress:
    """How many users of a call are finished: those of earlier systems or blocks, and of the one at hand."""

    def __init__(self, progress: object) -> None:
        self._shown = _shown(progress)
        self._tell: Tell = _nobody
        self._total: int | None = None
        self._before = 0
        self._told = 0.0

    @contextmanager
    def of(self, total: int | None) -> Iterator[None]:
        """Tell of so many users, None if nobody knows; at the end, but for an error, that all are finished."""
        self._total, self._told = total, time.monotonic()
        with self._shown as self._tell:
            yield
            self._tell(self._before, self._before)

    def at_hand(self, finished: int) -> None:
        """Be told by an engine, as often as it likes, how many users of its problem are finished.

        That all are is told by `of` alone, so that it is told once.
        """
        done = self._before + finished
        if done == self._total or time.monotonic() - self._told < _SECONDS:
            return
        self._tell(done, self._total)
        self._told = time.monotonic()  # after the call, so that a slow callable does not take all of the time

    def add(self, users: int) -> None:
        """Go on to the next system or block, after one of so many users."""
        self._before += users
        self.at_hand(0)


def _shown(progress: object) -> AbstractContextManager[Tell]:
    if isinstance(progress, (bool, np.bool_)):
        return _bar() if progress else nullcontext(_nobody)
    if not callable(progress):
        raise type_error("progress", "True, False, or a callable (done, total)", repr(progress))
    return nullcontext(progress)


def _bar() -> AbstractContextManager[Tell]:
    """Return a bar on stderr, or nothing where that is no terminal."""
    bar = progress_bar()  # which needs its library even then, so that the call fails everywhere or nowhere
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext(_nobody)

    @contextmanager
    def drawn() -> Iterator[Tell]:
        with bar:
            users = bar.add_task("users", total=None)
            yield lambda done, total: bar.update(users, completed=done, total=total)

    return drawn()


def untold(_finished: int) -> None:
    """Take how many users are finished, and tell nobody."""


def _nobody(_done: int, _total: int | None) -> None:
    """Be told, and do nothing."""
