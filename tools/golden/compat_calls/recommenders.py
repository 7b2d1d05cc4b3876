"""Calls of recommenders: `recommenders.evaluation.python_evaluation`."""

from __future__ import annotations

import random
import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DISTRIBUTION = "recommenders"
MODULE = "recommenders.evaluation.python_evaluation"
REQUIREMENTS = ("recommenders==1.2.1",)
TOLERANCE = 1e-12
IMPORTS = (
    "from recommenders.evaluation.python_evaluation import ndcg_at_k",
    "from exactk.compat.recommenders import ndcg_at_k",
)

_RANKING = ("precision_at_k", "recall_at_k", "r_precision_at_k", "ndcg_at_k", "map", "map_at_k")
_RATING = ("rmse", "mae", "rsquared", "exp_var", "auc", "logloss")
_LISTS = ("user_diversity", "diversity", "user_item_serendipity", "user_serendipity", "serendipity")
_CATALOGUE = ("novelty", "historical_item_novelty", "catalog_coverage", "distributional_coverage")
_TRUE = {"userID": [1, 1, 2, 3], "itemID": [1, 2, 3, 4], "rating": [5, 3, 4, 1]}
_PREDICTED = {"userID": [1, 1, 2, 2, 4], "itemID": [2, 3, 3, 1, 1], "prediction": [0.9, 0.8, 0.7, 0.6, 0.5]}
_TRAIN = {"userID": [1, 1, 2, 2, 3], "itemID": [1, 2, 3, 1, 2]}
_RECO: dict[str, list[Any]] = {
    "userID": [1, 1, 2, 2, 3, 4],
    "itemID": [3, 4, 2, 4, 1, 1],
    "relevance": [1, 0, 0.3, 1, 1, 1],
}
_FEATURES: dict[str, list[Any]] = {"itemID": [1, 2, 3, 4], "features": [[1, 0], [1, 1], [0, 1], [0.5, 2]]}


def draw() -> list[dict[str, Any]]:
    """Return drawn evaluations, and faulty ones."""
    draw_from = random.Random(1)  # noqa: S311 - no secrets
    calls = [_ranking(draw_from) for _ in range(260)]
    calls += [_rating(draw_from) for _ in range(90)]
    calls += [_top_k(draw_from) for _ in range(40)]
    calls += [_lists(draw_from) for _ in range(160)]
    return [*calls, *_faulty()]


def _frame(
    draw_from: random.Random, users: int, items: int, value: str, kind: str, *, repeats: bool = False
) -> dict[str, list[Any]]:
    pairs = [(user, item) for user in range(users) for item in range(items)]
    drawn = draw_from.sample(pairs, draw_from.randrange(1, len(pairs)))
    if repeats:
        drawn += draw_from.sample(drawn, draw_from.randrange(len(drawn)))
    if draw_from.random() < 0.5:
        drawn.sort(key=lambda pair: pair[0])
    values = [_value(draw_from, kind) for _ in drawn]
    return {"userID": [user for user, _ in drawn], "itemID": [item for _, item in drawn], value: values}


def _value(draw_from: random.Random, kind: str) -> Any:
    if kind == "grades":
        return draw_from.choice([0, 1, 2, 3, 5])
    if kind == "labels":
        return draw_from.choice([0, 1])
    if kind == "ties":
        return draw_from.choice([0.25, 0.5, 0.75])
    if kind == "gaps":
        return draw_from.choice([None, 0.5, 1.5, -2.0])
    return round(draw_from.random(), 3)


def _ranking(draw_from: random.Random) -> dict[str, Any]:
    function = draw_from.choice(_RANKING)
    users, items, repeats = draw_from.choice([1, 3, 6]), draw_from.choice([4, 9]), draw_from.random() < 0.25
    call: dict[str, Any] = {
        "function": function,
        "true": _frame(
            draw_from, users, items, "rating", draw_from.choice(["grades", "real", "gaps"]), repeats=repeats
        ),
        "pred": _frame(
            draw_from, users + 1, items + 1, "prediction", draw_from.choice(["real", "ties", "gaps"]), repeats=repeats
        ),
        "options": {"k": draw_from.choice([1, 2, 3, 5, 10, 100])},
    }
    options = call["options"]
    if draw_from.random() < 0.2:
        options |= {"relevancy_method": "by_threshold", "threshold": draw_from.choice([1, 3, 0, -1, 2.5])}
    elif draw_from.random() < 0.25:
        options["relevancy_method"] = None
    if draw_from.random() < 0.15:
        options["k"] = draw_from.choice([0, -1, -2, 1.5])
    if function == "ndcg_at_k":
        options |= {
            "score_type": draw_from.choice(["binary", "raw", "exp"]),
            "discfun_type": draw_from.choice(["loge", "log2"]),
        }
    if draw_from.random() < 0.2:
        call["kinds"] = draw_from.choice([{"userID": "str"}, {"userID": "str", "itemID": "str"}, {"userID": "float64"}])
    if draw_from.random() < 0.1:
        call["names"] = {"userID": "u", "itemID": "i", "prediction": "p", "rating": "r"}
    return call


