"""Warnings about candidates that are in no list, whether users come at once or some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exactk._engine.warnings import has_no_hit
from exactk._inputs.candidate_lists import restrict_lists

if TYPE_CHECKING:
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._report.report import Report


class CandidateUse(NamedTuple):
    """Whether lists and sparse scores have candidates."""

    is_emptied: bool = False  # there were items of some users, none of them a candidate
    has_candidates: bool = False  # an item of any user is one

    def plus(self, inputs: AlignedInputs, candidates: CandidateItems | None, report: Report) -> CandidateUse:
        """Return the use by these users and by others; the report is theirs."""
        if candidates is None or self.has_candidates or not len(inputs.truth):
            return self
        if not has_no_hit(report):
            return CandidateUse(has_candidates=True)
        restricted = restrict_lists(inputs, candidates)
        return CandidateUse(self.is_emptied or restricted.is_emptied, restricted.has_items)

    def merged(self, other: CandidateUse) -> CandidateUse:
        """Return the use by both sets of users."""
        return CandidateUse(self.is_emptied or other.is_emptied, self.has_candidates or other.has_candidates)

    def describe(self) -> str:
        """Return a warning if no item is a candidate, most likely because ids differ."""
        if self.has_candidates or not self.is_emptied:
            return ""
        return "no item of the predictions is among the candidates: check that both use the same item ids"
