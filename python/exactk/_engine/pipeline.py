"""The flow of every evaluation: containers to canonical inputs, metrics to a plan, an engine call, reports."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.base_arguments import base_for_pieces, classified_base
from exactk._engine.chunks import Chunk, PartSums
from exactk._engine.error_locations import explain_repeats
from exactk._engine.evaluation import Evaluation
from exactk._engine.findings import Findings
from exactk._engine.inspection import describe_odd_items
from exactk._engine.metric_inputs import (
    check_collection_values,
    check_item_groups,
    check_truth_is_not_read,
    items_of_metrics,
)
from exactk._engine.systems import ONE_SYSTEM, check_systems_before_metrics, in_context, in_system, open_systems
from exactk._engine.warnings import Evaluated, warn_of
from exactk._inputs.alignment import Alignment, truth_without_items, without_truth
from exactk._inputs.base_messages import naming_base
from exactk._inputs.beside_scores import (
    check_ids,
    check_matrix,
    grades_beside_scores,
    shapes_of_scores,
    shapes_of_systems,
)
from exactk._inputs.column_use import check_columns_are_read
from exactk._inputs.conversions import exclusions_of, truth_input
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.long_format import Encoding
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import count_users
from exactk._inputs.paths import opened
from exactk._inputs.readings import check_not_truth, lines_of_ranks
from exactk._inputs.registry import BATCHES, BLOCKS, ClassifiedValue, as_candidate_items, classify
from exactk._plan.conventions import as_convention, with_complete_hint
from exactk._plan.metric_strings import are_metrics, plan, warn_of_unused_fields
from exactk._runtime.errors import Amending, ExactkError, each_warning_once, input_error, type_error
from exactk._runtime.progress import Progress
from exactk._runtime.threads import resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exactk._engine.blocks import Block
    from exactk._engine.chunks import Part
    from exactk._engine.pairs import Pairing
    from exactk._engine.problem import Engine
    from exactk._engine.systems import Form, Systems
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._plan.conventions import Convention, ConventionLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Plan, Value


_UNCHANGED = nullcontext()


class Call(NamedTuple):
    """A call's arguments, classified, and converted but for its predictions and exclusions."""

    evaluation: Evaluation
    form: Form
    truth: ClassifiedValue
    truth_rows: Truth | Rows | None
    systems: Systems
    restrictions: dict[str, ClassifiedValue]
    base: ClassifiedValue

    def naming_truth(self) -> AbstractContextManager[None]:
        """Name the predictions in errors that name the truth, if there is none."""
        return _UNCHANGED if self.evaluation.has_truth else without_truth("predictions")

    def naming_system(self, name: str) -> AbstractContextManager[object]:
        """Say in errors of a block which system they are about, if there are several, and what else a matrix may be."""
        if name or not self.evaluation.has_truth:
            contexts = ExitStack()
            for context in (in_system(name), self.naming_truth(), explain_repeats(self.truth, self.systems[name])):
                contexts.enter_context(context)
            return contexts
        return explain_repeats(self.truth, self.systems[name])


def evaluate_with_engine(
    engine: Engine,
    form: Form,
    truth: object,
    predictions: object,
    metrics: MetricsLike,
    *,
    convention: ConventionLike,
    pairing: Pairing | None = None,
    **options: Any,  # noqa: ANN401 - those of `prepare_call`
) -> Part:
    """Return what the given engine finds; the other arguments are those of `exactk.evaluate`."""
    convention = as_convention(convention)
    try:
        values = plan(metrics, convention)
    except ExactkError as error:
        if any(are_metrics(one, convention) for one in (truth, predictions)):
            raise error.amended(hint=(f"the order is {form.block.removesuffix(')')}, metrics)",)) from None
        check_systems_before_metrics(form, classify(predictions, form.argument))
        raise
    if pairing is not None:
        pairing.check_margins(convention, values)
    warn_of_unused_fields(convention, values)
    classified = classify(predictions, form.argument)
    try:
        call = prepare_call(engine, form, truth, classified, values, convention, pairing=pairing, **options)
        if classified.container is BLOCKS:
            _check_no_truth(form, call.truth)
            with call.evaluation.progress.track(None):
                part = evaluate_blocks(call.evaluation, classified.value, form, call.restrictions)
            evaluated = Evaluated(part, convention)
        else:
            evaluated = evaluate_systems(call)
    except ExactkError as error:
        raise form.amended(with_complete_hint(error, convention, values), classified, values) from error.__cause__
    warn_of(evaluated)
    return evaluated.part


