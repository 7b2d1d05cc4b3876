"""The public constructor of embeddings, which takes candidates in any container."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactk._inputs.checks import bias_array, vector_array
from exactk._inputs.model.candidate_items import CandidateItems
from exactk._inputs.model.embeddings import CanonicalEmbeddings
from exactk._inputs.model.scores import checked_threshold
from exactk._inputs.registry import as_candidate_items, classify


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Embeddings(CanonicalEmbeddings):
    """Embeddings of users and items, scored by their similarity.

    An item's id is its row number. The arrays are viewed, not copied, and the score matrix is never stored: memory use
    is that of the vectors, even for millions of items.

    Parameters
    ----------
    users : array of float, shape (n_users, width)
        One vector per user, of float16, float32 or float64, with a width of 1 to 65,536. Arrays with rows that are not
        contiguous, or of another byte order, are copied. Do not change the array during the evaluation.
    items : array of float, shape (n_items, width)
        One vector per item, of the same width and any of these types.
    similarity : {"dot", "cosine", "euclidean"}
        The score of user ``u`` and item ``v``:

        - ``"dot"``: the product ``u . v``;
        - ``"cosine"``: the product over both lengths, ``u . v / sqrt(|u|^2 |v|^2)``;
        - ``"euclidean"``: the negative distance, ``-sqrt(|u - v|^2)``.
    min_score : float, optional
        Drop items with a lower score.
    candidates : sequence of int, Exclusions, Truth, Rankings, list of sequences, sparse matrix, two-dimensional array, or ids and distances, optional
        The only items that may be ranked, as in `exactk.evaluate`.
    item_bias : array of float, shape (n_items,), optional
        A bias per item, added to its product with each user, as in matrix factorization. Only for
        ``similarity="dot"``; magnitudes are at most 2^250.
    exclude_self : bool
        Whether users and items are the same vectors, row by row, and none is recommended to itself.

    Raises
    ------
    InputTypeError
        If an array has the wrong type or shape.
    InputError
        If the widths differ, or there is not one bias per item. Numbers are checked during the evaluation: all must be
        finite, and vector lengths at most 2^250 and, for cosines, at least 2^-250.

    Notes
    -----
    Scores are float64 and have the same bits on every machine: the terms of a pair are added to eight sums, term ``j``
    to sum ``j mod 8``, which are then added as ``((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))``.

    With SciPy and threadpoolctl (the extra ``exactk[embeddings]``), single-precision products from SciPy's BLAS rule
    out most items, with a rigorous error bound; only items that the bound cannot separate are scored in float64. While
    BLAS is in use, it is limited to one thread per call in the whole process. The results are the same without BLAS,
    but take several times as long. Every item is scored in float64 if:

    - SciPy or threadpoolctl is not installed;
    - there are candidates per user;
    - lists are longer than a quarter of the items, or than 16,384;
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
    """

    def __init__(
        self,
        users: object,
        items: object,
        similarity: str = "dot",
        min_score: float | None = None,
        candidates: object = None,
        item_bias: object = None,
        exclude_self: bool = False,  # noqa: FBT001, FBT002 - as the others may be given by position
    ) -> None:
        self._freeze(
            vector_array(users, "embeddings.users"),
            vector_array(items, "embeddings.items"),
            similarity,
            None if min_score is None else checked_threshold(min_score),
            as_candidate_items(classify(candidates, "candidates")),
            None if item_bias is None else bias_array(item_bias, "embeddings.item_bias"),
            exclude_self=exclude_self,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        candidates = None if self.candidates is None else self.candidates.to_plain()
        fields = (self.similarity, self.min_score, candidates, self.item_bias, self.exclude_self)
        return (Embeddings._from_plain, (self.users, self.items, *fields))

    @classmethod
    def _from_plain(
        cls,
        users: object,
        items: object,
        similarity: str,
        min_score: float | None,
        candidates: tuple[Any, ...] | None,
        *more: Any,  # noqa: ANN401 - as __init__ takes them
    ) -> Embeddings:
        candidate_items = None if candidates is None else CandidateItems.from_plain(candidates)
        return cls(users, items, similarity, min_score, candidate_items, *more)
