"""Warnings about exclusions and candidates that fit no user or list, whether users come at once or in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._engine.shared_items import first_predicted, is_any_predicted, predicted_items, share_item
from exactk._engine.warnings import has_no_hit
from exactk._inputs.candidate_lists import restrict_lists
from exactk._inputs.keys.disjoint_keys import NO_EXAMPLES, describe_disjoint, either, examples_of_differing_ids

if TYPE_CHECKING:
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.candidate_lists import CandidateLists
    from exactk._inputs.checks import Ids
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.lists import Exclusions, Lists
    from exactk._inputs.model.rows import Rows
    from exactk._report.counts import Counts
    from exactk._report.report import Report


class ExclusionUse(NamedTuple):
    """Whether exclusions have users and items of the call. Items are compared among the users of a piece alone."""

    has_any: bool = False  # of any users
    has_users: bool = False  # of users of the call
    has_match: bool = False  # of an item in the truth or the predictions, perhaps of another user
    differs: bool = False  # none has such an item in a piece, most likely because ids differ
    user_examples: tuple[str, str] = NO_EXAMPLES  # of the exclusions, and of the call, if no user is in both
    item_examples: tuple[str, str] = NO_EXAMPLES  # likewise

    def plus(self, given: Rows | Lists | None, inputs: AlignedInputs, counts: Counts | None = None) -> ExclusionUse:
        """Return the use by these users and by others; `given` are the exclusions of any users, and counts are theirs."""
        if given is None or self.has_match or not len(given.items):
            return self
        if inputs.exclude is None or not len(inputs.exclude.items):
            users = NO_EXAMPLES if self.has_users or any(self.user_examples) else _users(given, inputs)
            return self.merged(ExclusionUse(has_any=True, user_examples=users))
        excluded = inputs.exclude.items
        is_counted = counts is not None and (counts.excluded_recommended or counts.relevant_excluded)
        if is_counted or is_any_predicted(excluded, inputs.predictions) or share_item(excluded, inputs.truth.items):
            return ExclusionUse(has_any=True, has_users=True, has_match=True)
        items = _examples_of_items(inputs.exclude, inputs)
        return self.merged(ExclusionUse(has_any=True, has_users=True, differs=any(items), item_examples=items))

    def merged(self, other: ExclusionUse) -> ExclusionUse:
        """Return the use by both sets of users."""
        flags = [one or another for one, another in zip(self[:4], other[:4], strict=True)]
        return ExclusionUse(*flags, *map(either, self[4:], other[4:]))  # type: ignore[arg-type]

    def describe(self, others: str = "the truth or the predictions") -> str:
        """Return a warning if nothing is excluded from these others, most likely because ids differ; or empty."""
        if self.has_any and not self.has_users:
            return describe_disjoint("user", "exclude", others, self.user_examples)
        is_warned_of = self.differs and not self.has_match
        return describe_disjoint("item", "exclude", others, self.item_examples) if is_warned_of else ""


def _examples_of_items(exclude: Exclusions, inputs: AlignedInputs) -> tuple[str, str]:
    """Return an excluded item and another, if ids most likely differ: if they have no column, say."""
    keys, predicted = _keys(exclude.items, inputs), predicted_items(inputs.predictions)
    if isinstance(predicted, int):
        return (min(map(repr, keys)), first_predicted(inputs)) if predicted else NO_EXAMPLES
    others = dict.fromkeys(_keys(inputs.truth.items, inputs) + _keys(predicted, inputs))
    return examples_of_differing_ids(keys, [*others], int(np.count_nonzero(np.diff(exclude.indptr))))


def _keys(items: Ids, inputs: AlignedInputs) -> list[Any]:
    """Return the distinct keys of items, which may be padded."""
    distinct, keys = np.unique(items[items >= 0].astype(np.int64, copy=False)), inputs.item_keys
    return list((distinct if keys is None else keys[distinct]).tolist())


def _users(given: Rows | Lists, inputs: AlignedInputs) -> tuple[str, str]:
    """Return a user with exclusions and a user of the call, as messages show them; empty without keys."""
    if given.user_vocabulary is None:
        return NO_EXAMPLES
    return given.user_vocabulary.repr_of(int(np.argmax(np.diff(given.indptr) > 0))), inputs.user_text(0)


class CandidateUse(NamedTuple):
    """Whether lists and sparse scores have candidates."""

    is_emptied: bool = False  # there were items of some users, none of them a candidate
    has_candidates: bool = False  # an item of any user is one
    examples: tuple[str, str] = NO_EXAMPLES  # a candidate, and an item of a list

    def plus(self, inputs: AlignedInputs, candidates: CandidateItems | None, report: Report) -> CandidateUse:
        """Return the use by these users and by others; the report is theirs."""
        if candidates is None or self.has_candidates or not len(inputs.truth):
            return self
        if not has_no_hit(report):
            return CandidateUse(has_candidates=True)
        return self.merged(self.of_restricted(restrict_lists(inputs, candidates), inputs, candidates))

    @classmethod
    def of_restricted(
        cls, restricted: CandidateLists, inputs: AlignedInputs, candidates: CandidateItems | None
    ) -> CandidateUse:
        """Return the use by users whose lists, which are those of the inputs, were restricted."""
        if candidates is None or not restricted.is_emptied:
            return cls(has_candidates=restricted.has_items)
        keys, first = candidates.item_vocabulary, candidates.items[:1].tolist()
        candidate = "".join(str(item) if keys is None else keys.repr_of(item) for item in first)
        return cls(is_emptied=True, examples=(candidate, first_predicted(inputs)))

    def merged(self, other: CandidateUse) -> CandidateUse:
        """Return the use by both sets of users."""
        has_candidates = self.has_candidates or other.has_candidates
        return CandidateUse(self.is_emptied or other.is_emptied, has_candidates, either(self.examples, other.examples))

    def describe(self, others: str = "the predictions") -> str:
        """Return a warning if no candidate is in these others, most likely because ids differ; or empty."""
        if self.has_candidates or not self.is_emptied:
            return ""
        return describe_disjoint("item", "candidates", others, self.examples)
