"""The flow of `exactk.judge`: that of an evaluation, whose outcome is the judged lists."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.chunks import Chunk, Part
from exactk._engine.error_locations import explain_repeats
from exactk._engine.evaluation import evaluate_all, judged_users
from exactk._engine.inspection import find_in_system
from exactk._engine.problem import JudgedRows
from exactk._engine.request import align_systems, request_of_arguments
from exactk._engine.systems import ONE_SYSTEM
from exactk._engine.warnings import Evaluated, warnings_of
from exactk._inputs.registry import BLOCKS, classify
from exactk._plan.conventions import as_convention, with_complete_hint
from exactk._plan.metric_strings import checked_cutoff, plan
from exactk._plan.values import Plan
from exactk._runtime.errors import ExactkError, input_error, type_error, warn
from exactk._runtime.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exactk._engine.problem import Engine, JudgedCells
    from exactk._engine.request import Request
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.registry import ClassifiedValue
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Value
    from exactk._report.judged_lists import JudgedLists

_POLICIES = "users=union,empty_truth=compute,empty_list=compute,missing_list=compute,average=macro"
"""All users are judged: which of them count is for their caller to say."""


class Judging(NamedTuple):
    """Aligned inputs, whose lists are judged when they are asked for."""

    inputs: AlignedInputs
    judge: Callable[[range], JudgedCells]
    progress: Progress
    call: _Call

    @property
    def user_count(self) -> int:
        """The number of users."""
        return len(self.inputs.truth)

    def blocks(self, block_users: int) -> Iterator[JudgedLists]:
        """Yield the users in blocks: one block without users if there are none."""
        size = self.user_count
        rows = JudgedRows(self.inputs)
        with self.progress.track(size):
            for begin in range(0, max(1, size), block_users):
                block = range(begin, min(begin + block_users, size))
                with self.call.explained():
                    cells = self.judge(block)
                self.progress.add_finished(len(block))
                yield rows.lists(cells, block)


class _Call(NamedTuple):
    """What is needed to explain an error."""

    convention: Convention
    value: Value
    predictions: ClassifiedValue

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except ExactkError as error:
            if error.argument == "metrics":  # of which the caller has none
                error = error.amended(argument="convention")
            with_hint = with_complete_hint(error, self.convention, (self.value,))
            raise ONE_SYSTEM.amended(with_hint, self.predictions, (self.value,)) from error.__cause__


def prepare_judging(
    engine: Engine,
    truth: object,
    predictions: object,
    k: object,
    *,
    convention: Any,  # noqa: ANN401 - like the others, as in `exactk.evaluate`
    **options: Any,  # noqa: ANN401
) -> Judging:
    """Convert and align the inputs, and warn of what an evaluation would warn of."""
    convention = as_convention(convention)
    value = _value_of_lists(checked_cutoff(k), convention)
    classified = classify(predictions, "predictions")
    if classified.container is BLOCKS:
        hint = "judge the truth and the predictions of each block"
        raise type_error("predictions", "the predictions of all users", type(predictions).__name__, hint=hint)
    if truth is None:
        raise type_error("truth", "the relevant items of each user", "None")
    call = _Call(convention, value, classified)
    with call.explained():
        request = request_of_arguments(engine, ONE_SYSTEM, truth, classified, Plan([value]), convention, **options)
        aligned = align_systems(request)
        (name,) = aligned.systems
        inputs = aligned.inputs(name)
        with explain_repeats(request.truth, request.systems[name]):
            _warn_of_inputs(request, inputs, aligned)
    return Judging(inputs, judged_users(request, inputs), request.progress, call)


def _value_of_lists(k: int, convention: Convention) -> Value:
    """Return the value by whose rules the lists are judged."""
    (value,) = plan(f"num_hits@{k}({_POLICIES})", convention)
    return value.replaced(spelling=f"num_hits@{k}")  # in warnings


def _warn_of_inputs(request: Request, inputs: AlignedInputs, aligned: Chunk) -> None:
    """Warn of what the hits tell about the inputs, as for any metric; of no users, they say nothing."""
    request = request._replace(progress=Progress(progress=False))
    report, _ = evaluate_all(request, inputs)
    findings = aligned.of_truth._replace(
        systems={"": find_in_system(inputs, report, aligned.exclude, request.candidates)}
    )
    reports = {"": report} if len(inputs.truth) else {}
    for kind, text in warnings_of(Evaluated(Part(reports, findings), request.convention)):
        if kind.name == "ties":
            warn(str(text[0]).replace(request.values[0].spelling, "the number of hits"))
        elif kind.name != "cutoffs":
            warn(*text)


def checked_block_users(block_users: object) -> int:
    """Return the number of users in a block, or raise if it is no positive integer."""
    if isinstance(block_users, bool) or not isinstance(block_users, (int, np.integer)):
        raise type_error("block_users", "an integer", repr(block_users))
    if block_users < 1:
        raise input_error("block_users", "at least 1", str(block_users))
    return int(block_users)
