"""The options of public functions: which function takes which, for type checkers, and as `help` shows them.

Their defaults are in the signature of `exactk.evaluate`.
"""

from __future__ import annotations

import re
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, TypedDict

from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from exactk._inference.significance import Alternative
    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.model.fused_scores import FusionTies, MissingScore, ScoreNorm
    from exactk._inputs.parents import ParentsLike
    from exactk._inputs.types import (
        CandidatesLike,
        ClustersLike,
        ExclusionsLike,
        GroupsLike,
        PredictionsLike,
        WeightsLike,
    )
    from exactk._plan.conventions import ConventionLike
    from exactk._plan.literals import Nan, RankingTies, ScoreDtype
    from exactk._report.comparison_options import (
        Adjustment,
        Family,
        IntervalMethod,
        MarginLike,
        Missing,
        RunsLike,
        Test,
    )
    from exactk._runtime.progress import ProgressCallback


class _Entry(NamedTuple):
    """What a docstring says of parameters."""

    names: list[str]
    kind: str  # their type; empty if the text is to follow that of another docstring
    text: str


_ORDER = (
    "Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "References", "Examples",
)  # fmt: skip
"""Of sections, after numpydoc."""


def with_parameters(
    text: str | None, names: Collection[str], sources: Sequence[str], sources_of_values: Sequence[str]
) -> str | None:
    """Return a docstring with an entry for each parameter, in the order of the names, and with what is returned.

    What it lacks comes from the first source that has it. Its own entry without a type follows the text from there.
    """
    if text is None:  # under python -OO
        return None
    summary, sections = _sections(text)
    here = _entries(sections.get("Parameters", ""))
    elsewhere: dict[str, _Entry] = {}
    for source in sources:
        elsewhere = {**_described(source), **elsewhere}
    for source in sources_of_values:
        of_source = _sections(source)[1]
        sections = {title: of_source[title] for title in ("Returns", "References") if title in of_source} | sections
    entries: dict[str, str] = {}
    for name in names:
        entry, described = here.get(name), elsewhere.get(name)
        if entry and entry.kind:
            entries[entry.names[0]] = f"{', '.join(entry.names)} : {entry.kind}\n{entry.text}"
        elif described:
            alike = [one for one in described.names if one in names and here.get(one) is entry]
            more = f"\n{entry.text}" if entry else ""
            entries[alike[0]] = f"{', '.join(alike)} : {described.kind}\n{described.text}{more}"
    sections = {**sections, "Parameters": "\n".join(["Parameters\n----------", *entries.values()])}
    whole = "\n\n".join([summary, *(sections[title] for title in sorted(sections, key=_ORDER.index))])
    return re.sub(
        r"\n\.\. (\[\d\]) .*", lambda one: one[0] if f"{one[1]}_" in whole else "", whole
    )  # without those of others


@cache
def _described(text: str) -> dict[str, _Entry]:
    """Return the entry of each parameter of a docstring."""
    return _entries(_sections(text)[1].get("Parameters", ""))


@cache
def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return what comes before all sections, and each section by its title."""
    summary, *sections = re.split(r"\n\n(?=\S.*\n---)", cleandoc(text))
    return summary, {section.partition("\n")[0]: section for section in sections}


def _entries(section: str) -> dict[str, _Entry]:
    """Return the entry of each parameter."""
    entries: dict[str, _Entry] = {}
    for part in re.split(r"\n(?=\S)", section)[2:]:
        header, _, text = part.partition("\n")
        names, _, kind = header.partition(" : ")
        entry = _Entry(names.split(", "), kind, text)
        entries.update(dict.fromkeys(entry.names, entry))
    return entries


class ReadingOptions(TypedDict, total=False):
    """What every function that reads lists takes."""

    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    unit_names: tuple[str, str] | None


class ListOptions(ReadingOptions, total=False):
    """What every function takes that reads lists by a convention."""

    convention: ConventionLike


class AgreementValueOptions(ListOptions, total=False):
    """What functions take that return one value of `exactk.agreement`."""

    weights: WeightsLike | None


class AgreementOptions(AgreementValueOptions, total=False):
    """What `exactk.agreement` takes."""

    groups: GroupsLike | None
    per_user: bool


class JudgeOptions(ListOptions, total=False):
    """What `exactk.judge` takes."""

    exclude: ExclusionsLike | None
    candidates: CandidatesLike | None
    parents: ParentsLike | None
    grade: str | None


class ValueOptions(JudgeOptions, total=False):
    """What functions take that return one value, and `exactk.matching_conventions`."""

    items: CatalogueLike | None
    base_predictions: PredictionsLike | None
    weights: WeightsLike | None


class Options(ValueOptions, total=False):
    """What `exactk.evaluate` takes."""

    groups: GroupsLike | None
    per_user: bool


class EvaluatorOptions(TypedDict, total=False):
    """What `exactk.Evaluator` takes."""

    convention: ConventionLike
    items: CatalogueLike | None
    num_threads: int | None
    unit_names: tuple[str, str] | None


class UpdateOptions(TypedDict, total=False):
    """What `exactk.Evaluator.update` takes."""

    exclude: ExclusionsLike | None
    candidates: CandidatesLike | None
    weights: WeightsLike | None
    groups: GroupsLike | None


class TopKOptions(TypedDict, total=False):
    """What `exactk.topk` takes."""

    candidates: CandidatesLike | None
    ties: RankingTies
    nan: Nan
    score_dtype: ScoreDtype
    num_threads: int | None
    progress: bool | ProgressCallback
    user: str | Sequence[str] | None
    item: str | None
    score: str | None


class FusionOptions(ReadingOptions, total=False):
    """What `exactk.fuse` takes beside systems and method."""

    norm: ScoreNorm | None
    weights: Mapping[str, float] | None
    missing: MissingScore | None
    depth: int | None
    k: int | None
    rank_constant: float
    persistence: float
    power: float
    low: float | Mapping[str, float] | None
    ties: FusionTies
    nan: Nan


class ComparingOptions(TypedDict, total=False):
    """How systems are compared."""

    baseline: str | None
    test: Test
    alternative: Alternative
    confidence: float
    interval: IntervalMethod
    adjust: Adjustment
    family: Family
    margin: MarginLike | None
    clusters: ClustersLike | None
    missing: Missing
    runs: RunsLike | None
    permutations: int
    resamples: int
    seed: int


class CompareOptions(Options, ComparingOptions, total=False):
    """What `exactk.compare` takes."""


class CompareReportsOptions(ComparingOptions, total=False):
    """What `exactk.compare_reports` takes."""

    num_threads: int | None
    progress: bool | ProgressCallback
