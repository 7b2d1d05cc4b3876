"""Evaluations drawn by number: users, what they ask, and containers that hold them."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import exactk
from exactk._plan.metrics import evaluation_metrics, metrics as metric_registry
from oracle import MOST_ORDERS, OF_ALL_LISTS, PARAMETERS, STRICT, WEIGHTED, Asked, User
from oracle_containers import BLOCK_FORMS, DENSE_FORMS, ITEMS, KEYED_MATRICES, PREDICTION_FORMS, TRUTH_FORMS, Form
from oracle_items import Catalogue, Item

DEFAULTS: dict[str, Any] = {
    "precision_over": "cutoff",
    "recall_over": "relevant",
    "weight": "one",
    "ap_over": "min_cutoff_relevant",
    "ideal_over": "min_cutoff_relevant",
    "gauc_over": "impressions",
    "recall_rank": "round",
    "rbp_over": "one",
    "residual_tail": "always",
    "rbo_over": "extrapolated",
    "gain": "linear",
    "compatibility_over": "ideal",
    "popularity": "users",
    "novelty_over": "users",
    "arp_over": "one",
    "unseen_items": "rare",
    "foreign_items": "raise",
    "list_mean_over": "list",
    "tail": "head_share",
    "distance": "cosine",
    "ild_over": "pairs",
    "missing_features": "raise",
    "entropy_base": "2",
    "discount": "log2",
    "discount_base": 2.0,
    "discount_power": 1.0,
    "discount_persistence": 0.85,
    "discount_table": (),
    "average": "macro",
    "users": "truth",
    "empty_truth": "skip",
    "empty_list": "compute",
    "missing_list": "compute",
    "undefined": "zero",
    "duplicate_items": "raise",
    "duplicate_truth": "raise",
    "ties": "lowest_id",
    "nan": "raise",
    "negative_grades": "raise",
    "unjudged": "keep",
    "negative_infinity": "rank",
    "rank_gaps": "close",
    "min_grade": None,
    "gain_table": (),
    "gain_range": (),
    "decimals": None,
    "score_dtype": "native",
}
"""The standard convention, as the documentation has it."""

CHOICES: dict[str, list[Any]] = {
    "precision_over": ["cutoff", "list", "min_cutoff_relevant", "min_list_relevant"],
    "recall_over": ["relevant", "min_cutoff_relevant", "min_list_relevant"],
    "weight": ["one", "values", "self_normalized"],
    "gauc_over": ["impressions", "positives"],
    "recall_rank": ["round", "plus_0.9"],
    "rbp_over": ["one", "highest_gain"],
    "residual_tail": ["always", "if_unjudged"],
    "ap_over": ["cutoff", "list", "relevant", "min_cutoff_relevant", "min_list_relevant", "hits"],
    "ideal_over": ["cutoff", "min_cutoff_relevant", "min_list_relevant", "all_judged"],
    "gain": ["linear", "binary", "exp2", "scaled"],
    "gain_range": [(0.0, 3.0), (1.0, 2.0), (0.5, 2.5)],
    "compatibility_over": ["ideal", "weights"],
    "popularity": ["users", "interactions"],
    "novelty_over": ["users", "interactions"],
    "arp_over": ["one", "users", "interactions", "max"],
    "unseen_items": ["rare", "zero", "skip", "least_popular", "raise"],
    "foreign_items": ["raise", "ignore", "count"],
    "list_mean_over": ["list", "cutoff"],
    "tail": ["head_share", "lowest_share", "at_most"],
    "distance": ["cosine", "dot", "euclidean", "hamming", "jaccard", "matrix"],
    "ild_over": ["pairs", "list", "pairs_or_one"],
    "missing_features": ["raise", "skip"],
    "entropy_base": ["2", "e"],
    "discount": ["log2", "log2_floored", "log", "log_floored", "inverse", "power", "geometric", "none", "table"],
    "discount_base": [2.0, 1.5, 10.0],
    "discount_power": [1.0, 0.0, 0.37, 2.0],
    "discount_persistence": [0.85, 0.5, 0.999, 1.0],
    "discount_table": [(1.0,), (1.0, 0.5), (0.75, 0.75, 0.1, 0.0)],
    "users": ["truth", "both", "predictions", "union"],
    "empty_truth": ["compute", "skip", "zero", "one"],
    "empty_list": ["compute", "skip", "zero", "one"],
    "missing_list": ["compute", "skip", "zero", "one"],
    "undefined": ["zero", "one", "nan", "skip"],
    "duplicate_items": ["first", "count", "collapse"],
    "duplicate_truth": ["first", "max", "count"],
    "ties": ["lowest_id", "highest_id", "input_order", "optimistic", "pessimistic", "shared", "expected", "raise"],
    "nan": ["raise", "last"],
    "negative_grades": ["raise", "unjudged", "zero_gain"],
    "unjudged": ["keep", "remove"],
    "min_grade": [None, "any", -1.0, 0.0, 0.5, 1.0, 2.0],
    "decimals": [None, 3],
    "score_dtype": ["native", "float32"],
    "negative_infinity": ["rank", "exclude"],
    "rank_gaps": ["close", "keep"],
}

EXPECTED = {"precision", "recall", "fbeta", "f1", "hit_rate", "average_precision", "ndcg", "dcg", "reciprocal_rank"}
EXPECTED |= {
    "sdcg",
    "insq",
    "normalized_gain",
    "q_measure",
    "r_ndcg",
    "r_precision",
    "set_average_precision",
    "num_hits",
    "auc",
    "gauc",
    "label_ranking_loss",
}
CLOSE_SCORES = [1.0, 1.0 + 2**-40, 1.0 - 2**-40, 2.0]  # equal in single precision, except for the last
RANKING_FIELDS = ("score_dtype", "negative_infinity", "rank_gaps", "duplicate_items")
# Those that read what users have in train have an oracle of their own, `history_oracle.py`.
METRICS = sorted(name for name, info in evaluation_metrics.items() if not info.of_collection and not info.reads_history)
SHARED = {"recall", "precision", "ndcg", "average_precision", "dcg", "rbp", "num_hits"}
RESTRICTED = SHARED | {"hit_rate", "reciprocal_rank"}
OF_ITEMS = [name for name in METRICS if metric_registry[name].reads_list]
ITEM_FIELDS = (
    *("popularity", "novelty_over", "arp_over", "unseen_items", "list_mean_over", "tail"),
    *("distance", "ild_over", "missing_features", "entropy_base"),
)


@dataclass(frozen=True)
class Case:
    """One call, and what it means."""

    users: dict[Any, User]
    metrics: list[str]
    asked: list[Asked]
    convention: exactk.Convention
    form: Form
    catalogue: Catalogue

    def __repr__(self) -> str:
        users = "\n".join(f"  {key!r}: {user}" for key, user in self.users.items())
        return f"{self.form}\n{self.catalogue}\n{self.metrics}\n{self.convention}\n{users}"

    def evaluate(self, users: Mapping[Any, User], evaluate: Callable[..., Any] = exactk.evaluate) -> exactk.Report:
        truth, predictions, options = self.form.build(users)
        infos = [metric_registry[asked.metric] for asked in self.asked]
        has_groups = any(asked.group is not None for asked in self.asked)
        if has_groups or any(info.walks_list for info in infos) or any(map(reads_values, self.asked)):
            options["items"] = self._items()
        if any(info.reads_base for info in infos):
            options["base_predictions"] = self.form.base_predictions(users)
        report = evaluate(truth, predictions, self.metrics, convention=self.convention, per_user=True, **options)
        assert isinstance(report, exactk.Report)
        return report

    def _items(self) -> Any:
        """Return the catalogue, or the training data alone."""
        train = {f"reader {number}": list(row) for number, row in enumerate(self.catalogue.train)}
        given, features = self.catalogue.given, {item: list(one) for item, one in self.catalogue.features.items()}
        values = self.catalogue.values if any(map(reads_values, self.asked)) else None
        has_groups = any(asked.group is not None for asked in self.asked)
        groups = (self.catalogue.item_groups or None) if has_groups else None
        if given is None and not features and values is None and groups is None:
            return train
        catalogue = None if given is None else sorted(given, key=str, reverse=True)
        return exactk.Items(catalogue, train=train, features=features or None, item_groups=groups, values=values)

    def halves(self) -> Iterator[dict[Any, User]]:
        """Yield every other user, and then the rest."""
        keys = list(self.users)
        for half in (keys[::2], keys[1::2]):
            yield {key: self.users[key] for key in half}


def reads_values(asked: Asked) -> bool:
    """Return whether items count by their values."""
    return asked.metric in WEIGHTED and bool(asked.rules["weight"] != "one")


def draw_case(number: int) -> Case:
    """Return the case of a number, always the same."""
    rng = random.Random(number)  # noqa: S311 - drawn, and not secret
    is_keyed, is_scored = rng.random() < 0.6, rng.random() < 0.5
    rules, overrides = _draw_rules(rng, is_scored=is_scored)
    users = _draw_users(rng, is_keyed=is_keyed, is_scored=is_scored, rules=rules)
    form = _draw_form(rng, number, users, rules["ties"], is_keyed=is_keyed, is_scored=is_scored)
    if form.truth in {"padded", "multi-hot"}:  # without grades
        rules["min_grade"], rules["gain"] = None, "binary"
    users = {key: form.held(user, key) for key, user in users.items()}
    if form.has_ranks:
        users = {key: _with_ranks(user, rng, rules) for key, user in users.items()}
    if is_keyed:
        users = {key: user for key, user in users.items() if user.truth is not None or user.has_list}
    if not form.has_weights:
        users = {key: replace(user, weight=1.0) for key, user in users.items()}
    has_repeats = rules["duplicate_items"] != "raise" or number % 9 == 0
    users = _with_base(random.Random(f"base of {number}"), users, form, has_repeats=has_repeats)  # noqa: S311 - likewise
    has_many_orders = any(_has_many_orders(user) for user in users.values())
    if has_many_orders and rules["ties"] == "expected":
        rules["ties"] = "lowest_id"
    catalogue = _draw_catalogue(rng, sorted(form.columns, key=str))
    has_scores = any(user.scores for user in users.values())  # without any, containers may not tell scores from lists
    may_refuse_ties = has_scores or not is_scored
    strings, asked = _draw_metrics(
        rng, rules, overrides, has_many_orders=has_many_orders, may_refuse_ties=may_refuse_ties
    )
    if not form.has_weights:
        of_lists = _draw_of_lists(random.Random(f"lists of {number}"), rules)  # noqa: S311 - likewise
        strings, asked = [*strings, *of_lists], [*asked, *of_lists.values()]
    rng = random.Random(f"groups of {number}")  # noqa: S311 - likewise
    catalogue = replace(catalogue, item_groups=_draw_item_groups(rng, catalogue))
    pairs = [
        _of_group(rng, string, one, catalogue, form.columns)
        if may_refuse_ties or one.rules["ties"] in {*STRICT, "raise"}
        else (string, one)
        for string, one in zip(strings, asked, strict=True)
    ]
    strings, asked = [string for string, _ in pairs], [replace(one, catalogue=catalogue) for _, one in pairs]
    changes = {name: value for name, value in rules.items() if value != DEFAULTS[name]}
    convention = exactk.conventions["standard"].replace(**changes, overrides=overrides)
    return Case(users, strings, asked, convention, form, catalogue)


def _draw_catalogue(rng: random.Random, items: Sequence[Item]) -> Catalogue:
    """Draw lists of train, in which some items are frequent, and perhaps a catalogue."""
    frequent = rng.sample(items, 3)
    train = [rng.choices([*items, *frequent * 3], k=rng.randrange(7)) for _ in range(rng.randrange(1, 7))]
    train = [*train, [rng.choice(items)]]
    train = [list(items), *train] if rng.random() < 0.3 else train  # so that every item may have a value
    given = frozenset(train[-1]) | frozenset(rng.sample(items, rng.randrange(len(items) + 1)))
    catalogue = Catalogue(None if rng.random() < 0.3 else given, train)
    share = rng.choice([0.8, 1.0, 1.0, 1.0])
    values = {item: rng.choice([0.0, 0.1, 0.7, 1.0, 3.0, 1e15]) for item in catalogue.items if rng.random() < share}
    return replace(catalogue, values=values, features=_draw_features(rng, catalogue.items))


def _draw_item_groups(rng: random.Random, catalogue: Catalogue) -> dict[Item, str]:
    """Draw the groups of most items; of none where tags are the groups."""
    has_tags = any(isinstance(one, frozenset) and one for one in catalogue.features.values())
    if has_tags and rng.random() < 0.5:
        return {}
    groups = {item: rng.choice(["head", "a tail, or so"]) for item in catalogue.items if rng.random() < 0.8}
    return groups or {catalogue.items[0]: "head"}


def _of_group(
    rng: random.Random, string: str, asked: Asked, catalogue: Catalogue, items: Sequence[Item]
) -> tuple[str, Asked]:
    """Return the metric of a group of items in place of some metrics."""
    is_share = rng.random() < 0.5
    if asked.metric not in (SHARED if is_share else RESTRICTED) or rng.random() < 0.4:
        return string, asked
    if reads_values(asked) and (is_share or asked.metric == "precision"):  # which are refused
        return string, asked
    labels = catalogue.item_groups or catalogue.features
    label = rng.choice([*sorted({label for one in labels.values() for label in _labels(one)}), "none"])
    members = {item for item in items if label in _labels(labels.get(item, ()))}
    if label == "none":
        members = {item for item in items if not _labels(labels.get(item, ()))}
    rules = {**asked.rules}
    if asked.metric == "precision" and not is_share:
        if "undefined=" in string:
            return string, asked
        rules["undefined"] = "skip"
    text = f'"{label}"' if "," in label else label
    setting = f"item_group={text}" + (",item_group_value=share" if is_share else "")
    string = f"{string[:-1]},{setting})" if string.endswith(")") else f"{string}({setting})"
    return string, replace(asked, rules=rules, group=frozenset(members), is_share=is_share)


def _labels(groups: Any) -> set[str]:
    return {groups} if isinstance(groups, str) else set(groups)


def _draw_features(rng: random.Random, items: Sequence[Item]) -> dict[Item, Any]:
    """Draw vectors, tags or distances of the items, or of most of them. A graph has all of these."""
    kind = rng.choice(["graph", "graph", "matrix", "vectors", "tags", "none"])
    listed = [item for item in items if rng.random() < 0.9]
    if rng.random() < 0.7:
        listed = list(items)
    rng.shuffle(listed)
    match kind:
        case "none":
            return {}
        case "tags":
            return {item: frozenset(rng.sample("abcde", rng.randrange(4))) for item in listed}
        case "vectors":
            width, numbers = rng.choice([1, 2, 9]), [-2.0, -0.75, 0.0, 0.25, 1.0, 1.5]
            return {item: tuple(rng.choices(numbers, k=width)) for item in listed}
    numbers = [0.0, 1.0] if kind == "graph" else [0.5, 1.0, 1.25]
    distances = {frozenset(pair): rng.choice(numbers) for pair in combinations(listed, 2)}
    return {item: tuple(distances.get(frozenset({item, other}), 0.0) for other in listed) for item in listed}


def _with_ranks(user: User, rng: random.Random, rules: Mapping[str, Any]) -> User:
    """Return the user with ranks that may leave out some; from 0, if they give the order alone."""
    if user.ranking is None:
        return user
    first = 0 if rules["rank_gaps"] == "close" and rng.random() < 0.3 else 1
    size = len(user.ranking)
    ranks = (
        range(first, first + size) if rng.random() < 0.5 else sorted(rng.sample(range(first, first + 2 * size), size))
    )
    return replace(user, given_ranks=tuple(ranks))


def _with_base(rng: random.Random, users: Mapping[Any, User], form: Form, *, has_repeats: bool) -> dict[Any, User]:
    """Return the users with base predictions: lists, or items with scores, of most of them."""
    items, is_scored = _all_items(users), rng.random() < 0.4
    with_base = {}
    for key, user in users.items():
        row = rng.choices(items, k=rng.randrange(7)) if has_repeats else rng.sample(items, rng.randrange(7))
        if form.candidates is not None:
            row = [item for item in row if item in form.candidates[key]]
        if rng.random() < 0.2:
            with_base[key] = user
        elif is_scored:
            scores = [(item, rng.choice([-math.inf, -1.0, 0.0, 0.0, 1.0])) for item in dict.fromkeys(row)]
            with_base[key] = replace(user, base_scores=scores)
        else:
            with_base[key] = replace(user, base_ranking=row)
    return with_base


def _draw_form(
    rng: random.Random, number: int, users: Mapping[Any, User], ties: str, *, is_keyed: bool, is_scored: bool
) -> Form:
    truth, predictions = rng.choice(TRUTH_FORMS[is_keyed]), rng.choice(PREDICTION_FORMS[is_keyed, is_scored])
    columns = _all_items(users)
    if predictions in KEYED_MATRICES and not (predictions == "keyed embeddings" and ties == "input_order"):
        rng.shuffle(columns)
    candidates: dict[Any, set[Item]] | None = None
    if predictions in DENSE_FORMS and rng.random() < 0.4:
        candidates = {key: set(rng.sample(columns, rng.randrange(1, ITEMS))) for key in users}
    in_blocks = candidates is None and predictions in BLOCK_FORMS and truth != "csr" and rng.random() < 0.2
    has_weights, has_groups = rng.random() < 0.5, rng.random() < 0.4
    has_exclude = any(user.excluded for user in users.values())
    options = has_weights, has_groups, has_exclude
    return Form(number, truth, predictions, is_keyed, candidates, in_blocks, *options, tuple(columns))


def _all_items(users: Mapping[Any, User]) -> list[Item]:
    """Return all items that a case can have, of the kind that its users have."""
    pairs = [pair for user in users.values() for pair in (*(user.truth or ()), *(user.scores or ()))]
    items = {item for item, _ in pairs}.union(*((*user.excluded, *(user.ranking or ())) for user in users.values()))
    return [f"item {number}" if any(isinstance(item, str) for item in items) else number for number in range(ITEMS)]


def _draw_rules(rng: random.Random, *, is_scored: bool) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    rules = dict(DEFAULTS)
    for name in rng.sample(sorted(CHOICES), rng.choice([0, 1, 2, 4, 8])):
        rules[name] = rng.choice(CHOICES[name])
    if rules["discount"] == "table":
        rules["discount_table"] = rng.choice(CHOICES["discount_table"])
    if rules["gain"] == "scaled":
        rules["gain_range"] = rng.choice(CHOICES["gain_range"])
    if is_scored and rng.random() < 0.5:
        rules["ties"] = rng.choice(CHOICES["ties"])
    rules["foreign_items"] = rng.choice(["raise", "ignore", "count", "count"])
    overrides: dict[str, dict[str, Any]] = {}
    for metric in rng.sample(METRICS, rng.choice([0, 0, 3, 8])):
        names = rng.sample(
            ["users", "empty_truth", "empty_list", "missing_list", "undefined", "precision_over", "ap_over"], 2
        )
        overrides[metric] = {name: rng.choice(CHOICES[name]) for name in names}
    return rules, overrides


def _draw_item_fields(
    rng: random.Random, name: str, rules: Mapping[str, Any], *, may_refuse_ties: bool
) -> dict[str, Any]:
    """Return fields that metrics of the items read."""
    if name in WEIGHTED and rng.random() < 0.3:
        return {"weight": rng.choice(["values", "values", "self_normalized"])}
    if name not in OF_ITEMS:
        return {}
    own_fields = metric_registry[name].own_fields
    choices = {field: rng.choice(CHOICES[field]) for field in ITEM_FIELDS if rng.random() < 0.3 and field in own_fields}
    if rules["ties"] not in STRICT and not (may_refuse_ties and rng.random() < 0.2):
        choices["ties"] = "lowest_id"
    return choices


def _draw_metrics(
    rng: random.Random,
    rules: dict[str, Any],
    overrides: Mapping[str, Mapping[str, Any]],
    *,
    has_many_orders: bool,
    may_refuse_ties: bool,
) -> tuple[list[str], list[Asked]]:
    strings, asked = [], []
    names = [
        name for name in METRICS if name not in {"auc", "gauc", "label_ranking_loss"} or not has_many_orders
    ]  # whose ties are always halves
    for name in rng.sample(names, rng.choice([1, 2, 4])):
        info = metric_registry[name]
        cutoff = None if info.pairwise or rng.random() < 0.3 else rng.choice([1, 2, 3, 4, 6, 10])
        usual = {"average": "micro", "undefined": "skip"} if name == "gauc" else {}
        choices: dict[str, Any] = {"gauc_over": rng.choice(CHOICES["gauc_over"])} if name == "gauc" else {}
        if rng.random() < 0.2:
            averages = {"geometric": True, "micro": info.micro, "macro": True}
            choices["average"] = rng.choice([average for average, is_legal in averages.items() if is_legal])
        for field in ("users", "empty_truth", "missing_list", "undefined", "unjudged", *RANKING_FIELDS):
            if rng.random() < (0.05 if field in RANKING_FIELDS else 0.15):
                choices[field] = rng.choice(CHOICES[field])
        choices |= _draw_item_fields(rng, name, rules, may_refuse_ties=may_refuse_ties)
        if info.gains_to_one and rules["gain"] not in {"binary", "scaled"}:
            choices |= {"gain": "scaled", "gain_range": rng.choice(CHOICES["gain_range"])}
        if info.expects_unit_gains and rng.random() < 0.5:
            choices["gain"] = "binary"
        of_metric = {**rules, **usual, **overrides.get(name, {}), **choices}
        if of_metric["ties"] == "expected" and name not in EXPECTED:
            choices["ties"] = "lowest_id" if name in OF_ITEMS else "pessimistic"
        arguments = [
            f"{field}={list(value) if isinstance(value, tuple) else value}" for field, value in choices.items()
        ]
        number = 0.0
        if info.parameter is not None:
            parameter = PARAMETERS[name]
            number = parameter.standard or 0.0
            if parameter.standard is None or rng.random() < 0.5:
                number = rng.choice(parameter.numbers)
                arguments.insert(0, f"{parameter.name}={number}")
        text = name + (f"@{cutoff}" if cutoff else "") + (f"({','.join(arguments)})" if arguments else "")
        strings.append(text)
        asked.append(Asked(name, cutoff, number, {**of_metric, **choices}))
    return strings, asked


def _draw_of_lists(rng: random.Random, rules: Mapping[str, Any]) -> dict[str, Asked]:
    """Draw metrics of all lists together, by their strings."""
    drawn = {}
    for name in rng.sample(OF_ALL_LISTS, rng.choice([0, 0, 1, 3])):
        cutoff = rng.choice([1 if name == "exposure_gini" else None, 1, 2, 3, 4, 6])
        choices = {field: rng.choice(CHOICES[field]) for field in ("undefined", "users") if rng.random() < 0.2}
        if rules["ties"] not in STRICT:
            choices["ties"] = "lowest_id"
        if rules["foreign_items"] == "count" and name in {"coverage", "exposure_gini", "gini"}:
            choices["foreign_items"] = "ignore"
        if rules["duplicate_items"] == "count" and name in {"item_recall", "personalization"}:
            choices["duplicate_items"] = "first"
        choices["list_users"] = rng.choice(["lists", "users"])
        text = name + (f"@{cutoff}" if cutoff else "")
        text += f"({','.join(f'{field}={value}' for field, value in choices.items())})"
        drawn[text] = Asked(name, cutoff, 0.0, {**rules, **choices, "average": "macro"})
    return drawn


def _draw_users(rng: random.Random, *, is_keyed: bool, is_scored: bool, rules: dict[str, Any]) -> dict[Any, User]:
    keys: list[Any] = list(range(rng.randrange(7)))
    item_of: Callable[[int], Item] = int
    if is_keyed:
        keys = (
            [f"user {key}" if rng.random() < 0.5 else f"ü{key}" for key in keys]
            if rng.random() < 0.5
            else [7 * key + 3 for key in keys]
        )
        if rng.random() < 0.5:
            item_of = "item {}".format
    if rules["min_grade"] not in {None, "any"} and rng.random() < 0.2:
        rules["gain"] = "exp2_shifted"
    has_repeats = rng.random() < 0.15
    if has_repeats and rules["duplicate_items"] == rules["duplicate_truth"] == "raise" and rng.random() < 0.8:
        rules["duplicate_items"], rules["duplicate_truth"] = (
            rng.choice(CHOICES["duplicate_items"]),
            rng.choice(["first", "max", "count"]),
        )
    grades = rng.choice([[1.0], [0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 1.0, 1.5, 2.5], [-2.0, -1.0, 0.0, 1.0, 3.0]])
    scores = rng.choice(
        [[0.0, 1.0], [0.25, 0.5, 0.75, 1.0, 1.25], [-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf], CLOSE_SCORES]
    )
    if rules["nan"] == "last" and rng.random() < 0.3:
        scores = [*scores, math.nan]
    if grades[0] < 0 and rng.random() < 0.7:
        rules["negative_grades"] = rng.choice(["unjudged", "zero_gain"])
    excludes = rng.random() < 0.3

    def row(longest: int) -> list[Item]:
        size = rng.randrange(longest + 1)
        numbers = rng.choices(range(ITEMS), k=size) if has_repeats else rng.sample(range(ITEMS), size)
        return [item_of(number) for number in numbers]

    users = {}
    for key in keys:
        truth = [(item, rng.choice(grades)) for item in row(5)] if rng.random() < 0.88 else None
        listed = row(6) if rng.random() < 0.88 else None
        excluded = frozenset(row(3)) if excludes else frozenset()
        pairs = None if listed is None else [(item, rng.choice(scores)) for item in listed]
        users[key] = User(
            truth,
            None if is_scored else listed,
            None,
            pairs if is_scored else None,
            None,
            excluded,
            rng.choice([0.0, 0.5, 1.0, 1.0, 2.5, 1e10]),
            rng.choice("ab"),
        )
    return users


def _has_many_orders(user: User) -> bool:
    """Return whether the orders of the user's ties are too many to try, also where scores are compared as float32."""
    sizes = Counter("NaN" if math.isnan(score) else float(np.float32(score)) + 0.0 for _, score in user.scores or ())
    return math.prod(map(math.factorial, sizes.values())) > MOST_ORDERS
