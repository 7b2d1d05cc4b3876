"""What warnings about all users need to know of each bucket beside its state; as JSON, which is safe to read."""

from __future__ import annotations

import json
import math
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._engine.column_warnings import RatingScale
from exactk._engine.exclusion_use import ExclusionUse
from exactk._engine.sampled_candidates import NO_ROWS, CandidateRows, add_rows
from exactk._engine.shared_items import predicted_items
from exactk._engine.warnings import has_common_item, has_no_hit
from exactk._inputs.readings import NO_READINGS, Readings
from exactk._inputs.user_histories import ItemUse
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._engine.pipeline import Call, SolvedSystem


class SystemFacts(NamedTuple):
    """What is known of one system's predictions."""

    has_common_item: bool = False
    has_truth_items: bool = False
    has_list_items: bool = False
    exclusions: ExclusionUse = ExclusionUse()
    readings: Readings = NO_READINGS
    candidate_rows: CandidateRows | None = NO_ROWS

    @classmethod
    def of_solved(cls, call: Call, solved: SolvedSystem) -> SystemFacts:
        """Return the facts of a system of a call."""
        inputs, report = solved.inputs, solved.report
        predicted = predicted_items(inputs.predictions)
        both = len(inputs.truth.items) > 0, not isinstance(predicted, int) and len(predicted) > 0
        return cls(
            all(both) and (not has_no_hit(report) or has_common_item(inputs)),
            *both,
            ExclusionUse().plus(solved.exclude, inputs, report.state.counts),
            NO_READINGS.with_inputs(inputs, call.evaluation.values.strictest_grade),
            call.evaluation.candidate_rows(inputs, report),
        )

    def plus(self, other: SystemFacts) -> SystemFacts:
        """Return the facts of both sets of users."""
        return SystemFacts(
            self.has_common_item or other.has_common_item,
            self.has_truth_items or other.has_truth_items,
            self.has_list_items or other.has_list_items,
            self.exclusions.merged(other.exclusions),
            self.readings.plus(other.readings),
            add_rows(self.candidate_rows, other.candidate_rows),
        )

    @property
    def has_shared_items(self) -> bool:
        """Whether truth and lists of a bucket share an item, or one side has none at all."""
        return self.has_common_item or not (self.has_truth_items and self.has_list_items)


class Facts(NamedTuple):
    """What is known of the users of a bucket, or of several."""

    systems: Mapping[str, SystemFacts]
    train: ItemUse | None  # None if no metric reads items
    ratings: RatingScale
    rows: int  # of the largest bucket
    buckets: int = 1  # with rows, and without an error

    def plus(self, other: Facts) -> Facts:
        """Return the facts of both sets of users."""
        train = self.train if other.train is None else other.train
        if self.train is not None and other.train is not None:
            train = self.train.plus(other.train)
        return Facts(
            {name: facts.plus(other.systems[name]) for name, facts in self.systems.items()},
            train,
            self.ratings.plus(other.ratings),
            max(self.rows, other.rows),
            self.buckets + other.buckets,
        )

    def to_json(self) -> str:
        """Return the facts as text."""
        plain: dict[str, Any] = self._asdict()
        plain["systems"] = {name: list(facts) for name, facts in self.systems.items()}
        plain["train"] = None if self.train is None else astuple(self.train)
        plain["ratings"] = list(self.ratings) if math.isfinite(self.ratings.lowest) else None
        return json.dumps(plain, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """Return the facts that `to_json` wrote; raise InputError for other text."""
        try:
            return cls._from_plain(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise input_error("facts", "what was kept beside a state", f"{text[:80]!r}") from error

    @classmethod
    def _from_plain(cls, plain: Mapping[str, Any]) -> Facts:
        systems = {
            name: SystemFacts(*flags)._replace(
                exclusions=ExclusionUse(*use[:4], *map(tuple, use[4:])),
                readings=Readings(*readings),
                candidate_rows=None if rows is None else CandidateRows(*rows),
            )
            for name, (*flags, use, readings, rows) in plain["systems"].items()
        }
        train = None if plain["train"] is None else ItemUse(*plain["train"][:-2], *map(tuple, plain["train"][-2:]))
        ratings = RatingScale() if plain["ratings"] is None else RatingScale(*plain["ratings"])
        return cls(systems, train, ratings, plain["rows"], plain["buckets"])
