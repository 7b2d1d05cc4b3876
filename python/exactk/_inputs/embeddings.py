"""The public constructor of embeddings: what restricts them may be any container."""

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
    """Users and items as vectors; what a pair of them has in common is its score. Viewed, not copied.

    An item's id is the number of its row. No score is stored: items are compared with users as they are ranked,
    so millions of items take no memory but their vectors.

    Parameters
    ----------
    users : array of float, shape (n_users, width)
        A vector for each user, of float16, float32 or float64, 1 to 65,536 numbers wide. An array whose rows are not
        contiguous, or of another byte order, is copied. Do not change it while it is evaluated.
    items : array of float, shape (n_items, width)
        A vector for each item, of the same width and any of these types.
    similarity : {"dot", "cosine", "euclidean"}
        What the score of user ``u`` and item ``v`` is: ``u . v``; that divided by the lengths of both,
        ``u . v / sqrt(|u|^2 |v|^2)``; or minus their distance, ``-sqrt(|u - v|^2)``.
    min_score : float, optional
        An item that scores less is not recommended.
    candidates : sequence of int, Exclusions, Truth, Rankings, list of sequences, sparse matrix, two-dimensional array, or ids and distances, optional
        The only items that may be ranked, as `exactk.evaluate` takes them.
    item_bias : array of float, shape (n_items,), optional
        Is added to an item's product with each user, as the models of matrix factorization have it. Only beside
        ``similarity="dot"``, and none beyond 2^250.
    exclude_self : bool
        Whether users are the items themselves, row by row, and none is to be recommended to itself.

    Raises
    ------
    InputTypeError
        If an array has the wrong type or shape.
    InputError
        If the widths differ, or there is not one bias an item. Numbers are looked at when they are evaluated: each must
        be finite, no vector longer than 2^250, nor, for a cosine, shorter than 2^-250.

    Notes
    -----
    Scores are float64 and the same bits on every machine: the terms of a pair are added as eight sums, term ``j`` to sum
    ``j mod 8``, and these as ``((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))``. With SciPy and threadpoolctl (the
    extra ``exactk[embeddings]``) its BLAS multiplies whole tiles in single precision, and only what these products cannot
    tell apart, for all that their rounding can hide, is scored so. Without them, everything is, which takes several times
    as long and finds the same; so is everything beside candidates of each user, for lists of more than a quarter of the
    items or of 16,384, and for users of whom products tell nothing, as where most scores are equal. While BLAS is used, it
    is limited to one thread a call in the whole process.

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
