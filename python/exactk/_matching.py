"""The public function that finds the conventions under which published numbers are reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exactk._engine.chunks import Part
from exactk._engine.core import core_engine
from exactk._engine.evaluation import evaluate_system
from exactk._engine.findings import has_no_hit
from exactk._engine.inspection import find_in_keys
from exactk._engine.request import align_systems, request_of_arguments
from exactk._engine.systems import ONE_SYSTEM
from exactk._engine.warnings import Evaluated, describe_disjoint_keys, warn_of
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.registry import BLOCKS, classify
from exactk._options import ValueOptions
from exactk._plan.conventions import as_convention, conventions, description, with_complete_hint
from exactk._plan.metric_strings import canonical_name, plan, warn_of_unused_fields
from exactk._report.convention_matches import ConventionMatches, PublishedNumber
from exactk._report.system_warnings import warn_of_systems
from exactk._runtime.errors import ExactkError, InputError, InputTypeError, InUnits, input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from exactk._engine.problem import Engine
    from exactk._engine.request import Request
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._plan.conventions import Convention
    from exactk._report.report import Report


@takes_options(ValueOptions)
def matching_conventions(
    truth: TruthLike,
    predictions: PredictionsLike,
    published: Mapping[str, float | str],
    **options: Unpack[ValueOptions],
) -> ConventionMatches:
    """Find the presets under which published numbers are reached.

    The inputs are prepared once, and evaluated under every preset of ``exactk.conventions``.

    Parameters
    ----------
    truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        As in `exactk.evaluate`.
    predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The predictions of one system, as in `exactk.evaluate`.
    published : Mapping of str to float or str
        The published number of each metric string, such as ``{"map@10": 0.0345}``. Its digits say what it stands for:
        all numbers from 0.03445 to 0.03455. Text keeps the zeros at the end: ``"0.0340"``. A preset matches if each
        of its values rounds to the number.
    convention : mapping, optional
        Fields to change in every preset, such as ``{"nan": "last"}`` or ``{"min_grade": 4}``.

    Returns
    -------
    ConventionMatches
        A row per preset, with its values and how far they are from the numbers; it prints those that match or, if none
        does, the nearest ones, and why presets refuse the input.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, or every preset refuses the input.

    Examples
    --------
    >>> import exactk
    >>> truth, lists = [[1, 4], [11, 12, 13, 14, 15, 16]], [[1, 2, 3, 4, 5], [1, 11, 12, 2, 13]]
    >>> exactk.matching_conventions(truth, lists, {"map@5": 0.669, "ndcg@5": 0.7})
    map@5    ndcg@5  presets
    0.669    0.7     published
    0.66944  0.696   recmetrics, torchmetrics
    2 of 28 presets match
    >>> exactk.matching_conventions(truth, lists, {"map@5": "0.5500"}).names
    ()
    """
    numbers = _checked_numbers(published)
    given = with_defaults(options, matching_conventions, ValueOptions)
    changes = _checked_changes(given.pop("convention"))
    changed_presets = {preset: as_convention({**changes, "base": preset}) for preset in conventions}
    outcomes = reports_of_conventions(core_engine, truth, predictions, list(numbers), changed_presets, **given)
    return ConventionMatches(
        numbers,
        {
            name: str(outcome) if isinstance(outcome, Exception) else {metric: outcome[metric] for metric in numbers}
            for name, outcome in outcomes.items()
        },
        description(changed_presets["standard"]).partition(" with ")[2],
    )


def _checked_changes(convention: object) -> Mapping[str, object]:
    """Return the fields to change in every preset."""
    if isinstance(convention, str) and convention == "standard":
        return {}
    if not isinstance(convention, Mapping) or not {"base", "name", "overrides"}.isdisjoint(convention):
        expected = "a mapping of fields to change in every preset, such as {'nan': 'last'}"
        raise type_error("convention", expected, repr(convention)[:200])
    return convention


def _checked_numbers(published: object) -> dict[str, PublishedNumber]:
    if not isinstance(published, Mapping):
        expected = "a mapping from metric to number, such as {'map@10': 0.0345}"
        raise type_error("published", expected, type(published).__name__)
    if not published:
        raise input_error("published", "at least one metric", "none")
    for metric in published:
        if not isinstance(metric, str):
            raise type_error("published", "metric strings as keys", repr(metric))
        canonical_name(metric, conventions["standard"])  # which raises for several
    return {metric: PublishedNumber.from_argument(metric, number) for metric, number in published.items()}


def reports_of_conventions(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: Sequence[str],
    conventions: Mapping[str, Convention],
    *,
    unit_names: object,
    **options: Any,  # noqa: ANN401 - those of `request_of_arguments`
) -> Mapping[str, Report | ExactkError]:
    """Return the report of each convention, or its error if it refuses the input; if all do, raise the first error."""
    with InUnits(unit_names):
        return _reports_of_conventions(engine, truth, predictions, metrics, conventions, **options)


def _reports_of_conventions(
    engine: Engine,
    truth: object,
    predictions: object,
    metrics: Sequence[str],
    conventions: Mapping[str, Convention],
    **options: Any,  # noqa: ANN401 - those of `request_of_arguments`
) -> Mapping[str, Report | ExactkError]:
    first = next(iter(conventions.values()))
    values = plan(metrics, first)
    warn_of_unused_fields(first, values, has_parents=options.get("parents") is not None)
    classified = classify(predictions, ONE_SYSTEM.argument)
    if classified.container is BLOCKS:
        raise type_error("predictions", "predictions in a container", "an iterator, which can be read only once")
    try:
        request = request_of_arguments(engine, ONE_SYSTEM, truth, classified, values, first, **options)
        chunk = align_systems(request)
    except ExactkError as error:
        raise ONE_SYSTEM.amended(with_complete_hint(error, first, values), classified, values) from error.__cause__
    inputs = chunk.inputs("")
    outcomes = _evaluate_conventions(request, inputs, metrics, conventions)
    reports = [outcome for outcome in outcomes.values() if not isinstance(outcome, ExactkError)]
    if not reports:
        raise next(outcome for outcome in outcomes.values() if isinstance(outcome, ExactkError))
    warn_of(Evaluated(Part({}, chunk.of_truth), first))
    found = find_in_keys(inputs, has_hit=not has_no_hit(reports[0]))
    warn_of_systems({"": describe_disjoint_keys(reports[0], found)})
    return outcomes


def _evaluate_conventions(
    request: Request, inputs: AlignedInputs, metrics: Sequence[str], conventions: Mapping[str, Convention]
) -> dict[str, Report | ExactkError]:
    users = len(inputs.truth)
    outcomes: dict[str, Report | ExactkError] = {}
    with request.progress.track(users * len(conventions)):
        for name, convention in conventions.items():
            try:
                values = plan(metrics, convention)
                outcomes[name], _ = evaluate_system(request._replace(values=values, convention=convention), inputs)
            except (InputError, InputTypeError) as error:
                outcomes[name] = with_complete_hint(error, convention, values)
                request.progress.add_finished(users)
    return outcomes