def prepare_call(
    engine: Engine,
    form: Form,
    truth: object,
    predictions: ClassifiedValue,
    values: Plan,
    convention: Convention,
    *,
    exclude: object,
    num_threads: object,
    candidates: object = None,
    weights: object = None,
    groups: object = None,
    per_user: object = False,
    progress: object = False,
    items: object = None,
    base_predictions: object = None,
    pairing: Pairing | None = None,
    user: str | Sequence[str] | None,
    item: str | None,
    score: str | None,
    rank: str | None,
    grade: str | None,
) -> Call:
    """Return the call; the keyword arguments are those of `exactk.evaluate`, of which not all functions take some."""
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank, "grade": grade}
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    check_collection_values(values, {"weights": weights, "groups": groups})
    threads = resolve_threads(num_threads)
    systems = {"": predictions} if predictions.container is BLOCKS else form.systems(predictions)
    base = classified_base(base_predictions, values)
    given = {"truth": truth, "exclude": exclude, "candidates": candidates}
    classified = {argument: classify(value, argument) for argument, value in given.items()}
    check_columns_are_read(
        columns,
        [*classified.items(), *(("predictions", one) for one in (*systems.values(), base))],
        items=items,
        weights=weights,
        groups=groups,
        **({} if pairing is None else pairing.clusters),
    )
    sources: Iterable[tuple[str, object]] = (("exclude", exclude), ("base_predictions", base_predictions))
    check_not_truth(truth, [*(("predictions", one.value) for one in systems.values()), *sources], columns)
    systems = open_systems(systems, columns)
    if base.value is not None:
        with naming_base():
            base = opened(base, "predictions", columns)
    restrictions = {argument: opened(one, argument, columns) for argument, one in classified.items()}
    shapes = all_shapes = shapes_of_systems(systems.values() if base.value is None else [*systems.values(), base])
    if base.value is not None:
        shapes = frozenset[tuple[int, ...]]().union(*map(shapes_of_scores, systems.values()))
    judged = grades_beside_scores(restrictions.pop("truth"), shapes)
    for name, system in systems.items():
        with in_system(name):
            check_ids(system, judged)
    encoding = Encoding(threads, outlives_call=False)
    truth_rows = None if truth is None else truth_input(judged, columns, encoding)
    for argument, restriction in restrictions.items() if all_shapes else ():
        check_matrix(restriction, argument, all_shapes)
    table = None if items is None else items_of_metrics(items, values, columns, threads)
    check_item_groups(values, table)
    user_weights = user_groups = None
    if weights is not None or groups is not None:
        from exactk._inputs.values_by_user import Groups, Weights

        user_weights = None if weights is None else Weights.from_argument(weights, columns, truth_rows)
        user_groups = None if groups is None else Groups.from_argument(groups, columns, truth_rows)
    comes_in_pieces = _comes_in_pieces(systems)
    evaluation = Evaluation(
        engine,
        values,
        convention,
        exclusions_of(restrictions["exclude"], columns, Encoding(threads)) if comes_in_pieces else None,
        as_candidate_items(restrictions["candidates"], columns),
        user_weights,
        user_groups,
        bool(per_user),
        pairing,
        threads,
        Progress(progress),
        columns,
        encoding,
        table,
        base=base_for_pieces(base, columns, Encoding(threads)) if comes_in_pieces else None,
        has_truth=truth is not None or predictions.container is BLOCKS,
    )
    return Call(evaluation, form, judged, truth_rows, systems, restrictions, base)


def _comes_in_pieces(systems: Systems) -> bool:
    """Return whether the predictions are read piece by piece; batches beside other systems are read as a whole."""
    (first, *others) = systems.values()
    return not others and (first.container is BLOCKS or first.container is BATCHES)


def _check_no_truth(form: Form, truth: ClassifiedValue) -> None:
    if truth.value is not None:
        expected = f"None with an iterator of {form.block} blocks"
        raise input_error("truth", expected, type(truth.value).__name__, hint=form.hint)


def evaluate_systems(call: Call, *, finds_odd_items: bool = True) -> Evaluated:
    """Evaluate each system of a call; unless its containers are the caller's own, items are not told of that look odd."""
    if _comes_in_pieces(call.systems):
        return _evaluate_in_batches(call)
    evaluation, chunk = call.evaluation, align_systems(call)
    if finds_odd_items:
        given = {"truth": call.truth, **call.restrictions}
        chunk = chunk._replace(describe_inputs=partial(describe_odd_items, given=given))
    with evaluation.progress.track(chunk.alignment.user_count * len(chunk.systems)):
        part = evaluation.evaluate_chunk(chunk)
    return Evaluated(
        part,
        evaluation.convention,
        {name: partial(_tie_range, evaluation, chunk, name) for name in chunk.systems},
        {
            name: lines_of_ranks(call.systems[name], evaluation.columns)
            for name, found in part.findings.systems.items()
            if found.readings.may_be_ranks
        },
    )


def _tie_range(evaluation: Evaluation, chunk: Chunk, name: str, value: Value) -> tuple[float, float]:
    """Return the lowest and the highest value over all orders of ties."""
    return evaluation.tie_range(chunk.inputs(name), value)


