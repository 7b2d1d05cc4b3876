"""How the core is given what it ranks by, and embeddings a BLAS that keeps to one thread a call."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, overload
from weakref import WeakSet

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.scores import Scores
from exactk._runtime.optional import sgemm, thread_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from threadpoolctl import ThreadpoolController

    from exactk import _core
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.predictions import Predictions, Scored

    CoreScored: TypeAlias = _core.Scores | _core.SparseScores | _core.Embeddings
    CorePredictions: TypeAlias = _core.Lists | CoreScored


class _Call:
    """One that multiplies."""


class _Limit:
    """One thread a call of BLAS, from when the first evaluation begins until the last of those beside it has ended.

    An interrupt may come anywhere: what was before is noted first and forgotten last, and a call that is gone is no
    longer counted, so that the next to end sets right what one that was cut short left.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a signal's handler may fork while it is held
        self._calls: WeakSet[_Call] = WeakSet()
        self._before: list[tuple[Any, int]] | None = None  # threadpoolctl's libraries have no types

    def product(self) -> Any:  # noqa: ANN401 - a capsule or None
        """Return BLAS's product of matrices. A fork waits for its import, which would never end in the child."""
        with self._lock:
            return sgemm()

    def begin(self, call: _Call) -> None:
        with self._lock:
            self._calls.add(call)
            if self._before is None:
                libraries = [one for one in _controller().lib_controllers if one.user_api == "blas"]
                self._before = [(one, one.num_threads) for one in libraries]
                _set_threads([(one, 1) for one in libraries])

    def end(self, call: _Call) -> None:
        with self._lock:
            self._calls.discard(call)
            if not self._calls:
                self._undo()

    def _undo(self) -> None:
        if self._before is not None:
            _set_threads(self._before)
        self._before = None

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Give BLAS back: the threads that evaluated are not in the child."""
        self._calls.clear()
        self._undo()
        self._lock.release()


_limit = _Limit()
os.register_at_fork(
    before=_limit.before_fork, after_in_parent=_limit.after_fork, after_in_child=_limit.after_fork_in_child
)


@cache
def _controller() -> ThreadpoolController:
    return thread_limits()


def _set_threads(libraries: list[tuple[Any, int]]) -> None:
    for library, threads in libraries:
        # From version 3.8 on, threadpoolctl ignores all threads but the first to set a number, unless it is made to forget it.
        forget = getattr(library, "clear_controlling_thread", lambda **_: None)
        forget(force=True)
        library.set_num_threads(threads)
        forget(force=True)


@overload
def core_view(predictions: Scored, columns: CandidateItems | None) -> AbstractContextManager[CoreScored]: ...
@overload
def core_view(predictions: Predictions, columns: CandidateItems | None) -> AbstractContextManager[CorePredictions]: ...
@contextmanager
def core_view(predictions: Predictions, columns: CandidateItems | None) -> Iterator[Any]:
    """Return the core's view of the predictions, of which only these columns may be ranked, while it is used."""
    if isinstance(predictions, Scores):
        yield predictions.restricted(columns)
        return
    if not isinstance(predictions, CanonicalEmbeddings):
        yield predictions.core
        return
    product = _limit.product()
    if product is None:
        yield predictions.core_with(columns, None)
        return
    call = _Call()
    try:
        _limit.begin(call)
        yield predictions.core_with(columns, product)
    finally:
        _limit.end(call)
