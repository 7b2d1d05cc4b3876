"""What one system gives, whatever its form."""

from __future__ import annotations

from typing import TypeAlias

from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores

Scored: TypeAlias = Scores | SparseScores | CanonicalEmbeddings  # what has scores
Predictions: TypeAlias = Rankings | Scored
