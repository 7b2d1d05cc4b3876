"""The items that may be ranked: candidates and exclusions, of the call and of the predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inputs.model.scores import CanonicalEmbeddings, Scores
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.scores import Predictions


def merge_restrictions(
    predictions: Predictions, candidates: CandidateItems | None, exclude: Exclusions | None
) -> tuple[CandidateItems | None, Exclusions | None]:
    """Return the candidates and the exclusions of the call, merged with those of the predictions.

    Lists and sparse scores hold only candidates by now. Raise InputError if others cannot be restricted to theirs.
    """
    if isinstance(predictions, CanonicalEmbeddings):
        exclude = predictions.extend_exclusions(exclude)
        if predictions.candidates is not None:
            if candidates is not None:
                raise input_error("candidates", "None for embeddings that have candidates", "candidates")
            candidates = predictions.candidates
    if candidates is None or not isinstance(predictions, (Scores, CanonicalEmbeddings)):
        return None, exclude
    if candidates is not _own_candidates(predictions):
        candidates = candidates.among(predictions.item_vocabulary, predictions.user_vocabulary)
        candidates.check_users(predictions.present)
    if not candidates.for_all and len(candidates) != len(predictions):
        raise input_error("candidates", f"one entry per user ({len(predictions)})", str(len(candidates)))
    candidates.check_ids(predictions.item_count)
    return candidates, exclude


def _own_candidates(predictions: Predictions) -> CandidateItems | None:
    return predictions.candidates if isinstance(predictions, CanonicalEmbeddings) else None
