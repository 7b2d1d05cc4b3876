"""The evaluation of a chunk of users: build the problem of each system, let an engine solve it, and report the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.chunks import Part
from exactk._engine.findings import NO_FINDINGS, Findings, ItemUse, SystemFindings, plus
from exactk._engine.inspection import (
    FEWEST_UNKEYED_ITEMS,
    NOTHING_FOUND,
    ItemsApart,
    UserFlags,
    coverage_of,
    find_in_system,
    first_predicted,
    is_any_predicted,
    may_skip_users,
    predicted_items,
)
from exactk._engine.outcomes import state_of_outcome, tallies_of_outcome, tie_range, user_table
from exactk._engine.problem import JudgedCells, KeyedTruth, Problem, ranked_problems, solve, with_ranking
from exactk._inputs.alignment import name_rows_and_keys
from exactk._inputs.base_predictions import base_of_inputs
from exactk._inputs.model.rows import count_users
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._inputs.restrictions import CandidateLists, merge_restrictions, restrict_lists
from exactk._plan.values import as_plan
from exactk._report.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from exactk._engine.chunks import Chunk
    from exactk._engine.pairs import ChunkPairs
    from exactk._engine.request import Request
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.item_table import CanonicalItems, Histories, UserHistories
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.truth import Truth
    from exactk._inputs.values_by_user import RowValues
    from exactk._plan.values import TallyPlan, Value
    from exactk._report.counts import Counts
    from exactk._report.state_shape import Catalogue


def evaluate_system(request: Request, inputs: AlignedInputs, truth_digest: int | None = None) -> tuple[Report, ItemUse]:
    """Evaluate a system for all users, and see whom train has. The digest of the truth is computed unless it is given."""
    codes, labels = None, None
    if request.groups is not None:
        codes, labels = request.groups.encode_by_row(inputs)
        if request.values.of_collections:
            from exactk._report.tallies import check_group_count

            check_group_count(labels)
    restricted = _restrict_lists(request, inputs)
    problem = _problem(
        request,
        restricted.inputs,
        request.values.distinct_parts,
        groups=codes,
        group_count=1 if labels is None else max(1, len(labels)),
        per_user=request.per_user,
        report_progress=request.progress.report_finished,
        item_tallies=request.values.item_tallies,
        group_tallies=request.values.group_tallies,
    )
    if request.block is None and inputs.row_users is None:  # of a piece, the other users may well be those
        for of_users, by_row in ((request.weights, problem.weights), (request.groups, problem.groups)):
            if of_users is not None and by_row is not None:
                of_users.check_users(by_row, inputs)
    with name_rows_and_keys(inputs, problem.items), restricted.original_positions("predictions"):
        if as_plan(problem.values).has_customs:
            from exactk._engine.custom_values import given_by_functions

            problem = problem._replace(given=given_by_functions(request.engine, problem, inputs))
        outcome = solve(request.engine, problem)
    request.progress.add_finished(len(inputs.truth))
    item_use = ItemUse() if problem.items is None else _item_use(request, problem, restricted.inputs, outcome.counts)
    order = None if request.groups is None else request.groups.order
    if truth_digest is None:
        keyed = KeyedTruth(inputs.truth, inputs.users, inputs.item_vocabulary, inputs.item_ids)
        truth_digest = request.engine.truth_digest(keyed, request.num_threads)
    if not request.has_truth:
        outcome = outcome._replace(counts=outcome.counts._replace(empty_truth=0))
    state = state_of_outcome(problem, outcome, request.values, labels, order, truth_digest, _catalogue(request))
    if request.items is not None and (problem.item_tallies or problem.group_tallies):
        whole, *of_groups = tallies_of_outcome(problem, outcome, request.items, restricted.inputs)
        by_group = dict(zip(labels or (), of_groups, strict=False))  # without labels there may be one, of nobody
        state = state._replace(item_tallies=whole.items, group_tallies=whole.groups, tallies_by_group=by_group)
    return Report(state, inputs.users, user_table(problem, outcome, request.values, labels)), item_use


def _catalogue(request: Request) -> Catalogue | None:
    if request.items is None:
        return None
    from exactk._report.state_shape import Catalogue

    return Catalogue(request.items.digest_of(request.histories), len(request.items), request.items.source)


def judged_users(request: Request, inputs: AlignedInputs) -> Callable[[range], JudgedCells]:
    """Return a function that judges the lists of some users, by the only value."""
    restricted = _restrict_lists(request, inputs)
    problem = with_ranking(_problem(request, restricted.inputs, request.values))

    def judge(users: range) -> JudgedCells:
        with name_rows_and_keys(inputs, problem.items), restricted.original_positions("predictions"):
            return request.engine.judge_lists(problem, users)

    return judge


def problems_of_values(request: Request, inputs: AlignedInputs, values: tuple[Value, ...]) -> Iterator[Problem]:
    """Yield for each value the problem with the predictions as they are ranked for it, the same one where values rank alike."""
    return ranked_problems(_problem(request, _restrict_lists(request, inputs).inputs, values))


def _restrict_lists(request: Request, inputs: AlignedInputs) -> CandidateLists:
    if request.candidates is None:
        return CandidateLists(inputs)
    with name_rows_and_keys(inputs):
        return restrict_lists(inputs, request.candidates)


def evaluate_chunk(request: Request, chunk: Chunk, earlier: Findings = NO_FINDINGS) -> Part:
    """Evaluate all systems of a chunk, and find what warnings need, but what earlier chunks have shown."""
    systems, reports, found = chunk.systems, dict[str, Report](), dict[str, SystemFindings]()
    flags, train, truth_digest = dict[str, UserFlags](), ItemUse(), chunk.truth_digest
    pairs, is_comparison = _pairs_of(request, chunk), len(systems) > 1
    needs_users = is_comparison and (may_skip_users(request.values) or (pairs is not None and pairs.needs_users))
    of_users = request._replace(per_user=True) if needs_users else request
    for name in systems if pairs is None else pairs.order:
        with chunk.naming_system(name):
            inputs = chunk.inputs(name)
            report, use = evaluate_system(of_users, inputs, truth_digest)
            if is_comparison:
                truth_digest, flags[name] = report.state.truth_digest, UserFlags.of(inputs, report)
            if pairs is not None:
                pairs.add(name, report, request.num_threads)
            if needs_users and not request.per_user:
                report = report._without_users()
            reports[name], train = report, plus(train, use)
            found[name] = _find_in_system(request, chunk, inputs, report, earlier.systems.get(name, NOTHING_FOUND))
    findings = chunk.of_truth._replace(
        systems={name: found[name] for name in systems}, coverage=coverage_of(flags), train=train, chunks=1
    )
    return Part(
        {name: reports[name] for name in systems},
        findings,
        0 if chunk.truth is None else count_users(chunk.truth),
        None if pairs is None else pairs.paired(),
        {} if chunk.truth is None else _items_apart(findings, chunk.truth, systems),
    )


def _pairs_of(request: Request, chunk: Chunk) -> ChunkPairs | None:
    """Return the pairs of the systems, to be added; check that the values of the users fit into memory."""
    if request.pairing is None:
        return None
    from exactk._engine.pairs import ChunkPairs, check_table_memory

    systems = list(chunk.systems)
    pairs = ChunkPairs(request.pairing, systems)
    check_table_memory(
        request.values,
        request.pairing.options,
        systems,
        chunk.alignment.user_count,
        per_user=request.per_user,
        has_groups=request.groups is not None,
        has_clusters=request.pairing.cluster_codes is not None,
    )
    return pairs


def _find_in_system(
    request: Request, chunk: Chunk, inputs: AlignedInputs, report: Report, earlier: SystemFindings
) -> SystemFindings:
    found = find_in_system(inputs, report, chunk.exclude, request.candidates, earlier)
    if chunk.describe_inputs is not None:
        found = found._replace(odd_items=chunk.describe_inputs(inputs))
    if chunk.shares_item is None or found.shares_item or not found.list_items:
        return found
    return found._replace(shares_item=chunk.shares_item())


def range_over_ties(request: Request, inputs: AlignedInputs, value: Value) -> tuple[float, float]:
    """Return the lowest and the highest value over all orders of ties."""
    return tie_range(request.engine, _problem(request, _restrict_lists(request, inputs).inputs, ()), value)


def _problem(
    request: Request,
    inputs: AlignedInputs,
    values: tuple[Value, ...],
    *,
    groups: RowValues | None = None,
    group_count: int = 1,
    per_user: bool = False,
    report_progress: Callable[[int], object] | None = None,
    item_tallies: tuple[TallyPlan, ...] = (),
    group_tallies: tuple[Value, ...] = (),
) -> Problem:
    """Return the problem of all users."""
    candidates, exclude = merge_restrictions(inputs.predictions, request.candidates, inputs.exclude)
    return Problem(
        inputs.truth,
        inputs.predictions,
        candidates,
        exclude,
        None if request.weights is None else request.weights.by_row(inputs),
        groups,
        group_count,
        values,
        request.convention,
        per_user,
        request.num_threads,
        report_progress,
        None if request.items is None else _items_of_inputs(request.items, inputs),
        item_tallies,
        histories=None if request.histories is None else _histories_of(request, request.histories, inputs),
        group_tallies=group_tallies,
        base=base_of_inputs(inputs, request.candidates),
    )


def _histories_of(request: Request, histories: Histories, inputs: AlignedInputs) -> UserHistories:
    from exactk._inputs.values_by_user import histories_of_users

    return histories_of_users(histories, inputs, request.block, request.history_rows)


def _item_use(request: Request, problem: Problem, inputs: AlignedInputs, counts: Counts) -> ItemUse:
    """Return whether the users of these inputs are in train, and whether their lists have items of the catalogue."""
    use, items, histories = ItemUse(), problem.items, problem.histories
    if histories is not None:
        use = _use_of_train(histories, _rows_with_features(request))
        train = histories.histories.users
        if not (use.evaluated or train is None or (histories.rows >= 0).any()):
            use = use._replace(user_examples=(train.repr_of(0), inputs.user_text(0)))
    predicted = predicted_items(inputs.predictions)
    is_empty = not (predicted if isinstance(predicted, int) else len(predicted))
    if items is None or counts.foreign_recommended is None or is_empty:
        return use
    if not counts.foreign_recommended or is_any_predicted(items.ids, inputs.predictions):
        return use._replace(has_catalogue_item=True)
    fewest = FEWEST_UNKEYED_ITEMS if inputs.item_vocabulary is None else 1
    is_shown = counts.foreign_recommended >= fewest
    examples = items.keys.text(0), first_predicted(inputs)
    return use._replace(differs=True, examples=examples) if is_shown else use


def _rows_with_features(request: Request) -> NDArray[np.bool_] | None:
    """Return which rows of train have items with features; None if no value skips items without, or all have some."""
    readers = [value for value in request.values if value.needs.history and (value.needs.distances or value.needs.tags)]
    if request.items is None or request.items.features is None:
        return None
    if not any(value.rules["missing_features"] == "skip" for value in readers):
        return None
    return request.items.rows_with_features if request.items.features.lack_features.any() else None


def _items_apart(
    findings: Findings, truth: Truth | Rows, systems: Mapping[str, Rows | Predictions]
) -> dict[str, ItemsApart | None]:
    """Return the items of a chunk by system, for those who may share one with another chunk alone."""
    found = findings.systems
    return {name: None if found[name].shares_item else ItemsApart.of_chunk(truth, one) for name, one in systems.items()}


def _use_of_train(users: UserHistories, have_features: NDArray[np.bool_] | None) -> ItemUse:
    """Return how many users have items in train; the flags are of rows of train that count, None for those with items."""
    rows, indptr = users.rows[users.rows >= 0], users.histories.indptr
    counts = indptr[rows] < indptr[rows + 1] if have_features is None else have_features[rows]
    with_items = int(counts.sum())
    return ItemUse(with_items, len(users.rows) - with_items, have_features is not None)


def _items_of_inputs(items: CanonicalItems, inputs: AlignedInputs) -> CanonicalItems:
    """Return the items with the ids of a call's aligned inputs."""
    predictions = inputs.predictions
    are_columns = isinstance(predictions, (Scores, CanonicalEmbeddings))
    if isinstance(predictions, (Scores, CanonicalEmbeddings)):
        count = predictions.item_count
    else:
        count = len((predictions.lists if isinstance(predictions, SparseScores) else predictions).items)
    has_items = count > 0 or len(inputs.truth.items) > 0
    return items.of_call(inputs.item_vocabulary, inputs.item_ids, has_items=has_items, are_columns=are_columns)
