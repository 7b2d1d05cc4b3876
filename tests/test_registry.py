"""A metric is registered once: in the core's list. Whatever else must know it is checked here."""

from __future__ import annotations

import re
from typing import Any

import pytest

import exactk
from exactk._metric_pages import text_page
from exactk._plan.metrics import metrics
from exactk.reference import all_lists
from strategies import OF_COLLECTION

RANGES = dict.fromkeys(("kendall_tau", "accuracy", "mcc"), "-1 to 1")
RANGES |= dict.fromkeys(("num_hits", "num_recommended", "coverage_error"), "0 to k")


def test_pages_have_a_line_for_each_fact() -> None:
    for info in metrics.values():
        first, *others = text_page(info).splitlines()
        page = dict(line.split("  ", 1) for line in others)
        page = {name: text.strip() for name, text in page.items()}
        assert first.split(maxsplit=1) == [info.name, info.summary]
        assert (page["formula"], page["better"], page["source"]) == (info.formula, info.direction, info.source)
        assert page.get("also", "") == ", ".join(info.aliases)
        assert page["range"] == RANGES.get(info.name, "0 to 1" if info.unit_range else "0 to infinity")
        assert ("parameter" in page) is (info.parameter is not None)
        fields = page["convention fields"].split(", ")
        assert fields[: len(info.own_fields)] == list(info.own_fields)
        assert ("gain" in fields) is (info.uses_gains and not info.takes_max_grade and not info.compares_lists)
    assert "\nparameter          p, 0 to below 1, default 0.8\n" in text_page(metrics["rbp"])
    assert "\nparameter          num_items, 1 to 1e+15, required\n" in text_page(metrics["list_auc"])


def test_the_reference_defines_every_metric() -> None:
    of_users = [name for name in exactk.metrics if name not in OF_COLLECTION]
    assert [*exactk.reference.metrics] == [*of_users, *exactk.agreement_metrics]
    assert [*all_lists.COLLECTION_METRICS, all_lists.item_recall.__name__, *all_lists.GROUP_METRICS] == OF_COLLECTION


def test_every_metric_is_described() -> None:
    """Pages are written from the registry."""
    for registry in (exactk.metrics, exactk.agreement_metrics):
        for name, info in registry.items():
            assert all([info.summary, info.formula, info.source]), name
    for name in exactk.agreement_metrics:
        assert metrics[name].compares_lists
        assert f"``{name}@k" in str(exactk.agreement.__doc__)


@pytest.mark.parametrize("name", exactk.agreement_metrics)
def test_metrics_of_two_lists_have_the_fields_that_agreement_takes(name: str) -> None:
    metric = exactk.agreement_metrics[name]
    fields = re.search(r"Convention fields: (.+?)\.\n", metric.__doc__ or "", re.DOTALL)
    assert fields is not None
    for field in re.split(r",\s+", fields[1]):
        convention: Any = {field: getattr(exactk.conventions["standard"], field)}
        exactk.agreement([[1, 2]], [[1, 2]], metric @ 2, convention=convention)


def test_registries_find_other_spellings_and_list_names_alone() -> None:
    assert exactk.metrics["nDCG"] is exactk.metrics["ndcg"]
    assert exactk.metrics["MAP-cut"].name == "average_precision"
    assert "hit-rate" in exactk.metrics
    assert exactk.metrics.name_of(3) is None
    assert exactk.conventions.get("RecTools") is exactk.conventions["rectools"]
    assert list(exactk.metrics) == exactk.metrics._ipython_key_completions_()
    assert len(exactk.conventions) == len([*exactk.conventions]) == len(exactk.conventions.values())
    with pytest.raises(KeyError, match="'ranks'; did you mean 'ranx'"):
        exactk.conventions["ranks"]
    with pytest.raises(KeyError, match="xyzzy"):
        exactk.metrics["xyzzy"]


def test_names_and_aliases_are_unique_and_lower_case() -> None:
    infos = metrics.values()
    names = [name for info in infos for name in (info.name, *info.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)


def test_registries_print_a_line_for_each_entry() -> None:
    for registry in (exactk.metrics, exactk.agreement_metrics, exactk.conventions):
        assert [line.split()[0] for line in repr(registry).splitlines()] == list(registry)
    lines = dict(zip(exactk.metrics, repr(exactk.metrics).splitlines(), strict=True))
    for name, info in exactk.metrics.items():
        assert all(text in lines[name] for text in (info.summary, *info.aliases))
    lines = dict(zip(exactk.conventions, repr(exactk.conventions).splitlines(), strict=True))
    for name, convention in exactk.conventions.items():
        assert all(f"{field}=" in lines[name] for field in convention.diff("standard"))
