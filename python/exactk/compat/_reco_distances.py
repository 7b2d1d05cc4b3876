"""Distances of pairs of items, for the diversity of RecTools."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._runtime import optional

if TYPE_CHECKING:
    import pandas as pd  # noqa: TID251 - for the type checker alone
    from numpy.typing import NDArray

_ABSENT = "Some items lack features: their distances are NaN."


class PairwiseDistanceCalculator(ABC):
    """The distances of pairs of items: ``calculator[items_0, items_1]``.

    A class of one's own has a method ``_get_distances_for_item_pairs(items_0, items_1)`` that returns them.
    """

    def __getitem__(self, pair_index_sequences: Any) -> NDArray[Any]:  # noqa: ANN401 - a pair
        if len(pair_index_sequences) != 2:
            message = "class returns distances only for an item PAIR index sequences"
            raise IndexError(message)
        items_0, items_1 = pair_index_sequences
        if not (_is_list_of_items(items_0) and _is_list_of_items(items_1)):
            message = "class returns distances for index SEQUENCES"
            raise TypeError(message)
        if len(items_0) != len(items_1):
            message = "different lengths of index sequences"
            raise IndexError(message)
        return self._get_distances_for_item_pairs(items_0, items_1)

    @abstractmethod
    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]: ...  # noqa: ANN401 - sequences


def _is_list_of_items(items: object) -> bool:
    return isinstance(items, np.ndarray) or (isinstance(items, Sequence) and not isinstance(items, str))


class PairwiseHammingDistanceCalculator(PairwiseDistanceCalculator):
    """The number of features that differ.

    Parameters
    ----------
    item_features_df : pandas.DataFrame
        Numbers, a row for each item, whose index has the items.
    """

    def __init__(self, item_features_df: pd.DataFrame) -> None:
        self.features_df = item_features_df.copy()

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]:  # noqa: ANN401 - sequences
        items = optional.pandas("exactk.compat.rectools").Index(
            np.concatenate([np.asarray(items_0), np.asarray(items_1)])
        )
        codes, distinct = items.factorize(use_na_sentinel=False)
        features = self.features_df.reindex(distinct).to_numpy()
        is_absent = np.isnan(features).any(axis=1)
        first, second = codes[: len(items_0)], codes[len(items_0) :]
        distances = np.zeros(len(first))
        for feature in features.T:  # one at a time, as there are many pairs
            distances += feature[first] != feature[second]
        absent = is_absent[first] | is_absent[second]
        if absent.any():
            warnings.warn(_ABSENT, stacklevel=3)
        distances[absent] = np.nan
        return distances


class SparsePairwiseHammingDistanceCalculator(PairwiseDistanceCalculator):
    """The number of features that differ, of a sparse matrix.

    Parameters
    ----------
    features : rectools.dataset.SparseFeatures
        An object whose ``values`` is a sparse matrix of items x features.
    id_map : rectools.dataset.IdMap
        An object with ``external_ids``, and with ``convert_to_internal(items)``, which returns rows of the matrix.
    """

    def __init__(self, features: Any, id_map: Any) -> None:  # noqa: ANN401 - of RecTools
        self.features = features.values.copy()  # noqa: PD011 - no Series
        self.mapper = deepcopy(id_map)

    def _get_distances_for_item_pairs(self, items_0: Any, items_1: Any) -> NDArray[Any]:  # noqa: ANN401 - sequences
        pandas = optional.pandas("exactk.compat.rectools")
        pairs = [np.asarray(items_0), np.asarray(items_1)]
        is_known = pandas.Index(pairs[0]).isin(self.mapper.external_ids)
        is_known &= pandas.Index(pairs[1]).isin(self.mapper.external_ids)
        if not is_known.all():
            warnings.warn("Some items are not in id_map: their distances are NaN.", stacklevel=3)
        rows = [self.mapper.convert_to_internal(items[is_known]) for items in pairs]
        try:
            first, second = (self.features[internal, :] for internal in rows)
        except IndexError:
            message = "features: expected a row for each item of id_map"
            raise IndexError(message) from None
        distances = np.full(len(pairs[0]), np.nan, np.float32)
        distances[is_known] = np.ravel((first != second).sum(axis=1))
        is_absent = _has_nan(first) | _has_nan(second)
        if is_absent.any():
            warnings.warn(_ABSENT, stacklevel=3)
        distances[np.flatnonzero(is_known)[is_absent]] = np.nan
        return distances


def _has_nan(matrix: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - a sparse matrix
    """Return which rows have NaN."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows[np.isnan(matrix.data)], minlength=matrix.shape[0]) > 0
