"""Which items may be ranked: candidate items and exclusions, with what the predictions themselves say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.scores import Scores
from exactk._runtime.errors import input_error

if TYPE_CHECKING:
    from exactk._inputs.model.candidate_items import CandidateItems
    from exactk._inputs.model.lists import Exclusions
    from exactk._inputs.model.predictions import Predictions


def restrict(
    predictions: Predictions, columns: CandidateItems | None, exclude: Exclusions | None
) -> tuple[CandidateItems | None, Exclusions | None]:
    """Return which items may be ranked and which are excluded, with what the predictions themselves say of it.

    Raise InputError unless they are scores that can be restricted to the columns.
    """
    if isinstance(predictions, CanonicalEmbeddings):
        exclude = predictions.excluded(exclude)
        if predictions.candidates is not None:
            if columns is not None:
                raise input_error("candidates", "None beside embeddings that have candidates", "others")
            columns = predictions.candidates
    if columns is None:
        return None, exclude
    if not isinstance(predictions, (Scores, CanonicalEmbeddings)):
        expected = f"None beside {type(predictions).__name__}, which hold all that may be ranked"
        raise input_error("candidates", expected, "columns of scores")
    if not columns.for_all and len(columns) != len(predictions):
        raise input_error("candidates", f"one entry for each of {len(predictions)} users", str(len(columns)))
    columns.check(
        len(predictions.items) if isinstance(predictions, CanonicalEmbeddings) else predictions.values.shape[1]
    )
    return columns, exclude
