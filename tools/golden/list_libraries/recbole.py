"""RecBole: a matrix of items, the same number for each user, counts of items, and the number of items with padding."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from golden.list_cases import ListCase, ListKnobs

if TYPE_CHECKING:
    from golden.list_record import ListOutput

KNOBS = ListKnobs(short_list=False, foreign_item=False)
CATALOGUE = "padded"
DIFFERS: dict[str, str] = {}
TOLERANCE = 1e-12

OF_LISTS = {"coverage": "ItemCoverage", "gini": "GiniIndex", "entropy": "ShannonEntropy"}
# exactk's metric, its rules, the class, tail_ratio
OF_USERS = (
    ("arp", "", "AveragePopularity", None),
    ("aplt", "head=0.9", "TailPercentage", None),
    ("aplt", "head=0.5", "TailPercentage", 0.5),
    ("aplt", "head=2,tail=at_most", "TailPercentage", 2),
)
UNROUNDED = 15
DECIMALS = (("", 4), ("decimals=none", UNROUNDED))  # the default, and as many as it takes


def _key(metric: str, k: int | str, *rules: str) -> str:
    parts = ",".join(rule for rule in rules if rule)
    return f"{metric}@{k}({parts})" if parts else f"{metric}@{k}"


CALLS = {f"{metric}@k": name for metric, name in OF_LISTS.items()} | {
    _key(metric, "k", rules): name if tail is None else f"{name}, tail_ratio {tail}"
    for metric, rules, name, tail in OF_USERS
}


def evaluate(case: ListCase) -> dict[str, ListOutput]:
    """Evaluate by a Collector and an Evaluator, and each user by a further one."""
    users = list(case.lists)
    outputs: dict[str, ListOutput] = {}
    for metric, name in OF_LISTS.items():
        for rule, decimals in DECIMALS:
            values = _values(case, users, name, None, decimals)
            outputs |= {_key(metric, k, rule): (value, None) for k, value in values.items()}
    for metric, rules, name, tail in OF_USERS:
        alone = {user: _values(case, [user], name, tail, UNROUNDED) for user in users}
        for rule, decimals in DECIMALS:
            values = _values(case, users, name, tail, decimals)
            outputs |= {
                _key(metric, k, rules, rule): (value, {user: of_user[k] for user, of_user in alone.items()})
                for k, value in values.items()
            }
    return outputs


def _values(case: ListCase, users: list[int], name: str, tail: float | None, decimals: int) -> dict[int, float]:
    """Return the values at each cutoff."""
    import torch
    from recbole.evaluator import Collector, Evaluator

    config: dict[str, Any] = {
        "metrics": [name],
        "topk": case.cutoffs,
        "metric_decimal_place": decimals,
        "eval_args": {"mode": "full"},
        "device": "cpu",
        "ITEM_ID_FIELD": "item_id",
        "USER_ID_FIELD": "user_id",
        "tail_ratio": tail,
    }
    # As a Dataset says it: item 0 is the padding, which counts.
    dataset = SimpleNamespace(
        num=lambda _: len(case.catalogue) + 1, item_counter=Counter(item for _, item in case.train), user_counter={}
    )
    scores = torch.full((len(users), max(case.catalogue) + 1), -torch.inf, dtype=torch.float64)
    for row, user in enumerate(users):
        for rank, item in enumerate(case.lists[user]):
            scores[row, item] = -rank
    collector = Collector(config)
    collector.data_collect(SimpleNamespace(dataset=dataset))
    collector.eval_batch_collect(scores, None, torch.tensor([0]), torch.tensor([0]))
    items = collector.data_struct.get("rec.items")
    # Its numbers, beside the matrix, are no tensors, which get_data_struct expects.
    struct = collector.data_struct
    struct.set("rec.items", items.cpu())
    found = Evaluator(config).evaluate(struct)
    return {k: float(found[f"{name.lower()}@{k}"]) for k in case.cutoffs}