def align_systems(call: Call) -> Chunk:
    """Convert the predictions and the exclusions, and align them with the truth."""
    truth_rows = _checked_truth(call)
    with Amending(_naming_scores_of_truth, truth_rows):
        systems = call.evaluation.convert_systems(call.systems)
    if truth_rows is None:
        _check_alike(systems)
        truth_rows = truth_without_items(systems.values(), call.evaluation.encoding.users)
    base = call.evaluation.convert_base(call.base)
    classified = call.restrictions["exclude"]
    exclude = call.evaluation.convert_exclusions(classified)
    with call.naming_truth():
        alignment = Alignment(truth_rows, systems.values(), exclude, call.evaluation.encoding, base)
    # Converted lists are without users whom no other input has.
    given = classified.value if isinstance(classified.value, Lists) else exclude
    return Chunk(alignment, systems, given, truth_rows, find_in_truth(call), call.naming_system)


def _naming_scores_of_truth(error: ExactkError, truth: Truth | Rows | None) -> ExactkError:
    """Return an error about the predictions, with a hint if a truth with scores may be the predictions."""
    unused = () if truth is None else truth.columns.unused
    score = next((name for name in unused if usual_role(name) in {"score", "rank"}), None)
    if score is None:
        return error
    others = (*error.fault.hint, "; ") if error.fault.hint else ()
    return error.amended(hint=(*others, f"the truth, which comes first, has a column {score!r}"))


def _check_alike(systems: Mapping[str, Rows | Predictions]) -> None:
    """Raise unless the users of systems without a truth can be matched, by key or by row."""
    first = next(iter(systems.values()))
    for name, one in systems.items():
        with in_system(name):
            if (one.user_vocabulary is None) != (first.user_vocabulary is None):
                raise type_error("predictions", "systems that all have user keys, or none", "a system that differs")
            if one.user_vocabulary is None and count_users(one) != count_users(first):
                expected = f"{count_users(first)} rows, as in the first system"
                raise input_error("predictions", expected, str(count_users(one)))


def _checked_truth(call: Call) -> Truth | Rows | None:
    """Return the truth's rows; None if no metric reads them."""
    if call.truth_rows is None:
        check_truth_is_not_read(call.evaluation.values, f"an iterator of {call.form.block} blocks, and for ")
        return None
    call.evaluation.check_user_values(call.truth_rows)
    return call.truth_rows


def find_in_truth(call: Call) -> Findings:
    """Return what warnings about a call's truth need to know."""
    if call.truth_rows is None:
        return Findings()
    return call.evaluation.find_in_truth(call.truth_rows, call.truth, call.systems.values())


def _evaluate_in_batches(call: Call) -> Evaluated:
    from exactk._engine.batch_evaluation import evaluate_batches

    evaluation, truth_rows = call.evaluation, _checked_truth(call)
    if truth_rows is None:
        truth_rows = truth_input(classify({}, "truth"), evaluation.columns, evaluation.encoding)
    ((name, batches),) = call.systems.items()
    with evaluation.progress.track(None), in_system(name), call.naming_truth():
        part = evaluate_batches(evaluation._replace(pairing=None), truth_rows, name, batches.value)
    findings = find_in_truth(call)._replace(systems=part.findings.systems, train=part.findings.train, chunks=1)
    return Evaluated(part._replace(findings=findings), evaluation.convention)


@each_warning_once()
def evaluate_blocks(
    evaluation: Evaluation, blocks: Iterator[Any], form: Form, restrictions: Mapping[str, ClassifiedValue]
) -> Part:
    """Evaluate each system block by block; arguments for all users are sliced for each block."""
    from exactk._engine.blocks import check_row_arguments, chunk_of_block, empty_block, of_rows

    sums = PartSums(form.argument)
    without_users = empty_block(evaluation)
    for number, value in enumerate(chain(blocks, [without_users])):
        if value is without_users and number:
            break
        if value is without_users and form is not ONE_SYSTEM:
            raise input_error(form.argument, f"at least one block {form.block}", "an empty iterator")
        begin = sums.rows
        with in_context(f"block {number} of the iterator, whose first user is number {begin}"):
            evaluation = _with_truth_of(evaluation, value, is_first=not number)
            of_block = evaluation._replace(encoding=Encoding(evaluation.num_threads))
            with nullcontext() if evaluation.has_truth else without_truth("predictions"):
                block = _block_of_iterator(of_block, value, form, restrictions)
                of_block = of_rows(of_block, begin, begin + block.row_count)
                if value is without_users:  # it has no columns that could be candidates
                    of_block = of_block._replace(candidates=None)
                chunk = chunk_of_block(of_block, block, sums.systems)
                sums.add(of_block.evaluate_chunk(chunk, sums.findings))
    check_row_arguments(evaluation, sums.rows)
    return sums.part()


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
    from exactk._engine.blocks import convert_block

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