def _rating(draw_from: random.Random) -> dict[str, Any]:
    function = draw_from.choice(_RATING)
    kind = "labels" if function in {"auc", "logloss"} and draw_from.random() < 0.9 else "grades"
    users, items = draw_from.choice([1, 3]), draw_from.choice([2, 4, 8])
    predicted = draw_from.choice(["real", "real", "ties", "labels", "grades"])
    repeats = draw_from.random() < 0.1
    return {
        "function": function,
        "true": _frame(draw_from, users, items, "rating", kind, repeats=repeats),
        "pred": _frame(draw_from, users, items, "prediction", predicted, repeats=repeats),
        "options": {},
    }


def _top_k(draw_from: random.Random) -> dict[str, Any]:
    frame = _frame(draw_from, 4, 6, "rating", draw_from.choice(["grades", "ties", "gaps"]), repeats=True)
    call: dict[str, Any] = {"top": frame, "options": {"k": draw_from.choice([1, 2, 3, 10, 0, -1, None])}}
    if draw_from.random() < 0.3:
        call["kinds"] = {"userID": "str"}
    return call


def _lists(draw_from: random.Random) -> dict[str, Any]:
    users, items = draw_from.choice([2, 4]), draw_from.choice([4, 8])
    train = _frame(draw_from, users, items, "rating", "grades")
    seen = set(zip(train["userID"], train["itemID"], strict=True))
    unseen = [(user, item) for user in range(users + 1) for item in range(items + 1) if (user, item) not in seen]
    listed = draw_from.sample(unseen, draw_from.randrange(1, len(unseen)))
    if draw_from.random() < 0.15:
        listed += listed[:2]
    if draw_from.random() < 0.15:
        train = {name: [*column, *column[:2]] for name, column in train.items()}
    reco = {
        "userID": [user for user, _ in listed],
        "itemID": [item for _, item in listed],
        "relevance": [draw_from.choice([0, 1, 0.3]) for _ in listed],
    }
    if draw_from.random() < 0.3:
        return {"function": draw_from.choice(_CATALOGUE), "train": train, "reco": reco, "options": {}}
    call: dict[str, Any] = {"function": draw_from.choice(_LISTS), "train": train, "reco": reco, "options": {}}
    if draw_from.random() < 0.5:
        some = draw_from.sample(range(items + 1), draw_from.randrange(1, items + 2))
        vectors = [[round(draw_from.random(), 2) + 0.01 for _ in range(3)] for _ in some]
        call["features"] = {"itemID": some, "features": vectors}
        call["options"]["item_sim_measure"] = "item_feature_vector"
    if draw_from.random() < 0.4:
        call["options"]["col_relevance"] = "relevance"
    if draw_from.random() < 0.15:
        call["kinds"] = draw_from.choice([{"userID": "str"}, {"userID": "str", "itemID": "str"}])
    return call


def _faulty() -> list[dict[str, Any]]:
    return [*_faulty_ratings(), *_faulty_lists()]


