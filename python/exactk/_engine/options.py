"""The options of an evaluation, for type checkers, by which functions take which. Their defaults are in the signature of `exactk.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.types import CandidatesLike, ExclusionsLike, GroupsLike, PredictionsLike, WeightsLike
    from exactk._plan.conventions import ConventionLike
    from exactk._runtime.progress import ProgressCallback


class ListOptions(TypedDict, total=False):
    """What every function that reads lists takes."""

    convention: ConventionLike
    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None


class AgreementOptions(ListOptions, total=False):
    """What `exactk.agreement` takes."""

    weights: WeightsLike | None
    groups: GroupsLike | None
    per_user: bool


class JudgeOptions(ListOptions, total=False):
    """What `exactk.judge` takes."""

    exclude: ExclusionsLike | None
    candidates: CandidatesLike | None
    grade: str | None


class ValueOptions(JudgeOptions, total=False):
    """What functions take that return one value."""

    items: CatalogueLike | None
    base_predictions: PredictionsLike | None
    weights: WeightsLike | None


class Options(ValueOptions, total=False):
    """What `exactk.evaluate` takes."""

    groups: GroupsLike | None
    per_user: bool
