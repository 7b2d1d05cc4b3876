"""How the core is given what it ranks by, and embeddings a BLAS that keeps to one thread a call."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from metrik._inputs import Embeddings, Scores
from metrik._optional import sgemm, thread_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from threadpoolctl import ThreadpoolController

    from metrik import _core
    from metrik._inputs import Columns, Predictions, Scored

    CoreScored: TypeAlias = _core.Scores | _core.Candidates | _core.Embeddings
    CorePredictions: TypeAlias = _core.Lists | CoreScored


class _Limit:
    """One thread a call of BLAS, from when the first evaluation begins until the last of those beside it has ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limiter: Any = None  # of threadpoolctl, which has no types

    def product(self) -> Any:  # noqa: ANN401 - a capsule or None
        """Return BLAS's product of matrices. A fork waits for its import, which would never end in the child."""
        with self._lock:
            return sgemm()

    def begin(self) -> None:
        with self._lock:
            if self._users == 0:
                _disown()
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._users += 1

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self.undo()

    def undo(self) -> None:
        if self._limiter is None:
            return
        _disown()
        self._limiter.restore_original_limits()
        _disown()
        self._limiter = None

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Give BLAS back: the threads that evaluated are not in the child."""
        self._users = 0
        self.undo()
        self._lock.release()


_limit = _Limit()
os.register_at_fork(
    before=_limit.before_fork, after_in_parent=_limit.after_fork, after_in_child=_limit.after_fork_in_child
)


@cache
def _controller() -> ThreadpoolController:
    return thread_limits()


def _disown() -> None:
    """Let whichever thread comes next set the limits: from version 3.8 on, threadpoolctl ignores all but the first."""
    for library in _controller().lib_controllers:
        disown = getattr(library, "clear_controlling_thread", None)
        if disown is not None:
            disown(force=True)


@overload
def core_of(predictions: Scored, columns: Columns | None) -> AbstractContextManager[CoreScored]: ...
@overload
def core_of(predictions: Predictions, columns: Columns | None) -> AbstractContextManager[CorePredictions]: ...
@contextmanager
def core_of(predictions: Predictions, columns: Columns | None) -> Iterator[Any]:
    """Return the core's view of the predictions, of which only these columns may be ranked, while it is used."""
    if isinstance(predictions, Scores):
        yield predictions.restricted(columns)
        return
    if not isinstance(predictions, Embeddings):
        yield predictions.core
        return
    product = _limit.product()
    if product is None:
        yield predictions.core_with(columns, None)
        return
    _limit.begin()
    try:
        yield predictions.core_with(columns, product)
    finally:
        _limit.end()