def _faulty_ratings() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def add(function: str, true: Any = None, pred: Any = None, **options: Any) -> None:
        calls.append({"function": function, "true": true or _TRUE, "pred": pred or _PREDICTED, "options": options})

    for function in (*_RANKING, "rmse"):
        for name in ("userID", "itemID", "rating"):
            add(function, true={key: column for key, column in _TRUE.items() if key != name})
        for name in ("userID", "itemID", "prediction"):
            add(function, pred={key: column for key, column in _PREDICTED.items() if key != name})
        add(function, true={**_TRUE, "userID": ["1", "1", "2", "3"]})
        add(function, pred={**_PREDICTED, "itemID": [2.0, 3.0, 3.0, 1.0, 1.0]})
        add(function, true={**_TRUE, "prediction": [1, 2, 3, 4]})
        add(function, pred={**_PREDICTED, "rating": [1, 2, 3, 4, 5]})
    for function in _RANKING:
        add(function, relevancy_method="other")
        add(function, k=None)
        add(function, k=None, relevancy_method=None)
        add(function, k=0, relevancy_method=None)
        add(function, col_user="other")
        add(function, anything=3)
        add(function, true={**_TRUE, "rank": [1, 2, 3, 4]})
        add(function, pred={**_PREDICTED, "rank": [1, 2, 3, 4, 5]})
        add(function, pred={**_PREDICTED, "userID": [11, 12, 13, 14, 15]})
    add("precision_at_k", true=[1, 2])
    add("ndcg_at_k", score_type="other")
    add("ndcg_at_k", discfun_type="other")
    add("ndcg_at_k", true={**_TRUE, "rating": [-1, -2, 0, 1]}, score_type="exp")
    add("ndcg_at_k", true={**_TRUE, "rating": [0, 0, 0, 0]}, score_type="raw")
    add("ndcg_at_k", true={**_TRUE, "rating": [-1, 1, 0, 2]}, score_type="raw")
    for function in _RATING:
        add(function, true={**_TRUE, "rating": [None, None, 1, 2]})
        add(function, pred={**_PREDICTED, "userID": [11, 12, 13, 14, 15]})
        add(function, pred={**_PREDICTED, "prediction": ["a", "b", "c", "d", "e"]})
        add(function, true={**_TRUE, "rating": [1, 1, 1, 1]})
        add(function, true={**_TRUE, "rating": [1, 2, 2, 1]})
        add(function, true={**_TRUE, "rating": [1, -1, 1, 1]})
    return calls


def _faulty_lists() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def add(function: str, *, features: Any = None, **changes: Any) -> None:
        train, reco = changes.pop("train", _TRAIN), changes.pop("reco", _RECO)
        extra = {} if features is None else {"features": features}
        calls.append({"function": function, "train": train, "reco": reco, "options": changes} | extra)

    for function in (*_LISTS, *_CATALOGUE):
        for name in ("userID", "itemID"):
            add(function, train={key: column for key, column in _TRAIN.items() if key != name})
            add(function, reco={key: column for key, column in _RECO.items() if key != name})
        add(function, train={"userID": ["1", "1", "2", "2", "3"], "itemID": _TRAIN["itemID"]})
        add(function, reco={**_RECO, "itemID": [1, 3, 3, 2, 1, 4]})
        add(function, reco={name: column[:0] for name, column in _RECO.items()})
        add(function, reco={**_RECO, "userID": [9] * 6, "itemID": [11, 12, 13, 14, 15, 16]})
    by_features = {"item_sim_measure": "item_feature_vector"}
    for function in _LISTS:
        add(function, item_sim_measure="other")
        add(function, **by_features)
        add(function, features={"itemID": [1, 2]}, **by_features)
        add(function, features=_FEATURES, **by_features)
        add(function, features=_FEATURES, col_sim="other", **by_features)
        add(function, features={**_FEATURES, "features": [[0, 0], [1, 1], [0, 1], [0.5, 2]]}, **by_features)
        add(function, features={**_FEATURES, "f": _FEATURES["features"]}, col_item_features="f", **by_features)
        add(function, col_relevance="other")
        add(function, col_sim="other")
    return calls


def answer(module: Any, call: dict[str, Any]) -> Any:
    """Make a call. Of the warnings, those that pandas gives about the library's code are left out."""
    with warnings.catch_warnings():
        for name in ("SettingWithCopyWarning", "FutureWarning", "ChainedAssignmentError", "RuntimeWarning"):
            warnings.filterwarnings("ignore", category=_category(name))
        return _plain(_called(module, call))


def _category(name: str) -> type[Warning]:
    import pandas as pd

    builtin = {"FutureWarning": FutureWarning, "RuntimeWarning": RuntimeWarning}
    found: type[Warning] = builtin[name] if name in builtin else getattr(pd.errors, name, FutureWarning)
    return found


def _called(module: Any, call: dict[str, Any]) -> Any:
    options = dict(call["options"])
    names, kinds = call.get("names", {}), call.get("kinds", {})
    if "top" in call:
        frame = _pandas(call["top"], kinds)
        top = module.get_top_k_items(frame, **options)
        return [top, list(frame.columns), top is frame]
    if "true" in call:
        columns = {"userID": "col_user", "itemID": "col_item", "prediction": "col_prediction", "rating": "col_rating"}
        options |= {columns[name]: other for name, other in names.items()}
        frames = [_pandas(call[side], kinds, names) for side in ("true", "pred")]
    else:
        frames = [_pandas(call[side], kinds) for side in ("train", "reco")]
        if "features" in call:
            options["item_feature_df"] = _features(call["features"], kinds)
    return getattr(module, call["function"])(*frames, **options)


