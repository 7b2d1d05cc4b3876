"""States and reports from anywhere: each is whole and possible, or an InputError."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import exactk
from exactk._report.state import STATE_PREFIX
from strategies import SHARE, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUTH: Any = {"ann": {1: 1.0, 4: 2.0}, "bob": {21: 1.0}, "cy": {}, "di": {7: 3.0}}
LISTS: Any = {"ann": [4, 2, 1], "bob": [3, 21], "cy": [5], "eve": [1]}
SCORES = np.array([[0.5, 0.5, 0.1, 0.2], [0.1, 0.2, 0.3, 0.4]])


def _reports() -> dict[str, exactk.Report]:
    weights = {"ann": 0.5, "bob": 2.0, "cy": 1.0, "di": 3.0}
    groups = dict.fromkeys(TRUTH, "x") | {"bob": "y"}
    averages = [
        "P@2", "P@2(average=micro)", "ndcg@3(average=geometric)", "f1@2(average=of_means)", "dcg@3", "rbp(p=0.5)",
    ]  # fmt: skip
    of_lists = ["P@2", "coverage@[2,3]", "gini@2(foreign_items=ignore)", "personalization@3"]
    return {
        "averages": exactk.evaluate(TRUTH, LISTS, averages, per_user=True),
        "weights": exactk.evaluate(TRUTH, LISTS, averages, weights=weights, per_user=True),
        "groups": exactk.evaluate(TRUTH, LISTS, averages, groups=groups),
        "integer groups": exactk.evaluate([[1]] * 3, [[1], [2], [1]], ["P@1", "num_hits"], groups=[3, 1, 3]),
        "ties": exactk.evaluate([[1], [2]], SCORES, ["P@2", "auc"], candidates=[0, 1, 2], per_user=True),
        "presets": exactk.evaluate(TRUTH, LISTS, ["map", "ndcg@3"], convention="trec_eval", per_user=True),
        "undefined": exactk.evaluate([[1], []], [[1], [2]], "R@1(undefined=nan,empty_truth=compute)", per_user=True),
        "reference": exactk.reference.evaluate(TRUTH, LISTS, averages, weights=weights, groups=groups),
        "tuples": exactk.evaluate({("a", 1): [1], ("b", 2): [2]}, {("a", 1): [1]}, "P@1", per_user=True),
        "bytes": exactk.evaluate({b"a": [1], b"\xff": [2]}, {b"a": [1]}, "P@1", per_user=True),
        "integers": exactk.evaluate({5: [1], 7: [2]}, {5: [1]}, "P@1", per_user=True),
        "items": exactk.evaluate(TRUTH, LISTS, of_lists, items=exactk.Items(22)),
        "groups of items": exactk.evaluate(
            TRUTH, LISTS, ["exposure@[2,3]", "exposure"], items=exactk.Items(22, item_groups=["a", "b"] * 11)
        ),
        "items of nobody": exactk.evaluate([[1]], [None], "gini@2", items=exactk.Items(2)),
        "nobody": exactk.evaluate([[]], [[]], "P@1", per_user=True, groups=["a"]),
    }


with pytest.warns(exactk.EvaluationWarning):
    REPORTS = _reports()

UNBOUNDED = ("dcg", "num", "rbp", "exposure", "rsp", "reo")

HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**63), 2**70, 10**4000, 0.0, 1.7, -1.5, 1e308, math.nan, math.inf,
    "", "0x0", "0x1", "-0x1", "0x" + "f" * 30, "0x" + "f" * 600, "-0x" + "f" * 600, "0x" + "f" * 10_000, "1e999999999",
    "0x1p999999", " 0x1", "0x1_0", "9" * 5000, "\x1b[2J", "\ud800", "P@1", "ndcg@[1,2]", "<U1000000000", "<i8", "|V8", "<f8", "O",
    "|O", "i8,i8", "(1000000000,)i8", [], {}, [[]], [None], [1.7, 2.2], ["a", "a"], {"a": 1}, {"bytes": "zz"}, {"bytes": 3},
    [["a", "<i8"], ["a", "<i8"]], [["a", "<U4000000000"]],
]  # fmt: skip


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, entry in entries:
        yield from _paths(entry, (*path, key))


def _changed(data: Any, path: tuple[Any, ...], *value: Any) -> Any:
    """Return a copy in which another value is at the path, or nothing."""
    if not path:
        return value[0]
    changed = copy.copy(data)
    if len(path) > 1:
        changed[path[0]] = _changed(data[path[0]], path[1:], *value)
    elif value:
        changed[path[0]] = value[0]
    else:
        del changed[path[0]]
    return changed


def _some(paths: list[tuple[Any, ...]], name: str) -> list[tuple[Any, ...]]:
    """Return one place in three, other ones for each report, whose forms are much alike; all of them at night."""
    return paths if SHARE >= 1 else paths[list(REPORTS).index(name) % 3 :: 3]


def _check_report(report: exactk.Report) -> None:
    """What was accepted can be shown, written, read again and merged, and its values are in range."""
    assert exactk.Report.from_json(report.to_json()) == report
    assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
    values = (*report.items(), *(pair for row in report.by_group.values() for pair in row.items()))
    for numbers, most in ((values, 1), (report.standard_deviation.items(), 0.5000001)):
        for name, number in numbers:
            assert math.isnan(number) or 0 <= number <= (math.inf if name.startswith(UNBOUNDED) else most)
    assert repr(report).replace("\n", "").isprintable()
    assert all(0 <= count <= report.counts["users"] for count in report.counts["evaluated"].values())
    report.to_csv()
    report.to_markdown()
    assert exactk.merge([report.state]).state == report.state


def _check(data: Any) -> None:
    """Read it as a dict and as JSON: the outcome is a report that stands, or an InputError."""
    try:
        report = exactk.Report.from_dict(data)
    except exactk.InputError as error:
        message = str(error)
        assert message.startswith(("report: ", "state: "))
        assert len(message) < 2000
        wrappings = message.split("found invalid data: ")
        assert len(set(wrappings)) == len(wrappings)
    else:
        _check_report(report)


def test_f51_honest_states_are_as_they_were() -> None:
    for name, report in REPORTS.items():
        again = exactk.Report.from_json(report.to_json())
        assert again == report, name
        assert again.to_json() == report.to_json()
        _check_report(report)


@pytest.mark.parametrize("name", REPORTS)
def test_f51_every_leaf_changed(name: str) -> None:
    """Each place of each report gets each hostile value."""
    data = REPORTS[name].to_dict()
    state_paths = [path for path in _paths(data) if path[:1] in {("state",), ("users",), ("per_user",), ()}]
    step = max(1, round(500 / examples(100)))  # all of them in 5 times as long
    for number, path in enumerate(state_paths):
        for offset, value in enumerate(HOSTILE):
            if (number + offset) % step == 0:
                _check(_changed(data, path, value))


@pytest.mark.parametrize("name", REPORTS)
def test_f51_keys_dropped_and_added(name: str) -> None:
    data = REPORTS[name].to_dict()
    for path in _some([path for path in _paths(data) if path and path[0] in {"state", "users", "per_user"}], name):
        _check(_changed(data, path))
    for path in ((), ("state",), ("state", "counts"), ("state", "convention"), ("per_user",)):
        _check(_changed(data, (*path, "further"), 1))
    for count in ("tie_dependent.x", "tie_spread.7", "a\x1b[2J", "candidates.min", "tie_dependent"):
        _check(_changed(data, ("state", "counts", count), 1))


@pytest.mark.parametrize("name", REPORTS)
def test_f51_counts_that_do_not_go_together(name: str) -> None:
    """One more or one less of any count or sum, and sums of the other sign."""
    state = REPORTS[name].state.to_dict()
    refused = 0
    for path in _some([*_paths(state)], name):
        value: Any = state
        for key in path:
            value = value[key]
        if type(value) is int:
            changes: list[Any] = [value + 1, value - 1, value + 10**6, float(value), bool(value)]
        elif isinstance(value, str) and "0x" in value:
            changes = [hex(int(value, 16) + (1 << 90)), hex(int(value, 16) + (1 << 5000)), hex(-1 - int(value, 16))]
        else:
            continue
        for change in changes:
            try:
                accepted = exactk.State.from_dict(_changed(state, path, change))
            except exactk.InputError:
                refused += 1
            else:
                _check_report(exactk.merge([accepted]))
    assert refused


def _frame(body: bytes) -> bytes:
    return STATE_PREFIX + (4).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body


@pytest.mark.parametrize("name", ["averages", "integer groups"])
def test_f51_bytes_cut_and_flipped(name: str) -> None:
    """Also where the checksum is that of the damaged bytes."""
    data = REPORTS[name].state.to_bytes()
    body = data[len(STATE_PREFIX) + 8 :]
    for end in range(len(data)):
        with pytest.raises(exactk.InputError):
            exactk.State.from_bytes(data[:end])
    damaged = [body[:end] for end in range(len(body))]
    for offset, bit in itertools.product(range(len(body)), (1, 4, 128)):
        damaged.append(body[:offset] + bytes([body[offset] ^ bit]) + body[offset + 1 :])
    accepted = 0
    for content in damaged[:: max(1, round(300 / examples(100)))]:
        try:
            state = exactk.State.from_bytes(_frame(content))
        except exactk.InputError:
            continue
        accepted += 1
        _check_report(exactk.merge([state]))
    assert accepted < len(damaged) / 5


BODIES = {
    "nested": b"[" * 100_000, "no text": b"\xff\xfe{}", "no JSON": b"{", "a number of many digits": b"1" * 100_000,
    "a huge exponent": b"1e999999999", "constants": b"[NaN, Infinity]", "text": b'"a"', "nothing": b"",
}  # fmt: skip


@pytest.mark.parametrize("kind", BODIES)
def test_f51_other_json(kind: str) -> None:
    with pytest.raises(exactk.InputError, match=r"^state: "):
        exactk.State.from_bytes(_frame(BODIES[kind]))
    text = BODIES[kind].decode(errors="surrogateescape")
    for of_what, read in (("report", exactk.Report.from_json), ("comparison", exactk.Comparison.from_json)):
        with pytest.raises(exactk.InputError, match=f"^{of_what}: "):
            read(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(max_examples=examples(200))
def test_f51_any_json(data: Any) -> None:
    for read in (exactk.State.from_dict, exactk.Report.from_dict, exactk.Comparison.from_dict):
        with pytest.raises(exactk.InputError):
            read(data)
    with pytest.raises(exactk.InputError):
        exactk.State.from_bytes(_frame(json.dumps(data).encode()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["P@1"]}, "distinct canonical metric names"),
        ({"metrics": []}, "at least one metric"),
        ({"weighted": 0}, "weighted: expected one of True, False, found 0"),
        ({"totals": [[1, 0, "0x1" + "0" * 21, 80, "0x0", 160, "0x0", 80]]}, "sum of values of precision@1 over 1 users from 0 to 1 each"),
        ({"totals": [[1, 0, "-0x1", 80, "0x0", 160, "0x0", 80]]}, "over 1 users from 0 to 1 each, found -1"),
        ({"totals": [[9, 0, "0x0", 80, "0x0", 160, "0x0", 80]]}, r"totals\[0\]\.users: expected an integer from 0 to 1, found 9"),
        ({"totals": [[1, 0, "0x0", 10**9, "0x0", 160, "0x0", 80]]}, r"totals\[0\]\.total_scale: expected an integer from 0 to 4096"),
        ({"totals": [[1, 0, "0x0", 81, "0x0", 160, "0x0", 80]]}, r"scales \(80, 160, 80\) of precision@1, found \(81, 160, 80\)"),
        ({"totals": [[1, 0, "0x0", 80, "0x0", 160, "0x5", 80]]}, "no sum of weights without weights"),
        ({"totals": []}, "totals: expected 1 elements, found 0"),
        ({"groups": [["a", [[1, 0, "0x0", 80, "0x0", 160, "0x0", 80]]]]}, "groups that add up to the totals"),
        ({"totals": [[1, 0, "0x0", 80, "0x0", 160, "x", 80]]}, r"totals\[0\]\.weight: expected a hexadecimal integer"),
        ({"catalogue": {"digest": "0x" + "0" * 32, "size": 0, "source": "train"}}, r"catalogue\.size: expected an integer from 1"),
        ({"more": 1}, r"a mapping of only version, metrics, spellings, .*, found \['more'\]"),
        ({"version": 3}, r"version: expected 4 \(states of other versions cannot be read: evaluate again\), found 3"),
        ({"tallies": ["AAAA"]}, "tallies: expected 0 elements, found 1"),
        ({"convention": {"self": 1}}, "convention: expected the name of a field, found 'self'"),
        ({"groups": [[1.5, []]]}, "group labels to be strings"),
        ({"truth_digest": "0x1"}, "truth_digest: expected 0x and 32 hexadecimal digits, found '0x1'"),
        ({"truth_digest": 1}, "truth_digest: expected 0x and 32 hexadecimal digits, found 1"),
    ],
)  # fmt: skip
def test_f51_what_is_wrong_is_said(change: dict[str, Any], message: str) -> None:
    state = exactk.evaluate([[1]], [[1]], "P@1").state.to_dict()
    with pytest.raises(exactk.InputError, match=rf"^state: .* of State\.to_dict, found invalid data: .*{message}"):
        exactk.State.from_dict({**state, **change})


def test_states_of_versions_without_a_number_are_refused() -> None:
    state = exactk.evaluate([[1]], [[1]], "P@1").state.to_dict()
    old = {name: one for name, one in state.items() if name not in {"version", "tallies"}} | {"item_tallies": []}
    with pytest.raises(exactk.InputError, match=r"version: expected 4 \(.*evaluate again\), found None"):
        exactk.State.from_dict(old)
    report = exactk.evaluate([[1]], [[1]], "P@1").to_dict() | {"state": old}
    with pytest.raises(exactk.InputError, match=r"found invalid data: state\.version: expected 4"):
        exactk.Report.from_dict(report)


@pytest.mark.parametrize("name", REPORTS)
def test_data_that_are_nested_too_deeply(name: str) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    document = REPORTS[name].to_dict()
    for read, data in ((exactk.Report.from_dict, document), (exactk.State.from_dict, document["state"])):
        for field in data:
            with pytest.raises(exactk.InputError, match="expected"):
                read({**data, field: deep})
        with pytest.raises(exactk.InputError, match=r"expected a mapping, found (list|\[)"):
            read(deep)  # type: ignore[arg-type]


def test_messages_have_the_names_of_systems() -> None:
    lists = {"one": [[1], [2]], "other": [[2], [2]]}
    comparison = exactk.compare([[1], [2]], lists, "P@1", groups=["x", "y"], per_user=True)
    for read, of_reports, plain in (
        (exactk.Comparison.from_dict, "reports.other.state", comparison.to_dict()),
        (exactk.results.ComparisonState.from_dict, "systems.other", comparison.state.to_dict()),
    ):
        first, *path = of_reports.split(".")
        for path_of_value, value, message in (
            ((*path, "totals", 0, 0), "x", rf"{of_reports}\.totals\[0\]\.users: expected an integer"),
            ((*path, "shards"), {"names": [], "run": None}, rf"{of_reports}\.shards\.names: expected distinct names"),
            ((*path, "counts"), [], rf"{of_reports}\.counts: expected a mapping"),
        ):
            changed = {**plain, first: _changed(plain[first], path_of_value, value)}
            with pytest.raises(exactk.InputError, match=rf"found invalid data: {message}"):
                read(changed)
        with pytest.raises(exactk.InputError, match="found invalid data: options: expected a mapping, found 3"):
            read({**plain, "options": 3})
        with pytest.raises(
            exactk.InputError, match=r"found invalid data: paired\.pairs\[0\]\.totals\[0\]\.users: expected"
        ):
            read({**plain, "paired": _changed(plain["paired"], ("pairs", 0, "totals", 0, 0), 10)})


def test_f51_types_of_users_are_not_believed() -> None:
    """Keys are not truncated to a type, and memory is by what there is, not by the length that it names."""
    data = REPORTS["integers"].to_dict()
    assert data["users"] == ["<i8", [5, 7]]
    with pytest.raises(exactk.InputError, match=r"users\[1\]\[0\]: expected an integer .*, found 1\.7"):
        exactk.Report.from_dict({**data, "users": ["<i8", [1.7, 2.2]]})
    assert exactk.Report.from_dict({**data, "users": ["<U1000000000", ["a", "b"]]}).users.nbytes < 100


def leaves_of_users(document: dict[str, Any]) -> Iterator[tuple[Any, int | str]]:
    """Yield where numbers of users, and what is computed from the sums, are: the list or mapping, and the position."""
    of_users = [*document["per_user"].values()]
    if document["kept"]:
        of_users += [row for rows in document["kept"]["rows"].values() for row in rows]
        evaluated = {at for row in of_users for at, number in enumerate(row) if number is not None}
        yield from ((document["kept"]["weights"], at) for at in evaluated if document["kept"]["weights"])
    yield from ((row, position) for row in of_users for position, number in enumerate(row) if number is not None)
    for name in ("values", "standard_deviation"):
        yield from ((document[name], metric) for metric, number in document[name].items() if number is not None)
    yield from ((document["counts"], name) for name in document["counts"] if name != "evaluated")
    yield from ((document["counts"]["evaluated"], name) for name in document["counts"]["evaluated"])
    for row in (*document["by_group"], *document["by_item_group"]):
        yield from (
            (row, name) for name in ("value", "standard_deviation", "evaluated", "items") if row.get(name) is not None
        )


@pytest.mark.parametrize("name", REPORTS)
def test_f96_numbers_that_contradict_the_sums_are_refused(name: str) -> None:
    """Each number of a user, each value and each count, changed by itself or taken away."""
    document = REPORTS[name].to_dict()
    assert exactk.Report.from_dict(document) == REPORTS[name]
    weightless = set() if not document["kept"] else {
        position for position, weight in enumerate(document["kept"]["weights"] or ()) if not weight
    }  # fmt: skip
    for container, position in leaves_of_users(document):
        before = container[position]
        for changed in (0.375 if before != 0.375 else 0.625, None):
            if changed is not None and position in weightless:
                continue  # whose sums are without this user
            container[position] = changed
            with pytest.raises(
                exactk.InputError, match=r"report: expected the output of Report\.to_dict, found invalid data: "
            ):
                exactk.Report.from_dict(document)
        container[position] = before
    assert exactk.Report.from_dict(document) == REPORTS[name]


def test_f96_contradictions_of_keys_groups_and_conventions() -> None:
    groups = dict.fromkeys(TRUTH, "x") | {"bob": "y"}
    document = exactk.evaluate(TRUTH, LISTS, ["P@2", "mrr"], per_user=True, groups=groups).to_dict()
    changes: list[tuple[list[str], Any]] = [
        (["users"], ["<U3", ["ann", "bob", "di", "di", "eve"]]),
        (["users"], ["|O", [{"bytes": text} for text in ("ab", "AB", "01", "02", "03")]]),
        (["users"], ["|O", [{"bytes": text} for text in ("ab", "x", "01", "02", "03")]]),
        (["users"], [[], [[]] * 5]),
        (["users"], [[["a", "<i8"], ["b"]], [[1, 2]] * 5]),
        (["kept", "groups"], [1, 0, 0, 0, -1]),
        (["convention", "users"], "both"),
    ]
    for path, changed in changes:
        hostile = copy.deepcopy(document)
        part = hostile
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = changed
        with pytest.raises(exactk.InputError, match="report: "):
            exactk.Report.from_dict(hostile)


def _comparison(**options: Any) -> exactk.Comparison:
    lists: Any = {"one": [[1], [2], [2]], "other": [[1], [1], [1]]}
    return exactk.compare([[1], [2], [3, 1]], lists, ["P@1", "dcg@2"], **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({("systems", "one", "totals", 0, 0): 4}, "the sums of precision@1 of 'one' in its pairs too"),
        ({("systems", "one", "truth_digest"): "0x" + "1" * 32}, "systems evaluated on the same truth"),
        ({("options", "margin"): {"mrrr": 0.1}}, "margin: expected the name of a metric, found 'mrrr'"),
        (
            {("systems", "one", "totals", 1, 4): "0x0"},
            r"systems\.one\.totals\[1\]: expected squares of dcg@2 that match",
        ),
    ],
)
def test_states_of_systems_that_contradict_each_other(changes: dict[Any, Any], message: str) -> None:
    plain = _comparison().state.to_dict()
    for path, value in changes.items():
        plain = _changed(plain, path, value)
    if ("systems", "one", "totals", 0, 0) in changes:  # of more users there are
        plain = _changed(plain, ("systems", "one", "counts", "users"), 4)
    with pytest.raises(exactk.InputError, match=message):
        exactk.results.ComparisonState.from_dict(plain)


def test_clusters_of_a_document_are_integers() -> None:
    comparison = _comparison(clusters=[1, 1, 2], per_user=True)
    document = comparison.to_dict()
    assert exactk.Comparison.from_dict(document) == comparison
    for clusters in (np.array([["x"]]), np.array([1, 2, 3], np.uint64), [1, 2], [1, 2, -1], [1.0, 2.0, 3.0], "abc", 3):
        with pytest.raises(exactk.InputError, match=r"found invalid data: clusters(\[\d\])?: expected"):
            exactk.Comparison.from_dict({**document, "clusters": clusters})


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"tie_spread.precision@1": 5}, "no tie_spread without tie_dependent users, found 5"),
        ({"users": 0, "longest_list": 4}, "counts|totals"),
        ({"missing_lists": 2, "missing_truth": 1}, "at most 2 missing_lists and missing_truth together"),
    ],
)
def test_counts_that_contradict_each_other(counts: dict[str, int], message: str) -> None:
    state = exactk.evaluate([[1], [2]], SCORES, "P@1").state.to_dict()
    assert state["counts"]["tie_dependent.precision@1"] == 1
    zero = {"tie_dependent.precision@1": 0} if "tie_spread.precision@1" in counts else {}
    with pytest.raises(exactk.InputError, match=message):
        exactk.State.from_dict({**state, "counts": {**state["counts"], **zero, **counts}})


def test_ranges_without_an_end_are_json() -> None:
    for bounds in ((0, math.inf), (-math.inf, 0.5)):
        metric = exactk.custom("cost", lambda judged: judged.hits[:, 0] * 0.5, k=2, range=bounds, version="1")
        report = exactk.evaluate([[1]], [[1]], [metric])
        text = report.to_json()
        assert "Infinity" not in text
        assert exactk.Report.from_json(text) == report
        assert exactk.State.from_bytes(report.state.to_bytes()) == report.state
        ((info,), (low, high)) = report.state.custom_metrics, bounds
        assert info.range == (low, high)


def tiny(judged: Any) -> Any:
    return judged.hits[:, 0] * 1e-10 + 1e-10 / 3


def tiny_ratios(judged: Any) -> Any:
    return judged.hits[:, 0] * 2e-245, np.full(len(judged.hits), 1e-245)


SURPRISE = exactk.custom("surprise", tiny, k=1, range=(0, 1), version="1")
RATIO = exactk.custom("ratio", tiny_ratios, k=1, range=(0, 2), version="1")
TWO: Any = {"one": {"a": [1], "b": [3]}, "other": {"a": [2], "b": [3]}}
OF_GRADES: Any = {"a": {1: 5.0, 2: 1.0}, "b": {3: 2.0}}  # b has nothing of grade 4 or more
HONEST: dict[str, dict[str, Any]] = {
    "0 / 0 of a micro average": {"metrics": "recall@10", "convention": {"base": "tensorflow", "min_grade": 4.0}},
    "lists without relevant items": {
        "metrics": ["recall@2(average=micro)", "auc(average=micro)", "ndcg@2(average=micro)"],
        "convention": {"empty_truth": "compute", "min_grade": 4.0},
    },
    "values below 2^-33": {"metrics": [SURPRISE, "ndcg@2"]},
    "gains of 2^60": {"metrics": "ndcg@2", "truth": {"a": {1: 1.0, 2: 2.0, 7: 60.0}, "b": {3: 2.0}}, "gain": "exp2"},
    "products that underflow": {"metrics": RATIO, "average": "micro", "weights": {"a": 2.0**-256, "b": 2.0**-255}},
}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_what_was_evaluated_is_never_refused(name: str) -> None:
    case = dict(HONEST[name])
    truth, fields = case.pop("truth", OF_GRADES), {key: case.pop(key) for key in ("gain", "average") if key in case}
    convention = {"base": "standard", **case.pop("convention", {}), **fields}
    comparison = exactk.compare(truth, TWO, per_user=True, convention=convention, **case)
    for one in (comparison, comparison.state, comparison.reports["one"], comparison.reports["other"].state):
        assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own
        assert type(one).from_dict(json.loads(json.dumps(one.to_dict()))) == one
    parts = [
        exactk.compare({user: truth[user]}, {name: {user: lists[user]} for name, lists in TWO.items()},
            convention=convention, **{**case, **({"weights": {user: case["weights"][user]}} if "weights" in case else {})})
        for user in truth
    ]  # fmt: skip
    assert exactk.merge([one.state for one in parts]).state == comparison.state


def test_a_pickle_that_was_changed_is_an_input_error() -> None:
    comparison = _comparison(per_user=True)
    function, (reports, options, paired, clusters) = comparison.__reduce__()
    assert function(reports, options, paired, clusters) == comparison
    with pytest.raises(exactk.InputError, match="found invalid data: paired: expected a mapping"):
        function(reports, options, 3, clusters)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_variances_of_very_different_size() -> None:
    systems: Any = {"A": [[1], []], "B": [[1, 2], [1, 2]], "C": [[1], [1, 2]]}
    for size in (1e40, 1e60, 1e70):
        comparison = exactk.compare(
            [[1], [2]], systems, "list_fill@5", runs={"R": ["B", "C"]}, weights=[size, 1 / size]
        )
        (row,) = comparison.differences
        assert 0 <= row.p <= 1
        assert "list_fill@5" in comparison.to_markdown()
