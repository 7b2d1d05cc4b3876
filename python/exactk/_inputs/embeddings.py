"""Waist 1 for embeddings: users and items as vectors, which are read where they lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk import _core
from exactk._errors import input_error, type_error
from exactk._inputs.canonical import Exclude, Rows
from exactk._inputs.checks import bias_array, read_only, vector_array
from exactk._inputs.containers import as_columns
from exactk._inputs.scores import narrowed_threshold, threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._inputs.canonical import Columns

SIMILARITIES = ("dot", "cosine", "euclidean")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Embeddings:
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
    candidates : sequence of int, list of sequences, two-dimensional array, sparse matrix, or CSR, optional
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

    users: NDArray[Any]
    items: NDArray[Any]
    similarity: str
    min_score: float | None
    candidates: Columns | None
    item_bias: NDArray[Any] | None
    exclude_self: bool
    narrow: bool  # whether scores are rounded to float32
    arguments: tuple[str, str]  # what messages call users and items
    core: _core.Embeddings = field(repr=False)

    def __init__(
        self,
        users: object,
        items: object,
        similarity: str = "dot",
        min_score: float | None = None,
        candidates: object = None,
        item_bias: object = None,
        exclude_self: bool = False,  # noqa: FBT001, FBT002 - as the others may be given by place
    ) -> None:
        self._settle(
            vector_array(users, "embeddings.users"),
            vector_array(items, "embeddings.items"),
            similarity,
            None if min_score is None else threshold(min_score),
            as_columns(candidates),
            None if item_bias is None else bias_array(item_bias, "embeddings.item_bias"),
            exclude_self=exclude_self,
        )

    @classmethod
    def neighbors(cls, vectors: object, similarity: str, min_score: float | None, *, exclude_self: bool) -> Embeddings:
        """View vectors that are users and items; messages call them vectors."""
        array = vector_array(vectors, "vectors")
        least = None if min_score is None else threshold(min_score)
        embeddings = cls.__new__(cls)
        embeddings._settle(  # noqa: SLF001 - its own
            array,
            array,
            similarity,
            least,
            None,
            None,
            exclude_self=exclude_self,
            arguments=("vectors", "vectors"),
        )
        return embeddings

    def _settle(
        self,
        users: NDArray[Any],
        items: NDArray[Any],
        similarity: object,
        min_score: float | None,
        candidates: Columns | None,
        item_bias: NDArray[Any] | None,
        *,
        exclude_self: object,
        narrow: bool = False,
        arguments: tuple[str, str] = ("embeddings.users", "embeddings.items"),
    ) -> None:
        if not isinstance(similarity, str) or similarity not in SIMILARITIES:
            raise input_error("similarity", f"one of {', '.join(SIMILARITIES)}", repr(similarity))
        if not isinstance(exclude_self, (bool, np.bool_)):
            raise type_error("exclude_self", "True or False", repr(exclude_self))
        values = {
            "users": read_only(users),
            "items": read_only(items),
            "similarity": similarity,
            "min_score": min_score,
            "candidates": candidates,
            "item_bias": None if item_bias is None else read_only(item_bias),
            "exclude_self": bool(exclude_self),
            "narrow": narrow,
            "arguments": arguments,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "core", self.core_with(None, None))
        if exclude_self and len(users) != len(items):
            raise input_error("exclude_self", f"as many users as items ({len(items)})", str(len(users)))
        if candidates is not None:
            candidates.check(len(items))

    def core_with(self, columns: Columns | None, sgemm: Any) -> _core.Embeddings:  # noqa: ANN401 - a capsule or None
        """Return the core's view, of which only these items may be ranked, and which may multiply by BLAS."""
        return _core.Embeddings(
            self.users,
            self.items,
            self.item_bias,
            self.similarity,
            self.narrow,
            self.min_score,
            None if columns is None else columns.core,
            sgemm,
            *self.arguments,
        )

    def excluded(self, exclude: Exclude | None) -> Exclude | None:
        """Return what is excluded, with each user's own row if that is to be."""
        if not self.exclude_self:
            return exclude
        own = np.arange(len(self), dtype=np.int64)
        if exclude is None:
            return Exclude.from_rows(Rows(np.arange(len(self) + 1), own))
        if len(exclude) != len(self):
            raise input_error("exclude", f"one entry for each of {len(self)} users", str(len(exclude)))
        items = np.insert(exclude.items, exclude.indptr[1:], own)
        return Exclude.from_rows(Rows(exclude.indptr + np.arange(len(self) + 1), items))

    def narrowed(self) -> Embeddings:
        """Return the same, its scores and `min_score` rounded to float32."""
        other = type(self).__new__(type(self))
        other._settle(  # noqa: SLF001 - its own
            self.users,
            self.items,
            self.similarity,
            narrowed_threshold(self.min_score),
            self.candidates,
            self.item_bias,
            exclude_self=self.exclude_self,
            narrow=True,
            arguments=self.arguments,
        )
        return other

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.users)

    def __repr__(self) -> str:
        items, width = self.items.shape
        return (
            f"<Embeddings of {len(self)} users, {items} items, width {width} ({self.items.dtype}), {self.similarity}>"
        )

    def has(self, user: int) -> bool:
        """Return whether the user has a list: each has, be it empty."""
        return 0 <= user < len(self)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.similarity, self.min_score, self.candidates, self.item_bias, self.exclude_self)
        return (Embeddings, (self.users, self.items, *fields))