def _pandas(columns: Any, kinds: dict[str, str], names: dict[str, str] | None = None) -> Any:
    import pandas as pd

    if not isinstance(columns, dict):
        return columns
    frame = pd.DataFrame({name: _numbers(column) for name, column in columns.items()})
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame}).rename(columns=names or {})


def _numbers(column: list[Any]) -> list[Any]:
    return [float("nan") if value is None else value for value in column]


def _features(columns: dict[str, list[Any]], kinds: dict[str, str]) -> Any:
    import numpy as np

    frame = _pandas(columns, {name: kind for name, kind in kinds.items() if name == "itemID"})
    if "features" in frame:
        frame["features"] = [np.array(vector, float) for vector in columns["features"]]
    return frame


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return {str(name): value[name].tolist() for name in value.columns}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _ratings(users: int, items: int, of_user: int, depth: int, digits: int = 17) -> tuple[Any, Any]:
    import numpy as np
    import pandas as pd

    generator = np.random.default_rng(1)
    rated = [generator.choice(items, of_user, replace=False) for _ in range(users)]
    true = pd.DataFrame({"userID": np.repeat(np.arange(users), of_user), "itemID": np.concatenate(rated)})
    true["rating"] = generator.integers(1, 6, len(true))
    listed = [generator.choice(items, depth, replace=False) for _ in range(users)]
    predicted = pd.DataFrame({"userID": np.repeat(np.arange(users), depth), "itemID": np.concatenate(listed)})
    predicted["prediction"] = generator.random(len(predicted)).round(digits)
    return true, predicted


def _four_metrics(
    users: int, items: int, of_user: int, depth: int, digits: int = 17, *, is_ordered: bool = True
) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        true, predicted = _ratings(users, items, of_user, depth, digits)
        if not is_ordered:
            true, predicted = (frame.sample(frac=1, random_state=1) for frame in (true, predicted))
        functions = [getattr(module, name) for name in ("map_at_k", "ndcg_at_k", "precision_at_k", "recall_at_k")]
        # Two frames in turn: the library keeps the answer to the last call with equal frames.
        lists = cycle([predicted, predicted.assign(prediction=1 - predicted["prediction"])])

        def call() -> object:
            of_call = next(lists)
            return [function(true, of_call, k=10) for function in functions]

        return call

    return prepare


def _rating_metrics(module: Any) -> Callable[[], object]:
    true, predicted = _ratings(200, 1682, 27, 1682)
    functions = [getattr(module, name) for name in ("rmse", "mae", "rsquared", "exp_var")]
    return lambda: [function(true, predicted) for function in functions]


def _list_metrics(*names: str, users: int = 943) -> Callable[[Any], Callable[[], object]]:
    def prepare(module: Any) -> Callable[[], object]:
        import pandas as pd

        train, reco = _ratings(users, 1682, 60, 10)
        seen = pd.MultiIndex.from_frame(train[["userID", "itemID"]])
        reco = reco[~pd.MultiIndex.from_frame(reco[["userID", "itemID"]]).isin(seen)].reset_index(drop=True)
        functions = [getattr(module, name) for name in names]

        def call() -> object:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # A frame of its own each time: the library keeps the answer to the last call with equal frames.
                return [function(train, reco.sample(frac=1)) for function in functions]

        return call

    return prepare


TYPICAL = {
    "943 users x 10 items, map, ndcg, precision and recall at 10": _four_metrics(943, 1682, 27, 10),
    "200 users x 1,682 items, map, ndcg, precision and recall at 10": _four_metrics(200, 1682, 27, 1682),
    "1,000 users x 100 items, map, ndcg, precision and recall at 10": _four_metrics(1000, 3706, 41, 100),
    "943 users x 10 items in no order, map, ndcg, precision and recall at 10": _four_metrics(
        943, 1682, 27, 10, is_ordered=False
    ),
    "1,000 users x 100 items, predictions of one decimal, map, ndcg, precision and recall at 10": _four_metrics(
        1000, 3706, 41, 100, digits=1
    ),
    "1 user x 10 items, map, ndcg, precision and recall at 10": _four_metrics(1, 1682, 27, 10),
    "200 users x 1,682 items, rmse, mae, rsquared and exp_var": _rating_metrics,
    "943 users x 10 items, novelty and coverage": _list_metrics(
        "novelty", "catalog_coverage", "distributional_coverage"
    ),
    "200 users x 10 items, diversity and serendipity": _list_metrics("diversity", "serendipity", users=200),
}
