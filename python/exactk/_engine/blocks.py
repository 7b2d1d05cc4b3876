"""Blocks of users: each is converted, checked and aligned by itself, with its part of the arguments of all users."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from exactk._engine.chunks import Chunk, PartSums
from exactk._engine.evaluation import evaluate_chunk
from exactk._engine.findings import Findings
from exactk._engine.inspection import find_ratings
from exactk._engine.request import Given, convert_systems, find_in_truth
from exactk._engine.systems import ONE_SYSTEM, in_context, in_system
from exactk._inputs.alignment import Alignment
from exactk._inputs.base_predictions import base_of_block
from exactk._inputs.long_format import Encoding
from exactk._inputs.metric_inputs import check_truth_is_not_read
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import count_users
from exactk._inputs.readings import check_not_truth
from exactk._inputs.registry import classify
from exactk._runtime.errors import ExactkError, each_warning_once, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sized

    from exactk._engine.chunks import Part
    from exactk._engine.request import Request
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth


@each_warning_once()
def evaluate_blocks(request: Request, blocks: Iterator[Any]) -> Part:
    """Evaluate each system block by block; arguments for all users are sliced for each block."""
    form, sums = request.form, PartSums(request.form.argument)
    without_users = empty_block(request)
    for number, value in enumerate(chain(blocks, [without_users])):
        if value is without_users and number:
            break
        if value is without_users and form is not ONE_SYSTEM:
            raise input_error(form.argument, f"at least one block {form.block}", "an empty iterator")
        with in_context(f"block {number} of the iterator, whose first user is number {sums.rows}"):
            request = _with_truth_of(request, value, is_first=not number)
            of_block = request._replace(encoding=Encoding(request.num_threads))
            if value is without_users:  # it has no columns that could be candidates
                of_block = of_block._replace(candidates=None)
            with request.naming_truth():
                of_users, chunk = _chunk_of_iterator(of_block, value, sums)
                sums.add(evaluate_chunk(of_users, chunk, sums.findings))
    check_row_arguments(request, sums.rows)
    return sums.part()


def _with_truth_of(request: Request, value: object, *, is_first: bool) -> Request:
    """Return the request of a block, which may be `(None, predictions)`; all blocks have a truth, or none has."""
    has_truth = not (isinstance(value, tuple) and len(value) > 0 and value[0] is None)
    if not is_first and has_truth != request.has_truth:
        kinds = ("None", "the relevant items of users")
        raise type_error("truth", f"{kinds[request.has_truth]}, as in earlier blocks", kinds[has_truth])
    if not has_truth:
        check_truth_is_not_read(request.values)
    return request._replace(has_truth=has_truth)


def _chunk_of_iterator(request: Request, value: object, sums: PartSums) -> tuple[Request, Chunk]:
    """Return what an iterator yields as a chunk, with the request of its users."""
    form = request.form
    if not isinstance(value, tuple) or len(value) not in {2, 3}:
        found = type(value).__name__ + (f" of {len(value)}" if isinstance(value, tuple) else "")
        raise type_error(form.argument, f"an iterator of {form.blocks}", found, hint=form.hint)
    truth, predictions, exclude = value if value[2:] else (*value, None)
    classified = classify(predictions, form.argument)
    try:
        given = Given(form.systems(classified), classify(truth, "truth"), classify(exclude, "exclude"))
        others = [*(("predictions", one.value) for one in given.systems.values()), ("exclude", exclude)]
        check_not_truth(truth, others, request.columns)
        return chunk_of_block(request.reading(given), sums, of_rows)
    except ExactkError as error:
        raise form.amended(error, classified, request.values, truth="None") from error.__cause__


def chunk_of_block(
    request: Request, sums: PartSums, request_of: Callable[[Request, range], Request]
) -> tuple[Request, Chunk]:
    """Return the users of a block, aligned, with its own exclusions or their part of those of all blocks.

    `request_of` gives the request of users by their numbers, which it is returned with; `sums` are of earlier blocks.
    """
    truth, systems = convert_systems(request)
    exclude = request.convert_exclusions(request.given.exclude)
    _check_lengths(truth, systems, exclude)
    if exclude is not None and request.exclude is not None:
        expected = f"None with blocks of {request.form.block.removesuffix(')')}, exclude)"
        raise input_error("exclude", expected, "exclusions")
    users = range(sums.rows, sums.rows + count_users(truth))
    request = request_of(request, users)
    if sums.systems:
        _check_names(systems, sums.systems)
        of_truth = Findings(ratings=find_ratings(truth, request.values))
    else:
        of_truth = find_in_truth(request)
    of_any_users: Any = exclude if exclude is not None else request.exclude
    if isinstance(request.given.exclude.value, Lists):  # converted, they are without the users whom no other input has
        of_any_users = request.given.exclude.value
    if exclude is None:
        exclude = request.convert_exclusions(classify(request.exclude, "exclude"))
    base = base_of_block(request.base, users, request.encoding)
    alignment = Alignment(truth, systems.values(), exclude, request.encoding, base)
    in_order = {name: systems[name] for name in sums.systems or systems}
    describe_inputs = None if sums.systems else request.describe_odd_items
    return request, Chunk(alignment, in_order, of_any_users, truth, of_truth, request.naming_system, describe_inputs)


def _check_lengths(
    truth: Truth | Rows, systems: Mapping[str, Predictions | Rows], exclude: Exclusions | Rows | None
) -> None:
    """Raise InputError if rows without keys are not one per user of the truth."""
    if truth.user_vocabulary is not None:
        return
    users = count_users(truth)
    without_keys = {name: rows for name, rows in systems.items() if rows.user_vocabulary is None}
    for name, predictions in without_keys.items():
        with in_system(name):
            _check_length("predictions", count_users(predictions), users)
    if exclude is not None and without_keys:
        _check_length("exclude", count_users(exclude), users)


def _check_names(names: Iterable[str], first_names: Iterable[str]) -> None:
    """Raise InputError if a block has other systems than the first."""
    if set(names) != set(first_names):
        expected, found = (", ".join(map(repr, systems)) for systems in (first_names, names))
        raise input_error("systems", f"the systems of the first block, {expected}", found)


def empty_block(request: Request) -> tuple[Any, Any]:
    """Return a block without users, for none at all; its users are keyed if weights or groups are."""
    by_user = [values for values in (request.weights, request.groups) if values is not None]
    is_keyed = any(not values.is_by_row for values in by_user) or any(
        one is not None and one.user_vocabulary is not None for one in (request.exclude, request.base)
    )
    is_keyed = is_keyed or (request.histories is not None and request.histories.users is not None)
    return ({}, {}) if is_keyed else ([], [])


def check_row_arguments(request: Request, users: int) -> None:
    """Raise InputError if an argument does not have one row for each of so many users of all blocks."""
    for argument, values in _row_arguments(request):
        _check_length(argument, len(values), users)


def _row_arguments(request: Request) -> list[tuple[str, Sized]]:
    """Return the arguments that have a row for each user of all blocks."""
    exclude, candidates, weights, groups = request.exclude, request.candidates, request.weights, request.groups
    histories = request.histories
    arguments = (
        ("exclude", None if exclude is None or exclude.user_vocabulary is not None else exclude),
        ("candidates", candidates if candidates is not None and candidates.is_by_row else None),
        ("weights", weights if weights is None or weights.is_by_row else None),
        ("groups", groups if groups is None or groups.is_by_row else None),
        ("train", histories if histories is None or histories.users is None else None),
    )
    base = request.base
    base_by_row = () if base is None or base.user_vocabulary is not None else (("base_predictions", base),)
    return [(name, values) for name, values in (*arguments, *base_by_row) if values is not None]


def of_rows(request: Request, users: range) -> Request:
    """Return the request of some users, with their part of the arguments that have a row for each user."""
    begin, end = users.start, users.stop
    for name, values in _row_arguments(request):
        if len(values) < end:
            raise input_error(name, f"one entry per user (at least {end})", str(len(values)))
    exclude, candidates, weights, groups = request.exclude, request.candidates, request.weights, request.groups
    return request._replace(
        exclude=exclude if exclude is None or exclude.user_vocabulary is not None else exclude[begin:end],
        candidates=None if candidates is None else candidates[begin:end],
        weights=None if weights is None else weights[begin:end],
        groups=None if groups is None else groups[begin:end],
        block=users,
    )


def _check_length(argument: str, length: int, users: int) -> None:
    if length != users:
        raise input_error(argument, f"one entry per user ({users})", f"{length}")
