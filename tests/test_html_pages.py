"""The HTML page of a report: valid, safe, small, and the same each time."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactk
from exactk._runtime.texts import printable
from html_pages import (
    HOSTILE,
    PAGES,
    compared,
    data,
    elements,
    judged,
    page,
    parsed,
    read,
    results,
    section,
    tables,
    tag_of,
    text_of,
)

SECTIONS = [
    "verdict", "values", "differences", "wins", "ranks", "curves", "users", "groups", "trade-offs", "examples", "drift",
    "data-health", "relevance", "sample-size", "catalogue", "definitions", "reproduction",
]  # fmt: skip
LONGEST_ITEM = 80  # characters of an item's name
LOADING = re.compile("link|img|iframe|object|embed|base|form|video|audio|source|use|image|input")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_html_that_runs_and_loads_nothing(name: str) -> None:
    root = parsed(name)
    (policy,) = [one for one in elements(root, "meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy.get("content") == POLICY
    for script in elements(root, "script"):
        assert script.attrib == {"type": "application/json", "id": "exactk-results"}
    assert len(list(elements(root, "script"))) == 1
    for element in root.iter():
        assert not LOADING.fullmatch(tag_of(element))
        for attribute, value in element.attrib.items():
            assert not attribute.lower().startswith("on")
            assert attribute not in {"src", "srcset", "style", "action", "formaction", "data"}
            assert not re.search(r"https?:|url\(|javascript:", value)
            assert attribute != "href" or value.startswith("#")
    (style,) = elements(root, "style")
    assert not re.search(r"url\(|@import|https?:", text_of(style))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_structure_for_those_who_hear_it(name: str) -> None:
    root = parsed(name)
    assert root.get("lang") == "en"
    ids = Counter(element.get("id") for element in root.iter() if element.get("id"))
    assert set(ids.values()) == {1}
    for element in root.iter():
        for attribute in ("href", "aria-labelledby", "aria-describedby", "for"):
            if target := element.get(attribute):
                assert target.removeprefix("#") in ids
    levels = [int(tag_of(one)[1]) for one in root.iter() if re.fullmatch("h[1-6]", tag_of(one))]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for table in elements(root, "table"):
        assert text_of(next(elements(table, "caption")))
        assert {one.get("scope") for one in elements(table, "th")} <= {"col", "row"}
        widths = {sum(tag_of(cell) in {"th", "td"} for cell in row) for row in elements(table, "tr")}
        assert len(widths) == 1
    for picture in elements(root, "svg"):
        assert picture.get("role") == "img"
        assert text_of(next(elements(picture, "title")))
        assert text_of(next(elements(picture, "desc")))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_all_sections_or_says_what_to_write(name: str) -> None:
    root = parsed(name)
    sections = [part.get("id") for part in elements(root, "section")]
    assert sections == [one for one in SECTIONS if one != "drift" or name in {"with_lists", "hostile", "one_system"}]
    present = set()
    for part in elements(root, "section"):
        texts = [text_of(one) for one in elements(part, "p")]
        is_missing = any(text.startswith("Not available: ") for text in texts)
        assert is_missing != (len(list(part)) > 2)
        present |= set() if is_missing else {f"#{part.get('id')}"}
    links = {one.get("href") for one in elements(next(elements(root, "nav")), "a")}
    assert links == present


def test_coordinates_of_pictures_are_finite() -> None:
    for name in PAGES:
        for picture in elements(parsed(name), "svg"):
            for element in picture.iter():
                for value in element.attrib.values():
                    assert not re.search(r"\b(nan|inf)\b", value), (name, value)


def test_hostile_names_are_text_wherever_they_come_in() -> None:
    root = parsed("hostile")
    text = text_of(root)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}" in text
    assert "49" not in text_of(next(elements(root, "title")))
    assert "a\\x00\\x1b[31m\\r\\nb\\u2028c" in text
    assert "\\ud800" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u2028\u202e]", page("hostile"))
    (block,) = elements(root, "script")
    assert not re.search("[<>&\u2028\u2029]", text_of(block))
    systems = set(results(page("hostile"))["values"])
    assert systems == set(HOSTILE)
    assert {tag_of(one) for one in elements(root, "b")} <= {"b"}
    assert not list(elements(root, "img"))


def test_hostile_keys_and_names_are_text_in_the_cells_of_their_tables() -> None:
    names = [printable(name) for name in HOSTILE]
    truth, right = ({user: [item] for user, item in zip(HOSTILE, HOSTILE, strict=True)} for _ in range(2))
    wrong = {user: [item] for user, item in zip(HOSTILE, [*HOSTILE[1:], HOSTILE[0]], strict=True)}
    systems = {"right": right, HOSTILE[5]: wrong}
    lists = {system: exactk.judge(truth, one, k=1) for system, one in systems.items()}
    groups = dict(zip(HOSTILE, HOSTILE, strict=True))
    comparison = exactk.compare(truth, systems, "P@1", baseline="right", groups=groups, per_user=True)
    root = read(comparison.to_html(lists=lists, item_names={HOSTILE[0]: HOSTILE[1]}))
    shown = tables(root)
    rows = shown[f"Largest losses of {names[5]} against right in P@1"][1:]
    assert f"Largest gains of {names[5]} against right in P@1: there are none." in text_of(section(root, "examples"))
    titles = [name if len(name) <= LONGEST_ITEM else f"{name[: LONGEST_ITEM - 1]}…" for name in names]
    titles[0] = titles[1]  # the name of the first item
    order = sorted(range(len(HOSTILE)), key=HOSTILE.__getitem__)  # of equal losses
    assert [row[0] for row in rows] == [names[one] for one in order]
    assert [row[1] for row in rows] == [titles[(one + 1) % len(titles)] for one in order]
    assert [row[2] for row in rows] == [f"{titles[one]} ✓" for one in order]
    assert sorted({row[0] for row in shown["Values by group"][1:]}) == sorted(names)
    for text in HOSTILE:
        root = read(comparison.to_html(title=text, note=text))
        title, heading = (text_of(next(elements(root, tag))) for tag in ("title", "h1"))
        assert title == heading == printable(text)
        assert text_of(next(elements(root, "p"))) == printable(text)


def keyed() -> tuple[exactk.Comparison, dict[str, exactk.results.JudgedLists], dict[str, str]]:
    """Return a comparison whose users, items and names of items can be found in a text."""
    numbers, systems = data()
    truth = {f"usr-{user}": [f"itm-{item}" for item in row] for user, row in enumerate(numbers.tolist())}
    lists = {
        system: {f"usr-{user}": [f"itm-{item}" for item in row] for user, row in enumerate(rows.tolist())}
        for system, rows in systems.items()
    }
    comparison = exactk.compare(truth, lists, ["ndcg@[5,10]"], per_user=True)
    judged = {system: exactk.judge(truth, one, k=10) for system, one in lists.items()}
    return comparison, judged, {f"itm-{item}": f"nam-{item}" for item in range(60)}


def test_users_are_on_the_page_where_examples_ask_for_them_alone() -> None:
    comparison, lists, names = keyed()
    without = comparison.to_html(examples=0, lists=lists, item_names=names)
    assert not re.search("usr-|itm-|nam-", without)
    one = comparison.to_html(examples=1, lists=lists, item_names=names)
    assert 1 <= len(set(re.findall(r"usr-\d+", one))) <= 2 * 3  # a side of each of three pairs
    assert re.search("nam-", one)
    assert not re.search("itm-", one)
    report = exactk.evaluate({"usr-1": [1]}, {"usr-1": [1]}, "P@1", per_user=True)
    assert "usr-" in report.to_html()
    assert "usr-" not in report.to_html(examples=0)


def test_a_page_stays_small() -> None:
    assert len(page("large").encode()) <= 300_000
    assert len(page("one_metric").encode()) <= 30_000


def test_a_page_of_everything_stays_below_a_megabyte_and_says_what_it_leaves_out() -> None:
    truth, systems = data(users=60, systems=12)
    systems = {f"{system} {'<' * 290}": lists for system, lists in systems.items()}
    metrics = [f"{name}@{k}" for name in ("ndcg", "recall") for k in range(1, 10)]
    groups = [f"group {user % 50} {'&' * 290}" for user in range(60)]
    comparison = exactk.compare(truth, systems, metrics, groups=groups, per_user=True, baseline=next(iter(systems)))
    lists = {system: exactk.judge(truth, one, k=10) for system, one in systems.items()}
    names = dict.fromkeys(range(60), "é" * 300)
    text = comparison.to_html(examples=2000, lists=lists, item_names=names, title="t" * 10_000, note="n" * 10_000)
    assert len(text.encode()) < 1_000_000
    assert "Left out: " in text
    assert "differences_by_group" in results(text)["left_out"]


def test_a_page_of_values_that_are_not_numbers() -> None:
    convention = {"undefined": "nan", "empty_truth": "compute"}
    systems = {"a": [[1], [2]], "b": [[2], [1]]}
    text = exactk.compare([[1], []], systems, ["recall@1", "ndcg@[1,2]"], convention=convention).to_html()
    assert "undefined for 1 user" in text
    assert results(text)["values"]["a"]["recall@1"] is None


def test_pages_of_one_input_are_the_same_bytes_under_source_date_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    page = PAGES["with_lists"]()
    other = {"PYTHONHASHSEED": "1", "EXACTK_ISA": "scalar", "EXACTK_NUM_THREADS": "2"}
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **other}
    code = "import sys, html_pages; sys.stdout.buffer.write(html_pages.with_lists().encode())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)  # noqa: S603 - ours
    assert done.stdout == page.encode()
    assert "2023-11-14 22:13 UTC" in page


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"title": 3}, exactk.InputTypeError, "title: expected a string, found int"),
        ({"note": "n" * 10_001}, exactk.InputError, "note: expected at most 10,000 characters, found 10,001"),
        ({"examples": -1}, exactk.InputError, "examples: expected a number of users, or 0, found -1"),
        ({"examples": 2.5}, exactk.InputTypeError, "examples: expected an integer, found 2.5"),
        ({"examples": True}, exactk.InputTypeError, "examples: expected an integer, found True"),
        ({"item_names": ["a"]}, exactk.InputTypeError, "item_names: expected a mapping from item to name, found list"),
        ({"lists": [1]}, exactk.InputTypeError, "lists: expected a mapping from system to the result of exactk.judge"),
        ({"lists": {"system 0": [1]}}, exactk.InputTypeError, "lists: expected JudgedLists of 'system 0', found list"),
        ({"gate": True}, exactk.InputTypeError, "gate: expected the result of comparison.check, found bool"),
        (
            {"headline": 3},
            exactk.InputTypeError,
            "headline: expected a metric, or two: the axes of the trade-off, found 3",
        ),
        (
            {"headline": []},
            exactk.InputError,
            "headline: expected a metric, or two: the axes of the trade-off, found 0",
        ),
        (
            {"drift": 0.5},
            exactk.InputTypeError,
            "drift: expected the result of exactk.drift, or several by name, found float",
        ),
        ({"drift": {1: 2}}, exactk.InputTypeError, "several by name, found the name 1"),
        ({"headline": "ndcg@7"}, exactk.InputError, "headline: expected one of "),
        ({"headline": ["mrr", "MRR"]}, exactk.InputError, "headline: expected two metrics, one against the other"),
    ],
)
def test_arguments_of_a_page_are_checked(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        compared().to_html(**arguments)


def test_lists_are_those_of_the_comparison() -> None:
    lists, (truth, systems) = judged(), data()
    keys = {f"u{user}": row.tolist() for user, row in enumerate(truth)}
    some = exactk.judge(truth[:60], systems["system 0"][:60], k=10)
    for system, given, message in (
        ("other", lists["system 0"], "systems of the comparison: system 0, .*found 'other'"),
        ("system 0", lists["system 2"], "the lists that were evaluated, found other hits of user"),
        ("system 0", some, "those of all 120 users, found 60 of 'system 0'"),
        ("system 0", exactk.judge(keys, {**keys}, k=3), "the evaluated users, who are row numbers, found keys"),
    ):
        with pytest.raises((exactk.InputError, exactk.InputTypeError), match=f"lists: expected {message}"):
            compared().to_html(lists={system: given})


@pytest.mark.parametrize("name", exactk.conventions)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_lists_of_the_same_convention_are_accepted(name: str) -> None:
    convention = exactk.conventions[name]
    draw = np.random.default_rng(3)
    truth = [draw.choice(30, size=size, replace=False).tolist() for size in draw.integers(0, 6, 80)]
    systems = {
        system: [draw.choice(30, size=size, replace=False).tolist() for size in draw.integers(0, 12, 80)]
        for system in "ab"
    }
    metrics = ["hit_rate@5", "precision@[3,10]", "recall@5", "mrr@10"]
    comparison = exactk.compare(truth, systems, metrics, convention=convention, per_user=True)
    ordered = convention.replace(ties="lowest_id")
    lists = {system: exactk.judge(truth, one, k=10, convention=ordered) for system, one in systems.items()}
    assert "list of b" in comparison.to_html(lists=lists)
    other = {"a": lists["a"], "b": exactk.judge(truth, [[99]] * 80, k=10, convention=ordered)}
    if convention.decimals is None:  # else a value with a hit may be rounded to 0
        with pytest.raises(exactk.InputError, match="found other hits of user"):
            comparison.to_html(lists=other)


def test_items_without_a_value_are_hits_that_count_nothing() -> None:
    items = exactk.Items(5, values=[0.0, 1.0, 1.0, 1.0, 1.0])
    truth, systems = [[0, 1]] * 30, {"a": [[0]] * 30, "b": [[1]] * 30}
    comparison = exactk.compare(truth, systems, "recall@1(weight=values)", items=items, per_user=True)
    lists = {system: exactk.judge(truth, one, k=1) for system, one in systems.items()}
    assert "list of b" in comparison.to_html(lists=lists)


def test_lists_beside_values_of_groups_of_items_are_accepted() -> None:
    """A user with a hit may have none in a group."""
    items = exactk.Items(4, item_groups=["head", "head", "tail", "tail"])
    truth, systems = [[0, 2]] * 30, {"a": [[0, 3]] * 30, "b": [[2, 1]] * 30}
    metrics = ["recall@2(item_group=every)", "precision@2(item_group=tail)"]
    comparison = exactk.compare(truth, systems, metrics, items=items, per_user=True)
    lists = {system: exactk.judge(truth, one, k=2) for system, one in systems.items()}
    page = comparison.to_html(lists=lists)
    assert "list of b" in page
    assert "Hits, of any group of items, are bold" in page


def test_a_path_writes_the_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert compared().to_html(path, title="one") is None
    text = path.read_text(encoding="utf-8")
    assert text.endswith("</html>\n")
    assert "<title>one</title>" in text


def test_the_headline_leads_every_section() -> None:
    metrics = ["mrr", "ndcg@[5,10]", "recall@[5,10]"]
    truth, systems = data()
    options: Any = {"baseline": "system 0", "groups": ["a", "b"] * 60, "per_user": True}
    comparison = exactk.compare(truth, systems, metrics, **options)
    root = read(comparison.to_html(headline="Recall@10"))
    assert " in recall@10; the difference" in text_of(section(root, "verdict"))
    assert [row[0] for row in tables(root)["Values"][1:3]] == ["recall@10", "mrr"]
    for anchor, title in (
        ("values", "recall@10 of each system"),
        ("differences", "Differences in recall@10 against system 0"),
        ("wins", "Users who win, tie and lose in recall@10"),
        ("curves", "recall by cutoff"),
        ("users", "Users by recall@10"),
        ("groups", "Difference in recall@10 by group, system 1 against system 0"),
        ("trade-offs", "recall@10 against mrr"),
    ):
        assert text_of(next(elements(section(root, anchor), "b"))) == f"{title}.", anchor
    assert "Largest losses of system 1 against system 0 in recall@10" in tables(section(root, "examples"))
    losses = tables(section(root, "examples"))["Largest losses of system 1 against system 0 in recall@10"]
    for user, one, other, *_ in losses[1:]:
        values = [comparison.reports[system].per_user["recall@10"][int(user)] for system in ("system 1", "system 0")]
        assert [float(one), float(other)] == pytest.approx(values, abs=5e-5)
    one = comparison.reports["system 1"].to_html(headline="recall@5")
    assert "recall@5 is " in text_of(section(read(one), "verdict"))


def test_two_metrics_of_a_headline_are_the_axes_of_the_trade_off() -> None:
    truth, systems = data()
    items = exactk.Items(60, train=[list(row) for row in truth])
    comparison = exactk.compare(truth, systems, ["mrr", "ndcg@10", "coverage@10", "arp@10"], items=items)
    for headline, title in (
        (None, "mrr against coverage@10"),
        ("ndcg@10", "ndcg@10 against coverage@10"),
        (["ndcg@10", "arp@10"], "ndcg@10 against arp@10"),
    ):
        root = read(comparison.to_html(headline=headline))
        assert text_of(next(elements(section(root, "trade-offs"), "b"))) == f"{title}."
    with pytest.raises(exactk.InputError, match=r"headline: expected first a metric of which differences are tested: "):
        comparison.to_html(headline=["coverage@10", "ndcg@10"])
    two: Any = ["ndcg@10", "arp@10"]
    with pytest.raises(exactk.InputError, match="headline: expected one metric, as one system has no trade-off"):
        comparison.reports["system 1"].to_html(headline=two)


def test_ties_are_those_of_their_metric_under_any_headline() -> None:
    truth, scores = [[0], [1]] * 20, np.tile([0.5, 0.5, 0.1], (40, 1))
    report = exactk.evaluate(truth, exactk.Scores(scores), ["P@2", "P@1"])
    for headline in (None, "P@1"):
        shown = tables(read(report.to_html(headline=headline)))["Users whose value depends on the order of ties"]
        assert [row[0] for row in shown[1:]] == ["P@1"]
