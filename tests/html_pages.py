"""Pages of many kinds of reports, and what is read out of them."""

from __future__ import annotations

import json
import re
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import html5lib
import numpy as np

import exactk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from xml.etree.ElementTree import Element

N_USERS, N_ITEMS = 120, 60
HOSTILE = [
    "<script>alert(1)</script>",
    "\"]]>'</td></table></script><img src=x onerror=alert(1)>",
    "--></style><!-- {{ 7*7 }} {% raw %}",
    "&amp;<b style='color:red'>",
    "\u202egnp.exe שלום",
    "a\x00\x1b[31m\r\nb\u2028c",
    "x" * 300,
    "👩‍🚀🚀" * 20,
    "\ud800",
]


def data(users: int = N_USERS, systems: int = 3, items: int = N_ITEMS) -> tuple[Any, dict[str, Any]]:
    """Return a truth, and lists of systems of which each is better than the one before."""
    draw = np.random.default_rng(5)
    truth = np.sort(np.argsort(draw.random((users, items)), axis=1)[:, :3], axis=1)
    is_relevant = np.zeros((users, items))
    np.put_along_axis(is_relevant, truth, 1.0, axis=1)
    lists = {
        f"system {index}": np.argsort(-(is_relevant * 0.1 * (1 + index) + draw.random((users, items))), axis=1)[:, :10]
        for index in range(systems)
    }
    return truth, lists


def compared(**options: Any) -> exactk.Comparison:
    """Return the comparison of three systems, with groups, several cutoffs and the values of users."""
    truth, systems = data()
    groups = ["new" if user % 3 else "old" for user in range(N_USERS)]
    metrics = ["ndcg@[1,5,10]", "recall@[5,10]", "mrr"]
    return exactk.compare(truth, systems, metrics, **{"groups": groups, "per_user": True, **options})


def judged() -> dict[str, exactk.results.JudgedLists]:
    truth, systems = data()
    return {system: exactk.judge(truth, lists, k=10) for system, lists in systems.items()}


def with_lists() -> str:
    comparison = compared(baseline="system 0", margin={"ndcg@10": "5%"})
    gate = comparison.check(no_worse={"ndcg@10": "5%"}, better="mrr")
    _, systems = data()
    drift = {
        f"from system 0 to {name}": exactk.drift(systems["system 0"], systems[name], 10) for name in list(systems)[1:]
    }
    return comparison.to_html(lists=judged(), item_names={3: "Heat (1995)"}, gate=gate, note="A note.", drift=drift)


def hostile() -> str:
    """Return a page in which every name that a user can give is hostile."""
    users = [f"{name}{index}" for index, name in enumerate(HOSTILE * 3)]
    items = [f"{name}!" for name in HOSTILE]
    truth = {user: [items[index % len(items)]] for index, user in enumerate(users)}
    systems = {
        name: {user: items[(index + shift) % len(items) :][:5] or items[:2] for index, user in enumerate(users)}
        for shift, name in enumerate(HOSTILE)
    }
    groups = {user: HOSTILE[index % len(HOSTILE)] for index, user in enumerate(users)}
    options: Any = {"per_user": True, "convention": exactk.conventions["standard"].replace(name=HOSTILE[0])}
    comparison = exactk.compare(truth, systems, ["ndcg@[1,2]", "mrr"], groups=groups, **options)
    lists = {system: exactk.judge(truth, one, k=2) for system, one in systems.items()}
    names = {item: f"{item} {HOSTILE[1]}" for item in items}
    one, other, *_ = systems.values()
    drift = dict.fromkeys(HOSTILE, exactk.drift(one, other, 2))
    return comparison.to_html(lists=lists, item_names=names, title=HOSTILE[0], note=HOSTILE[1], drift=drift)


def large() -> str:
    """Return a page of ten systems, ten metrics and twenty groups."""
    truth, systems = data(users=2_000, systems=10)
    metrics = ["ndcg@[1,5,10]", "recall@[5,10]", "precision@[5,10]", "map@10", "mrr@10", "hit_rate@10"]
    groups = [f"group {user % 20}" for user in range(2_000)]
    comparison = exactk.compare(truth, systems, metrics, baseline="system 0", groups=groups, per_user=True)
    lists = {system: exactk.judge(truth, one, k=10) for system, one in systems.items()}
    names = {item: f"The name of item {item} (19{item})" for item in range(N_ITEMS)}
    return comparison.to_html(lists=lists, item_names=names)


def one_metric() -> str:
    return exactk.evaluate([[1], [2]], [[1], [3]], "P@1").to_html()


def one_system() -> str:
    truth, systems = data()
    groups = ["a", "b"] * (N_USERS // 2)
    report = exactk.evaluate(truth, systems["system 1"], ["ndcg@[5,10]", "mrr"], groups=groups, per_user=True)
    drift = exactk.drift(systems["system 0"], systems["system 1"], k=10)
    return report.to_html(lists=exactk.judge(truth, systems["system 1"], k=10), drift=drift)


def with_catalogue() -> str:
    truth, systems = data()
    items = exactk.Items(N_ITEMS, train=[list(row) for row in truth], item_groups=["x", "y", "z"] * (N_ITEMS // 3))
    metrics = ["ndcg@10", "coverage@10", "gini@10", "novelty@10", "arp@10", "exposure@10"]
    return exactk.compare(truth, systems, metrics, items=items, per_user=True).to_html(items=items)


def weighted() -> str:
    return compared(weights=np.linspace(0, 2, N_USERS)).to_html()


PAGES: dict[str, Callable[[], str]] = {
    "with_lists": with_lists,
    "every_pair": lambda: compared().to_html(),
    "hostile": hostile,
    "large": large,
    "one_metric": one_metric,
    "one_system": one_system,
    "with_catalogue": with_catalogue,
    "weighted": weighted,
}


@cache
def page(name: str) -> str:
    """Return a page by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of drawn data
        return PAGES[name]()


def read(text: str) -> Element:
    """Return the elements of a page. Raise ParseError unless it is HTML as the standard has it."""
    builder = html5lib.treebuilders.getTreeBuilder("etree")
    root: Element = html5lib.HTMLParser(builder, strict=True, namespaceHTMLElements=False).parse(text)
    return root


@cache
def parsed(name: str) -> Element:
    """Return the elements of a page by its name."""
    return read(page(name))


def tag_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element) -> str:
    """Return the text of an element and of all within."""
    return "".join(element.itertext())


def elements(root: Element, tag: str) -> Iterator[Element]:
    """Yield the elements of a name."""
    return (element for element in root.iter() if tag_of(element) == tag)


def section(root: Element, anchor: str) -> Element:
    """Return a section by its anchor."""
    return next(element for element in elements(root, "section") if element.get("id") == anchor)


def tables(root: Element) -> dict[str, list[list[str]]]:
    """Return the cells of each table by its caption, the header first."""
    return {
        text_of(next(elements(table, "caption"))): [
            [text_of(cell).strip() for cell in row if tag_of(cell) in {"th", "td"}] for row in elements(table, "tr")
        ]
        for table in elements(root, "table")
    }


def results(text: str) -> dict[str, Any]:
    """Return the JSON of a page, as the page says how to read it."""
    block = re.search(r'<script type="application/json" id="exactk-results">(.*?)</script>', text, re.DOTALL)
    assert block is not None
    plain: dict[str, Any] = json.loads(block[1])
    return plain


def number_of(text: str) -> float:
    """Return the number that a cell begins with."""
    return float(text.split(" ", maxsplit=1)[0].replace("\N{MINUS SIGN}", "-").replace(",", ""))
