"""Warnings about candidates that are in no list, whether users come at once or some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from exactk._engine.shared_items import first_predicted
from exactk._engine.warnings import has_no_hit
from exactk._inputs.candidate_lists import restrict_lists
from exactk._inputs.keys.disjoint_keys import NO_EXAMPLES, describe_disjoint, either

if TYPE_CHECKING:
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.candidate_lists import CandidateLists
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._report.report import Report


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
