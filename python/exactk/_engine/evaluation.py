"""The evaluation of one system: build the problem, let an engine solve it, and report the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.base_predictions import base_of_inputs
from exactk._engine.chunks import Part
from exactk._engine.error_locations import name_rows_and_keys
from exactk._engine.findings import NO_FINDINGS, Findings, ItemUse, SystemFindings, plus
from exactk._engine.inspection import (
    FEWEST_UNKEYED_ITEMS,
    NOTHING_FOUND,
    ItemsApart,
    UserFlags,
    coverage_of,
    find_in_pairs,
    find_in_system,
    find_ratings,
    first_predicted,
    is_any_predicted,
    may_skip_users,
    predicted_items,
)
from exactk._engine.outcomes import state_of_outcome, tally_of_counts, tally_of_groups, tie_range, user_table
from exactk._engine.problem import Engine, JudgedCells, KeyedTruth, Problem, solve, with_ranking
from exactk._engine.systems import in_system
from exactk._inputs.alignment import in_shared_vocabularies
from exactk._inputs.base_messages import naming_base
from exactk._inputs.candidate_lists import CandidateLists, merge_restrictions, restrict_lists
from exactk._inputs.conversions import exclusions_input, predictions_input
from exactk._inputs.model.rows import TruthColumns, count_users
from exactk._inputs.model.scores import CanonicalEmbeddings, Scores, SparseScores
from exactk._plan.values import Plan, as_plan
from exactk._report.report import Report
from exactk._report.state import Catalogue
from exactk._runtime.errors import each_warning_once
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from exactk._engine.chunks import Chunk
    from exactk._engine.pairs import ChunkPairs, Pairing
    from exactk._engine.systems import Systems
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.long_format import Encoding
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.item_table import CanonicalItems, Histories, UserHistories
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.registry import ClassifiedValue
    from exactk._inputs.truth import Truth
    from exactk._inputs.values_by_user import Groups, RowValues, Weights
    from exactk._plan.conventions import Convention
    from exactk._plan.values import TallyPlan, Value
    from exactk._report.counts import Counts
    from exactk._runtime.progress import Progress


class Evaluation(NamedTuple):
    """One evaluation: the arguments that apply to all users, and the ways to evaluate them."""

    engine: Engine
    values: Plan
    convention: Convention
    num_threads: int
    progress: Progress
    columns: ColumnNames
    encoding: Encoding
    exclude: Exclusions | None = None  # of predictions in batches; for others, converted after the predictions
    candidates: CandidateItems | None = None
    weights: Weights | None = None
    groups: Groups | None = None
    per_user: bool = False
    pairing: Pairing | None = None  # of several systems
    items: CanonicalItems | None = None  # None if no metric reads them
    base: Predictions | None = None  # of predictions that come in pieces; for others, converted after the predictions
    has_truth: bool = True  # if not, no metric reads it, and all users have an empty one
    history_rows: NDArray[np.int64] | None = None  # of train, by code of users who come in batches
    block: range | None = None  # the positions of a block of users among all of them

    def convert_systems(self, systems: Systems) -> dict[str, Rows | Predictions]:
        """Return each system's predictions, encoded as the truth is."""
        converted = {}
        with each_warning_once():
            for name, classified in systems.items():
                with in_system(name):
                    converted[name] = predictions_input(classified, self.columns, self.encoding)
        return converted

    def convert_exclusions(self, classified: ClassifiedValue) -> Exclusions | Rows | None:
        """Return the exclusions, encoded as the truth is. Convert predictions before: users follow in that order."""
        return exclusions_input(classified, self.columns, self.encoding)

    def convert_base(self, classified: ClassifiedValue) -> Rows | Predictions | None:
        """Return the base predictions, encoded as the truth is. Convert them after all others: only their users count."""
        if classified.value is None:
            return None
        with naming_base():
            return predictions_input(classified, self.columns, self.encoding)

    def exclusions_in_shared_vocabularies(self) -> Rows | None:
        """Return the exclusions of predictions that come in pieces as rows, encoded as the truth is."""
        return None if self.exclude is None else in_shared_vocabularies(self.exclude.rows(), "exclude", self.encoding)

    def encode_user_keys(self, users: Vocabulary) -> Evaluation:
        """Add the keys of weights, groups and train to a vocabulary of users, whose codes find the values from then on."""
        from exactk._inputs.user_histories import rows_by_code

        return self._replace(
            weights=None if self.weights is None else self.weights.encode_keys(users),
            groups=None if self.groups is None else self.groups.encode_keys(users),
            history_rows=None if self.histories is None else rows_by_code(self.histories, users),
        )

    @property
    def histories(self) -> Histories | None:
        """What users have in train; None if unknown, or if no metric reads it."""
        if self.items is None or not self.values.reads_history:
            return None
        return self.items.histories

    def evaluate_all(self, inputs: AlignedInputs, truth_digest: int | None = None) -> tuple[Report, ItemUse]:
        """Evaluate all users at once, and see whom train has. The digest of the truth is computed unless it is given."""
        codes, labels = None, None
        if self.groups is not None:
            codes, labels = self.groups.encode_by_row(inputs)
        restricted = self._restrict_lists(inputs)
        problem = self._problem(
            restricted.inputs,
            self.values.distinct_parts,
            groups=codes,
            group_count=1 if labels is None else max(1, len(labels)),
            per_user=self.per_user,
            report_progress=self.progress.report_finished,
            item_tallies=self.values.item_tallies,
            group_tallies=self.values.group_tallies,
        )
        if self.block is None and inputs.row_users is None:  # of a piece, the other users may well be those
            for of_users, by_row in ((self.weights, problem.weights), (self.groups, problem.groups)):
                if of_users is not None and by_row is not None:
                    of_users.check_users(by_row, inputs)
        with name_rows_and_keys(inputs, problem.items), restricted.original_positions("predictions"):
            if as_plan(problem.values).has_customs:
                from exactk._engine.custom_values import given_by_functions

                problem = problem._replace(given=given_by_functions(self.engine, problem, inputs))
            outcome = solve(self.engine, problem)
        self.progress.add_finished(len(inputs.truth))
        item_use = ItemUse() if problem.items is None else self._item_use(problem, restricted.inputs, outcome.counts)
        order = None if self.groups is None else self.groups.order
        if truth_digest is None:
            keyed = KeyedTruth(inputs.truth, inputs.users, inputs.item_vocabulary, inputs.item_ids)
            truth_digest = self.engine.truth_digest(keyed, self.num_threads)
        if not self.has_truth:
            outcome = outcome._replace(counts=outcome.counts._replace(empty_truth=0))
        state = state_of_outcome(problem, outcome, self.values, labels, order, truth_digest, self._catalogue())
        if self.items is not None and (problem.item_tallies or problem.group_tallies):
            tallies = zip(problem.item_tallies, outcome.item_counts, strict=True)
            state = state.replaced(
                item_tallies=tuple(tally_of_counts(*tally, self.items, restricted.inputs) for tally in tallies),
                group_tallies=tuple(tally_of_groups(counts, self.items) for counts in outcome.group_counts),
            )
        return Report(state, inputs.users, user_table(problem, outcome, self.values, labels)), item_use

    def _catalogue(self) -> Catalogue | None:
        if self.items is None:
            return None
        return Catalogue(self.items.digest_of(self.histories), len(self.items), self.items.source)

    def judged_users(self, inputs: AlignedInputs) -> Callable[[range], JudgedCells]:
        """Return a function that judges the lists of some users, by the only value."""
        restricted = self._restrict_lists(inputs)
        problem = with_ranking(self._problem(restricted.inputs, self.values))

        def judge(users: range) -> JudgedCells:
            with name_rows_and_keys(inputs, problem.items), restricted.original_positions("predictions"):
                return self.engine.judge_lists(problem, users)

        return judge

    def _restrict_lists(self, inputs: AlignedInputs) -> CandidateLists:
        if self.candidates is None:
            return CandidateLists(inputs)
        with name_rows_and_keys(inputs):
            return restrict_lists(inputs, self.candidates)

    def evaluate_chunk(self, chunk: Chunk, earlier: Findings = NO_FINDINGS) -> Part:
        """Evaluate all systems of a chunk, and find what warnings need, but what earlier chunks have shown."""
        systems, reports, found = chunk.systems, dict[str, Report](), dict[str, SystemFindings]()
        flags, train, truth_digest = dict[str, UserFlags](), ItemUse(), chunk.truth_digest
        pairs, is_comparison = self._pairs_of(chunk), len(systems) > 1
        needs_users = is_comparison and (may_skip_users(self.values) or (pairs is not None and pairs.needs_users))
        evaluation = self._replace(per_user=True) if needs_users else self
        for name in systems if pairs is None else pairs.order:
            with chunk.naming_system(name):
                inputs = chunk.inputs(name)
                report, use = evaluation.evaluate_all(inputs, truth_digest)
                if is_comparison:
                    truth_digest, flags[name] = report.state.truth_digest, UserFlags.of(inputs, report)
                if pairs is not None:
                    pairs.add(name, report, self.num_threads)
                if needs_users and not self.per_user:
                    report = report._without_users()
                reports[name], train = report, plus(train, use)
                found[name] = self._find_in_system(chunk, inputs, report, earlier.systems.get(name, NOTHING_FOUND))
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

    def _pairs_of(self, chunk: Chunk) -> ChunkPairs | None:
        """Return the pairs of the systems, to be added; check that the values of the users fit into memory."""
        if self.pairing is None:
            return None
        from exactk._engine.paired_problem import check_table_memory
        from exactk._engine.pairs import ChunkPairs

        systems = list(chunk.systems)
        pairs = ChunkPairs(self.pairing, systems)
        check_table_memory(
            self.values,
            self.pairing.options,
            systems,
            chunk.alignment.user_count,
            per_user=self.per_user,
            has_groups=self.groups is not None,
            has_clusters=self.pairing.cluster_codes is not None,
        )
        return pairs

    def _find_in_system(
        self, chunk: Chunk, inputs: AlignedInputs, report: Report, earlier: SystemFindings
    ) -> SystemFindings:
        found = find_in_system(inputs, report, chunk.exclude, self.candidates, earlier)
        if chunk.describe_inputs is not None:
            found = found._replace(odd_items=chunk.describe_inputs(inputs))
        if chunk.shares_item is None or found.shares_item or not found.list_items:
            return found
        return found._replace(shares_item=chunk.shares_item())

    def tie_range(self, inputs: AlignedInputs, value: Value) -> tuple[float, float]:
        """Return the lowest and the highest value over all orders of ties."""
        return tie_range(self.engine, self._problem(self._restrict_lists(inputs).inputs, ()), value)

    def _problem(
        self,
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
        candidates, exclude = merge_restrictions(inputs.predictions, self.candidates, inputs.exclude)
        return Problem(
            inputs.truth,
            inputs.predictions,
            candidates,
            exclude,
            None if self.weights is None else self.weights.by_row(inputs),
            groups,
            group_count,
            values,
            self.convention,
            per_user,
            self.num_threads,
            report_progress,
            None if self.items is None else _items_of_inputs(self.items, inputs),
            item_tallies,
            histories=None if self.histories is None else self._histories_of(self.histories, inputs),
            group_tallies=group_tallies,
            base=base_of_inputs(inputs, self.candidates),
        )

    def _histories_of(self, histories: Histories, inputs: AlignedInputs) -> UserHistories:
        from exactk._inputs.user_histories import histories_of_users

        return histories_of_users(histories, inputs, self.block, self.history_rows)

    def _item_use(self, problem: Problem, inputs: AlignedInputs, counts: Counts) -> ItemUse:
        """Return whether the users of these inputs are in train, and whether their lists have items of the catalogue."""
        use, items, histories = ItemUse(), problem.items, problem.histories
        if histories is not None:
            use = _use_of_train(histories, self._rows_with_features())
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
        return use._replace(examples=(items.keys.text(0), first_predicted(inputs))) if is_shown else use

    def _rows_with_features(self) -> NDArray[np.bool_] | None:
        """Return which rows of train have items with features; None if no value skips items without, or all have some."""
        readers = [
            value for value in self.values if value.needs.history and (value.needs.distances or value.needs.tags)
        ]
        if self.items is None or self.items.features is None:
            return None
        if not any(value.rules["missing_features"] == "skip" for value in readers):
            return None
        return self.items.rows_with_features if self.items.features.lack_features.any() else None

    def find_in_truth(
        self, truth: Truth | Rows, classified: ClassifiedValue, systems: Iterable[ClassifiedValue]
    ) -> Findings:
        """Return what warnings about the truth of the first users need to know."""
        pairs = find_in_pairs(classified, systems)
        return Findings(ratings=find_ratings(truth, self.values), columns=self.unused_columns(truth), pairs=pairs)

    def unused_columns(self, truth: Truth | Rows) -> TruthColumns:
        """Return the columns of the truth, if it has others that could be grades or say what happened."""
        of_users = {values.column for values in (self.weights, self.groups) if values is not None}
        numbers = tuple(name for name in truth.columns.unused if name not in of_users)
        events = tuple(event for event in truth.columns.events if event[0] not in of_users)
        return truth.columns._replace(unused=numbers, events=events) if numbers or events else TruthColumns()

    def check_user_values(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed, but weights or groups are not."""
        for user_values in (self.weights, self.groups):
            if user_values is not None:
                user_values.check_keys(truth)


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
