"""Evaluation of an iterator of blocks of users."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from exactk._engine.block_sums import BlockSums
from exactk._engine.blocks import check_row_arguments, convert_block, empty_block, of_rows
from exactk._engine.metric_inputs import check_truth_is_not_read
from exactk._engine.systems import ONE_SYSTEM, in_context
from exactk._inputs.alignment import without_truth
from exactk._inputs.long_format import Encoding
from exactk._inputs.registry import classify
from exactk._report.user_keys import concatenate_users
from exactk._runtime.errors import ExactkError, each_warning_once, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from exactk._engine.blocks import Block
    from exactk._engine.evaluation import Evaluation
    from exactk._engine.systems import Form
    from exactk._engine.warnings import EvaluatedSystem
    from exactk._inputs.keys.vocabulary import Snapshot
    from exactk._inputs.registry import ClassifiedValue


@each_warning_once()
def evaluate_blocks(
    evaluation: Evaluation, blocks: Iterator[Any], form: Form, restrictions: Mapping[str, ClassifiedValue]
) -> dict[str, EvaluatedSystem]:
    """Evaluate each system block by block; arguments for all users are sliced for each block."""
    sums = BlockSums()
    users: list[Snapshot | NDArray[Any] | None] = []
    without_users = empty_block(evaluation)
    for number, value in enumerate(chain(blocks, [without_users])):
        if value is without_users and users:
            break
        if value is without_users and form is not ONE_SYSTEM:
            raise input_error(form.argument, f"at least one block {form.block}", "an empty iterator")
        begin = sums.row_count
        with in_context(f"block {number} of the iterator, whose first user is number {begin}"):
            evaluation = _with_truth_of(evaluation, value, is_first=not number or value is without_users)
            of_block = evaluation._replace(encoding=Encoding(evaluation.num_threads))
            with nullcontext() if evaluation.has_truth else without_truth("predictions"):
                block = _block_of_iterator(of_block, value, form, restrictions)
                of_block = of_rows(of_block, begin, begin + block.row_count)
                if value is without_users:  # it has no columns that could be candidates
                    of_block = of_block._replace(candidates=None)
                users.append(sums.add(of_block, block))
    check_row_arguments(evaluation, sums.row_count)
    return sums.evaluated_systems(concatenate_users(users, form.argument, "block"), evaluation.convention)


def _with_truth_of(evaluation: Evaluation, value: object, *, is_first: bool) -> Evaluation:
    """Return the evaluation of a block, which may be `(None, predictions)`; all blocks have a truth, or none has."""
    has_truth = not (isinstance(value, tuple) and len(value) > 0 and value[0] is None)
    if not is_first and has_truth != evaluation.has_truth:
        kinds = ("None", "the relevant items of users")
        raise type_error("truth", f"{kinds[evaluation.has_truth]}, as in earlier blocks", kinds[has_truth])
    if not has_truth:
        check_truth_is_not_read(evaluation.values)
    return evaluation._replace(has_truth=has_truth)


def _block_of_iterator(
    evaluation: Evaluation, value: object, form: Form, restrictions: Mapping[str, ClassifiedValue]
) -> Block:
    """Return what an iterator yields as a block."""
    if not isinstance(value, tuple) or len(value) not in {2, 3}:
        found = type(value).__name__ + (f" of {len(value)}" if isinstance(value, tuple) else "")
        raise type_error(form.argument, f"an iterator of {form.blocks}", found, hint=form.hint)
    truth, predictions, exclude = value if value[2:] else (*value, None)
    classified = classify(predictions, form.argument)
    try:
        block = convert_block(evaluation, truth, form.systems(classified), exclude, restrictions)
    except ExactkError as error:
        raise form.amended(error, classified, evaluation.values, truth="None") from error.__cause__
    if block.exclude is not None and evaluation.exclude is not None:
        raise input_error("exclude", f"None with blocks of {form.block.removesuffix(')')}, exclude)", "exclusions")
    return block
