"""What was asked: the arguments of a call, classified and checked, and the one chunk that all of its users are."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from exactk._engine.chunks import Chunk
from exactk._engine.findings import Findings
from exactk._engine.inspection import describe_odd_items, find_in_pairs, find_ratings
from exactk._engine.systems import ONE_SYSTEM, in_system, open_systems
from exactk._inputs.alignment import (
    Alignment,
    explain_repeats,
    in_shared_vocabularies,
    naming_base,
    truth_without_items,
    without_truth,
)
from exactk._inputs.base_predictions import base_for_pieces, classified_base
from exactk._inputs.conversions import exclusions_input, exclusions_of, predictions_input, truth_input
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.long_format import Encoding
from exactk._inputs.metric_inputs import (
    check_collection_values,
    check_item_groups,
    check_truth_is_not_read,
    items_of_metrics,
    with_item_groups,
)
from exactk._inputs.model.lists import Lists
from exactk._inputs.model.rows import TruthColumns, count_users
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.readings import (
    check_ids,
    check_matrix,
    check_not_truth,
    check_of_all_users,
    grades_beside_scores,
    shapes_of_scores,
    shapes_of_systems,
)
from exactk._inputs.registry import (
    BATCHES,
    BLOCKS,
    ClassifiedValue,
    as_candidate_items,
    check_columns_are_read,
    classify,
    opened,
)
from exactk._inputs.truth import Truth
from exactk._runtime.errors import Amending, ExactkError, each_warning_once, input_error, type_error
from exactk._runtime.progress import Progress
from exactk._runtime.records import NamedTuple
from exactk._runtime.threads import resolve_threads
from exactk._runtime.unit_names import note_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from exactk._engine.pairs import Pairing
    from exactk._engine.problem import Engine
    from exactk._engine.systems import Form, Systems
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.keys.vocabulary import Vocabulary
    from exactk._inputs.model.item_table import CanonicalItems, Histories
    from exactk._inputs.model.lists import CandidateItems, Exclusions
    from exactk._inputs.model.rows import Rows
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.parents import ChunkParents
    from exactk._inputs.values_by_user import Groups, Weights
    from exactk._plan.conventions import Convention
    from exactk._plan.values import Plan


_UNCHANGED = nullcontext()
_NOTHING = ClassifiedValue(None, None)


class Given(NamedTuple):
    """The containers of a call, a block or an update, classified; files are read when a request reads these."""

    systems: Systems = MappingProxyType({})
    truth: ClassifiedValue = _NOTHING
    exclude: ClassifiedValue = _NOTHING
    candidates: ClassifiedValue = _NOTHING
    base: ClassifiedValue = _NOTHING


class Request(NamedTuple):
    """What was asked: the arguments of a call, classified once; all but predictions and exclusions are converted."""

    engine: Engine
    values: Plan
    convention: Convention
    num_threads: int
    progress: Progress
    columns: ColumnNames
    encoding: Encoding
    form: Form = ONE_SYSTEM
    given: Given = Given()
    truth_rows: Truth | Rows | None = None
    has_truth: bool = True  # if not, no metric reads it, and all users have an empty one
    per_user: bool = False
    pairing: Pairing | None = None  # of several systems
    items: CanonicalItems | None = None  # None if no metric reads them
    candidates: CandidateItems | None = None
    weights: Weights | None = None
    groups: Groups | None = None
    exclude: Exclusions | None = (
        None  # of all users, where predictions come in pieces; else they follow the predictions
    )
    base: Predictions | None = None  # likewise
    history_rows: NDArray[np.int64] | None = None  # of train, by code of users who come in batches
    block: range | None = None  # the positions of a block of users among all of them
    parents: ChunkParents | None = None  # of chunks, which documents replace

    def reading(self, given: Given) -> Request:
        """Return the request of these containers, with their files read, and the rows of the truth, which are encoded first.

        Those of all users, of which a block has its part, are checked beside the block's scores.
        """
        columns, base = self.columns, given.base
        systems = open_systems(given.systems, columns)
        if base.value is not None:
            with naming_base():
                base = opened(base, "predictions", columns)
        truth = opened(given.truth, "truth", columns)
        restrictions = {
            argument: opened(one, argument, columns)
            for argument, one in (("exclude", given.exclude), ("candidates", given.candidates))
        }
        for one in (truth, *systems.values(), base):
            _note_units(one.value)
        if self.parents is not None:
            systems, truth, restrictions, base = self._with_documents(systems, truth, restrictions, base)
        shapes = all_shapes = shapes_of_systems(systems.values() if base.value is None else [*systems.values(), base])
        if base.value is not None:
            shapes = frozenset[tuple[int, ...]]().union(*map(shapes_of_scores, systems.values()))
        check_of_all_users(shapes, {"exclude": self.given.exclude, "candidates": self.given.candidates})
        truth = grades_beside_scores(truth, shapes)
        for name, system in systems.items():
            with in_system(name):
                check_ids(system, truth)
        rows = None if truth.value is None else truth_input(truth, columns, self.encoding)
        for argument, restriction in restrictions.items():
            check_matrix(restriction, argument, all_shapes)
        return self._replace(given=Given(systems, truth, **restrictions, base=base), truth_rows=rows)

    def _with_documents(
        self,
        systems: Systems,
        truth: ClassifiedValue,
        restrictions: Mapping[str, ClassifiedValue],
        base: ClassifiedValue,
    ) -> tuple[Systems, ClassifiedValue, dict[str, ClassifiedValue], ClassifiedValue]:
        """Return the containers with documents in place of chunks."""
        parents, columns, lists = self.parents, self.columns, {}
        assert parents is not None  # noqa: S101 - of the caller
        for name, system in systems.items():
            with in_system(name):
                lists[name] = parents.of_predictions(system, columns)
        with naming_base():
            base = parents.of_predictions(base, columns)
        truth = parents.of_truth(truth, columns)
        parents.check_has_chunks()
        return (
            lists,
            truth,
            {name: parents.of_restriction(name, one, columns) for name, one in restrictions.items()},
            base,
        )

    def convert_exclusions(self, classified: ClassifiedValue) -> Exclusions | Rows | None:
        """Return the exclusions, encoded as the truth is. Convert predictions before: users follow in that order."""
        return exclusions_input(classified, self.columns, self.encoding)

    def exclusions_in_shared_vocabularies(self) -> Rows | None:
        """Return the exclusions of predictions that come in pieces as rows, encoded as the truth is."""
        return None if self.exclude is None else in_shared_vocabularies(self.exclude.rows(), "exclude", self.encoding)

    def encode_user_keys(self, users: Vocabulary) -> Request:
        """Add the keys of weights, groups and train to a vocabulary of users, whose codes find the values from then on."""
        from exactk._inputs.values_by_user import rows_by_code

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

    def unused_columns(self, truth: Truth | Rows) -> TruthColumns:
        """Return the columns of the truth, if it has others that could be grades or say what happened."""
        of_users = {values.column for values in (self.weights, self.groups) if values is not None}
        numbers = tuple(name for name in truth.columns.unused if name not in of_users)
        events = tuple(event for event in truth.columns.events if event[0] not in of_users)
        return truth.columns._replace(unused=numbers, events=events) if numbers or events else TruthColumns()

    def describe_odd_items(self, inputs: AlignedInputs) -> str:
        """Return a warning if items, as they are given, are texts of several or of none."""
        return describe_odd_items(inputs, {"truth": self.given.truth, "exclude": self.given.exclude})

    def check_user_values(self, truth: Truth | Rows) -> None:
        """Raise InputTypeError if users are keyed, but weights or groups are not."""
        for user_values in (self.weights, self.groups):
            if user_values is not None:
                user_values.check_keys(truth)

    def naming_truth(self) -> AbstractContextManager[None]:
        """Name the predictions in errors that name the truth, if there is none."""
        return _UNCHANGED if self.has_truth else without_truth("predictions")

    def naming_system(self, name: str) -> AbstractContextManager[object]:
        """Say in errors of a block which system they are about, if there are several, and what else a matrix may be."""
        if name or not self.has_truth:
            contexts = ExitStack()
            for context in (
                in_system(name),
                self.naming_truth(),
                explain_repeats(self.given.truth, self.given.systems[name]),
            ):
                contexts.enter_context(context)
            return contexts
        return explain_repeats(self.given.truth, self.given.systems[name])


def _note_units(value: object) -> None:
    """Take the names of the columns that lists were made from."""
    if not isinstance(value, (Lists, SparseScores)):
        return
    for name in value.columns.used if isinstance(value, Truth) else ():
        note_column(name, usual_role(name))
    labels = () if value.user_vocabulary is None else value.user_vocabulary.vocabulary.labels
    for name in labels:
        note_column(name, usual_role(name) if name != "user" else None)  # of mappings, too


def request_of_arguments(
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
    parents: object = None,
    pairing: Pairing | None = None,
    user: str | Sequence[str] | None,
    item: str | None,
    score: str | None,
    rank: str | None,
    grade: str | None,
) -> Request:
    """Return what is asked; the keyword arguments are those of `exactk.evaluate`, of which not all functions take some."""
    columns: ColumnNames = {"user": user, "item": item, "score": score, "rank": rank, "grade": grade}
    if not isinstance(per_user, (bool, np.bool_)):
        raise type_error("per_user", "True or False", repr(per_user))
    check_collection_values(values, weights)
    threads = resolve_threads(num_threads)
    given = Given(
        {"": predictions} if predictions.container is BLOCKS else form.systems(predictions),
        base=classified_base(base_predictions, values),
        **{
            name: classify(one, name)
            for name, one in {"truth": truth, "exclude": exclude, "candidates": candidates}.items()
        },
    )
    systems, base = given.systems.values(), given.base
    check_columns_are_read(
        columns,
        [
            *((name, getattr(given, name)) for name in ("truth", "exclude", "candidates")),
            *(("predictions", one) for one in (*systems, base)),
        ],
        items=items,
        weights=weights,
        groups=groups,
        **({} if pairing is None else pairing.clusters),
    )
    others = [
        *(("predictions", one.value) for one in systems),
        ("exclude", exclude),
        ("base_predictions", base_predictions),
    ]
    check_not_truth(truth, others, columns)
    request = Request(
        engine,
        values,
        convention,
        threads,
        Progress(progress),
        columns,
        Encoding(threads, outlives_call=False),
        form,
        has_truth=truth is not None or predictions.container is BLOCKS,
        per_user=bool(per_user),
        pairing=pairing,
        parents=None if parents is None else parents_of_chunks(parents, values, threads),
    ).reading(given)
    given, truth_rows = request.given, request.truth_rows
    table = None if items is None else items_of_metrics(items, values, columns, threads)
    check_item_groups(values, table)
    values = with_item_groups(values, table)
    user_weights = user_groups = None
    if weights is not None or groups is not None:
        from exactk._inputs.values_by_user import Groups, Weights

        user_weights = None if weights is None else Weights.from_argument(weights, columns, truth_rows)
        user_groups = None if groups is None else Groups.from_argument(groups, columns, truth_rows)
    request = request._replace(values=values, items=table, weights=user_weights, groups=user_groups)
    exclusions, bases = None, None
    if comes_in_pieces(given.systems):
        exclusions = exclusions_of(given.exclude, columns, Encoding(threads))
    candidate_items = as_candidate_items(given.candidates, columns)
    if comes_in_pieces(given.systems):
        bases = base_for_pieces(given.base, columns, Encoding(threads))
    return request._replace(exclude=exclusions, candidates=candidate_items, base=bases)


def parents_of_chunks(parents: object, values: Plan, threads: int) -> ChunkParents:
    """Return the documents of chunks."""
    from exactk._inputs.parents import ChunkParents

    return ChunkParents(parents, values, threads)


def comes_in_pieces(systems: Systems) -> bool:
    """Return whether the predictions are read piece by piece; batches beside other systems are read as a whole."""
    (first, *others) = systems.values()
    return not others and (first.container is BLOCKS or first.container is BATCHES)


def align_systems(request: Request) -> Chunk:
    """Convert the predictions and the exclusions, and align them with the truth."""
    truth, systems = convert_systems(request)
    given, base = request.given, None
    if given.base.value is not None:
        with naming_base():
            base = predictions_input(given.base, request.columns, request.encoding)
    exclude = request.convert_exclusions(given.exclude)
    with request.naming_truth():
        alignment = Alignment(truth, systems.values(), exclude, request.encoding, base)
    # Converted lists are without users whom no other input has.
    of_any_users = given.exclude.value if isinstance(given.exclude.value, Lists) else exclude
    return Chunk(alignment, systems, of_any_users, truth, find_in_truth(request), request.naming_system)


def convert_systems(request: Request) -> tuple[Truth | Rows, dict[str, Rows | Predictions]]:
    """Return the truth and the predictions, encoded alike; where no metric reads the truth, one without items."""
    truth = checked_truth(request)
    systems: dict[str, Rows | Predictions] = {}
    with Amending(_naming_scores_of_truth, truth), each_warning_once():
        for name, classified in request.given.systems.items():
            with in_system(name):
                systems[name] = predictions_input(classified, request.columns, request.encoding)
    if truth is None:
        _check_alike(systems)
        truth = truth_without_items(systems.values(), request.encoding.users)
    return truth, systems


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


def checked_truth(request: Request) -> Truth | Rows | None:
    """Return the truth's rows; None if no metric reads them."""
    if request.truth_rows is None:
        check_truth_is_not_read(request.values, f"an iterator of {request.form.block} blocks, and for ")
        return None
    request.check_user_values(request.truth_rows)
    return request.truth_rows


def find_in_truth(request: Request) -> Findings:
    """Return what warnings about the truth of a call, or of its first users, need to know."""
    truth = request.truth_rows
    if truth is None:
        return Findings()
    pairs = find_in_pairs(request.given.truth, request.given.systems.values())
    return Findings(ratings=find_ratings(truth, request.values), columns=request.unused_columns(truth), pairs=pairs)
