"""`ranking_metrics_at_k` of models with vectors: of implicit's base class, and of others that look like one."""

from __future__ import annotations

import sys
from functools import update_wrapper
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import exactk
from exactk.compat.implicit import ranking_metrics_at_k

RNG = np.random.default_rng(0)
TRAIN, TEST = (csr_matrix(RNG.random((9, 30)) < share) for share in (0.1, 0.3))


class MatrixFactorizationBase:
    """As of implicit: recommends the items with the highest products, without those of the user."""

    def __init__(self) -> None:
        generator = np.random.default_rng(1)
        self.user_factors = generator.standard_normal((9, 4), np.float32)
        self.item_factors = generator.standard_normal((30, 4), np.float32)

    def _user_factor(self, users: Any) -> Any:
        return self.user_factors[users]

    def recommend(self, users: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # noqa: N803 - implicit's
        scores = self._user_factor(users) @ self.item_factors.T
        scores[user_items.toarray() != 0] = -np.inf
        ids = np.argsort(-scores, axis=1)[:, :N]
        return ids, np.take_along_axis(scores, ids, axis=1)


class Factors(MatrixFactorizationBase):
    """As ALS: with the methods of its base class."""


class FirstItems(MatrixFactorizationBase):
    """A model that recommends otherwise, by a method that is decorated below."""

    def recommend(self, users: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # noqa: N803 - implicit's
        del user_items
        return np.tile(np.arange(N), (len(users), 1)), None


update_wrapper(FirstItems.recommend, MatrixFactorizationBase.recommend)


class OppositeUsers(MatrixFactorizationBase):
    """A model with other vectors of users."""

    def _user_factor(self, users: Any) -> Any:
        return -self.user_factors[users]


@pytest.fixture(autouse=True)
def _implicit(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("implicit.cpu.matrix_factorization_base")
    module.MatrixFactorizationBase = MatrixFactorizationBase
    # Which `update_wrapper` copies.
    monkeypatch.setattr(MatrixFactorizationBase.recommend, "__module__", module.__name__)
    monkeypatch.setitem(sys.modules, module.__name__, module)


def asked(model: Any) -> Any:
    """Return a model without vectors, which recommends as another does."""
    return SimpleNamespace(recommend=model.recommend)


@pytest.mark.parametrize("model_class", [Factors, FirstItems, OppositeUsers])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_a_model_of_the_base_class_is_evaluated_as_it_recommends(model_class: type, k: int) -> None:
    model = model_class()
    assert ranking_metrics_at_k(model, TRAIN, TEST, k) == ranking_metrics_at_k(asked(model), TRAIN, TEST, k)


def test_a_method_of_an_object_is_asked() -> None:
    model: Any = Factors()
    model.recommend = FirstItems().recommend
    assert ranking_metrics_at_k(model, TRAIN, TEST) == ranking_metrics_at_k(FirstItems(), TRAIN, TEST)


def test_vectors_are_ranked_without_asking_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    model = Factors()
    expected = ranking_metrics_at_k(asked(model), TRAIN, TEST)
    monkeypatch.setattr(MatrixFactorizationBase, "recommend", fail)
    assert ranking_metrics_at_k(model, TRAIN, TEST) == expected


def test_items_that_the_model_does_not_have_are_an_index_error() -> None:
    train = csr_matrix((np.ones(1), ([0], [40])), shape=(9, 41))
    with pytest.raises(IndexError, match="40 is out of bounds"):
        ranking_metrics_at_k(Factors(), train, TEST)


@pytest.mark.parametrize("count", [0, -1])
def test_a_list_has_an_item_at_least(count: int) -> None:
    with pytest.raises(exactk.InputError, match=r"^K: expected an integer from 1 on, found (0|-1)$"):
        ranking_metrics_at_k(Factors(), TRAIN, TEST, K=count)


def test_a_model_recommends_as_many_items_as_it_is_asked_for() -> None:
    short = SimpleNamespace(recommend=lambda users, _, N: (np.tile(np.arange(N - 1), (len(users), 1)), None))  # noqa: N803 - implicit's
    with pytest.raises(exactk.InputError, match="model: expected 4 recommended items of each of 9 users"):
        ranking_metrics_at_k(short, TRAIN, TEST, K=4)
