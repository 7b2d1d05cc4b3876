"""The public function that finds the conventions under which published numbers are reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exactk._engine.core import core_engine
from exactk._engine.matching import reports_of_conventions
from exactk._evaluate import DEFAULTS
from exactk._plan.conventions import as_convention, conventions, description
from exactk._plan.metric_strings import canonical_name
from exactk._report.convention_matches import ConventionMatches, PublishedNumber
from exactk._runtime.errors import input_error, type_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.types import CandidatesLike, ExclusionsLike, PredictionsLike, TruthLike, WeightsLike
    from exactk._plan.conventions import ConventionLike
    from exactk._runtime.progress import ProgressCallback


def matching_conventions(
    truth: TruthLike,
    predictions: PredictionsLike,
    published: Mapping[str, float | str],
    *,
    convention: ConventionLike = "standard",
    exclude: ExclusionsLike | None = None,
    candidates: CandidatesLike | None = None,
    items: CatalogueLike | None = None,
    weights: WeightsLike | None = None,
    num_threads: int | None = None,
    progress: bool | ProgressCallback = False,
    user: str | Sequence[str] | None = None,
    item: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    grade: str | None = None,
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
    exclude, candidates, items, weights, num_threads, progress, user, item, score, rank, grade : optional
        As in `exactk.evaluate`.

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
    changes = _checked_changes(convention)
    changed_presets = {preset: as_convention({**changes, "base": preset}) for preset in conventions}
    options: dict[str, Any] = {
        **DEFAULTS,
        "exclude": exclude,
        "candidates": candidates,
        "items": items,
        "weights": weights,
        "num_threads": num_threads,
        "progress": progress,
        "user": user,
        "item": item,
        "score": score,
        "rank": rank,
        "grade": grade,
    }
    del options["convention"]
    outcomes = reports_of_conventions(core_engine, truth, predictions, list(numbers), changed_presets, **options)
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
