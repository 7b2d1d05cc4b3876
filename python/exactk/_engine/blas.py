"""The core's views of predictions, with single-threaded BLAS for embeddings."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, overload
from weakref import WeakSet

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.scores import Scores
from exactk._runtime.errors import warn
from exactk._runtime.optional import describe_missing_blas, sgemm, threadpool_controller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from threadpoolctl import ThreadpoolController

    from exactk import _core
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.predictions import Predictions, Scored

    CoreScored: TypeAlias = _core.Scores | _core.SparseScores | _core.Embeddings
    CorePredictions: TypeAlias = _core.Lists | CoreScored


class _BlasCall:
    """A call that uses BLAS."""


class _SingleThreadedBlas:
    """Limits BLAS to one thread per call while any evaluation uses it.

    An interrupt may come at any time: the old limits are saved first and discarded last, and dead calls do not count,
    so the next call to end restores the limits that an interrupted call left behind.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a signal's handler may fork while it is held
        self._calls: WeakSet[_BlasCall] = WeakSet()
        self._saved_threads: list[tuple[Any, int]] | None = None  # threadpoolctl's libraries have no types

    def matrix_product(self) -> Any:  # noqa: ANN401 - a capsule or None
        """Return BLAS's matrix product. Its import must complete before a fork, because it would hang in the child."""
        with self._lock:
            return sgemm()

    def begin(self, call: _BlasCall) -> None:
        with self._lock:
            self._calls.add(call)
            if self._saved_threads is None:
                libraries = [library for library in _blas_controller().lib_controllers if library.user_api == "blas"]
                self._saved_threads = [(library, library.num_threads) for library in libraries]
                _set_threads([(library, 1) for library in libraries])

    def end(self, call: _BlasCall) -> None:
        with self._lock:
            self._calls.discard(call)
            if not self._calls:
                self._restore_threads()

    def _restore_threads(self) -> None:
        if self._saved_threads is not None:
            _set_threads(self._saved_threads)
        self._saved_threads = None

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Reset BLAS's thread limit: the evaluating threads do not exist in the child."""
        self._calls.clear()
        self._restore_threads()
        self._lock.release()


_single_threaded_blas = _SingleThreadedBlas()
os.register_at_fork(
    before=_single_threaded_blas.before_fork,
    after_in_parent=_single_threaded_blas.after_fork,
    after_in_child=_single_threaded_blas.after_fork_in_child,
)


@cache
def _blas_controller() -> ThreadpoolController:
    return threadpool_controller()


def _set_threads(libraries: list[tuple[Any, int]]) -> None:
    for library, threads in libraries:
        # Since version 3.8, threadpoolctl ignores all threads but the first one that sets a number, unless it is reset.
        forget = getattr(library, "clear_controlling_thread", lambda **_: None)
        forget(force=True)
        library.set_num_threads(threads)
        forget(force=True)


@cache  # once per process, unless warnings are errors
def _warn_of_missing_blas() -> None:
    warn(f"{describe_missing_blas()}; without it the results are the same, but take several times as long")


@overload
def core_view(predictions: Scored, candidates: CandidateItems | None) -> AbstractContextManager[CoreScored]: ...
@overload
def core_view(
    predictions: Predictions, candidates: CandidateItems | None
) -> AbstractContextManager[CorePredictions]: ...
def core_view(predictions: Predictions, candidates: CandidateItems | None) -> AbstractContextManager[Any]:
    """Return the core's view of the predictions, restricted to these columns, for the duration of its use."""
    if isinstance(predictions, Scores):
        return nullcontext(predictions.core_for(candidates))
    if not isinstance(predictions, CanonicalEmbeddings):
        return nullcontext(predictions.core)
    matrix_product = _single_threaded_blas.matrix_product()
    if matrix_product is None:
        if candidates is None or candidates.for_all:  # with candidates per user, BLAS is of no use
            _warn_of_missing_blas()
        return nullcontext(predictions.core_for(candidates, None))
    return _view_with_blas(predictions, candidates, matrix_product)


@contextmanager
def _view_with_blas(
    predictions: CanonicalEmbeddings,
    candidates: CandidateItems | None,
    matrix_product: Any,  # noqa: ANN401 - a capsule
) -> Iterator[_core.Embeddings]:
    call = _BlasCall()
    try:
        _single_threaded_blas.begin(call)
        yield predictions.core_for(candidates, matrix_product)
    finally:
        _single_threaded_blas.end(call)
