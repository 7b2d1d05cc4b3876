"""The predictions of one system, in any form."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores

if TYPE_CHECKING:
    from exactk._inputs.model.rows import Rows

MatrixScores: TypeAlias = Scores | CanonicalEmbeddings  # with a score for every item
Scored: TypeAlias = Scores | SparseScores | CanonicalEmbeddings  # the containers with scores
Predictions: TypeAlias = Rankings | Scored


def predictions_from_rows(rows: Rows, argument: str = "predictions") -> Rankings | SparseScores:
    """Return sparse scores if the rows have scores, and rankings otherwise."""
    return Rankings.from_rows(rows) if rows.scores is None else SparseScores.from_rows(rows, argument)
