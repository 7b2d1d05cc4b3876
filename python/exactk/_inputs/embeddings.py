"""The public constructor of embeddings, which takes candidates in any container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._inputs.checks import bias_array, vector_array
from exactk._inputs.keys.key_lists import keys_of_items, keys_of_rows
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._inputs.model.lists import CandidateItems
from exactk._inputs.model.scores import CanonicalEmbeddings, checked_threshold
from exactk._inputs.registry import as_candidate_items, classify, open_path
from exactk._runtime.errors import ExactkError
from exactk._runtime.faults import Option, as_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.protocols import KeysLike, MatrixLike, VectorLike
    from exactk._inputs.types import CandidatesLike
    from exactk._plan.literals import Similarity


class Embeddings(CanonicalEmbeddings, eq=False, init=False):
    """Embeddings of users and items, scored by their similarity.

    The arrays are viewed, not copied, and the score matrix is never stored: memory use is that of the vectors, even for
    millions of items. Vectors with keys are copied if their users come in another order than those of the truth, or
    their items in another order than that of their keys.

    Parameters
    ----------
    user_vectors : array of float, shape (n_users, n_dimensions)
        One vector per user, of float16, float32 or float64, with 1 to 65,536 dimensions. Arrays with rows that are not
        contiguous, or of another byte order, are copied. Do not change the array during the evaluation.
    item_vectors : array of float, shape (n_items, n_dimensions)
        One vector per item, of the same dimension and any of these types.
    similarity : {"dot", "cosine", "euclidean"}
        The score of user ``u`` and item ``v``:

        - ``"dot"``: the product ``u . v``;
        - ``"cosine"``: the product over both norms, ``u . v / sqrt(|u|^2 |v|^2)``;
        - ``"euclidean"``: the negative distance, ``-sqrt(|u - v|^2)``.
    min_score : float, optional
        Drop items with a lower score.
    candidates : sequence of items, Exclusions, Truth, Rankings, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path, optional
        The only items that may be ranked, as in `exactk.evaluate`: keys of items and users if these have keys.
    item_bias : array of float, shape (n_items,), optional
        A bias per item, added to its product with each user, as in matrix factorization. Only for
        ``similarity="dot"``; magnitudes are at most 2^250.
    exclude_self : bool
        Whether users and items are the same vectors, row by row, and none is recommended to itself.
    users, items : sequence, optional
        The key of each user vector and of each item vector, as in `exactk.Scores`. By default, users and items are
        row numbers.

    Raises
    ------
    InputTypeError
        If an array has the wrong type or shape, or keys have.
    InputError
        If the dimensions differ, keys repeat, or there is not one bias or key per row. Numbers are checked during the
        evaluation: all must be finite, and norms at most 2^250 and, for cosines, at least 2^-250.

    Notes
    -----
    Scores are float64 and have the same bits on every machine: the terms of a pair are added to eight sums, term ``j``
    to sum ``j mod 8``, which are then added as ``((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))``.

    Products in single precision rule out most items, with a rigorous error bound; only items that the bound cannot
    separate are scored in float64. Every item is, which takes several times as long, if:

    - there are candidates per user;
    - lists are deep: in `exactk.topk`, k exceeds a quarter of the items, or 16,384; in `exactk.evaluate`, the deepest
      cutoff exceeds a quarter of few items;
    - products cannot separate a user's items, for example because most scores are equal.

    Examples
    --------
    >>> import exactk
    >>> import numpy as np
    >>> users = np.array([[1.0, 0.0], [0.5, 1.0]])
    >>> items = np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    >>> model = exactk.Embeddings(users, items)
    >>> model
    <Embeddings of 2 users, 3 items, width 2 (float64), dot>
    >>> exactk.precision_at_k([[0], [2]], model, k=1)
    0.5
    >>> exactk.topk(model, k=2, exclude=[[0], []]).scores
    array([[1. , 0. ],
           [3. , 1.5]])
    >>> keyed = exactk.Embeddings(users, items, users=["ann", "bob"], items=["film", "song", "book"])
    >>> exactk.precision_at_k({"bob": ["book"], "ann": ["film"]}, keyed, k=1)
    0.5
    """

    def __init__(
        self,
        user_vectors: MatrixLike,
        item_vectors: MatrixLike,
        similarity: Similarity = "dot",
        min_score: float | None = None,
        candidates: CandidatesLike | None = None,
        item_bias: VectorLike | None = None,
        exclude_self: bool = False,  # noqa: FBT001, FBT002 - as the others may be given by position
        *,
        users: KeysLike | None = None,
        items: KeysLike | None = None,
    ) -> None:
        user_array = vector_array(user_vectors, "embeddings.user_vectors")
        item_array = vector_array(item_vectors, "embeddings.item_vectors")
        user_keys = keys_of_rows(users, "embeddings.users", len(user_array), "user vector")
        item_keys = keys_of_items(items, "embeddings.items", len(item_array), "item vector")
        candidate_items = _candidate_items(candidates)
        self._freeze(
            user_vectors=user_array,
            item_vectors=item_array,
            similarity=similarity,
            min_score=None if min_score is None else checked_threshold(min_score),
            candidates=None
            if candidate_items is None
            else _candidates_among_vectors(candidate_items, item_keys, user_keys),
            item_bias=None if item_bias is None else bias_array(item_bias, "embeddings.item_bias"),
            exclude_self=exclude_self,
            user_vocabulary=user_keys,
            item_vocabulary=item_keys,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        plain = [
            None if one is None else one.to_plain()
            for one in (self.candidates, self.user_vocabulary, self.item_vocabulary)
        ]
        fields = (self.similarity, self.min_score, self.item_bias, self.exclude_self)
        return (Embeddings._from_plain, (self.user_vectors, self.item_vectors, fields, *plain))

    @classmethod
    def _from_plain(
        cls,
        user_vectors: NDArray[Any],
        item_vectors: NDArray[Any],
        fields: tuple[Any, ...],
        candidates: tuple[Any, ...] | None,
        users: tuple[Any, ...] | None,
        items: tuple[Any, ...] | None,
    ) -> Embeddings:
        similarity, min_score, item_bias, exclude_self = fields
        embeddings = cls(user_vectors, item_vectors, similarity, min_score, None, item_bias, exclude_self)
        return embeddings._replace(
            candidates=None if candidates is None else CandidateItems.from_plain(candidates),
            user_vocabulary=None if users is None else Snapshot.from_plain(users),
            item_vocabulary=None if items is None else Snapshot.from_plain(items),
        )


Embeddings.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


def _candidate_items(candidates: CandidatesLike | None) -> CandidateItems | None:
    """Return the candidates; a hint that names columns says where, as embeddings take no names of columns."""
    try:
        return as_candidate_items(classify(open_path(candidates, "candidates", {}), "candidates"), {})
    except ExactkError as error:
        column = next((part for part in error.fault.hint if isinstance(part, Option)), None)
        if column is None or column.name not in {"user", "item"}:
            raise
        raise error.amended(hint=as_text(f"candidates=exactk.as_exclusions(candidates, {column}) names it")) from None


def _candidates_among_vectors(
    candidates: CandidateItems, items: Snapshot | None, users: Snapshot | None
) -> CandidateItems:
    """Return the candidates as numbers of item vectors, by user vector."""
    candidates = candidates.among(items, users, of_rows=True)
    candidates.check_users(None)
    return candidates
