"""What was asked is what comes back: values under the spelling asked for, found in every other."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

import exactk
from exactk._plan.metric_strings import plan

TRUTH = {"ann": ["film", "song"], "bob": ["film"], "cy": []}
LISTS: Any = {"ann": ["song", "book", "film"], "bob": ["book", "film"], "cy": ["song"]}
GROUPS = {"ann": "old", "bob": "new", "cy": "new"}
STANDARD = exactk.conventions["standard"]

# What is asked for: the keys, the canonical names, and the metrics and cutoffs of long tables.
ASKED: dict[str, list[tuple[str, str, str, int | None]]] = {
    "map@10": [("map@10", "average_precision@10", "map", 10)],
    "P@10": [("P@10", "precision@10", "P", 10)],
    "ndcg_cut_10": [("ndcg_cut_10", "ndcg@10", "ndcg_cut", 10)],
    "recall @ 5": [("recall @ 5", "recall@5", "recall", 5)],
    " R@2\n": [("R@2", "recall@2", "R", 2)],
    "MRR": [("MRR", "reciprocal_rank", "MRR", None)],
    "f_1@3": [("f_1@3", "f1@3", "f_1", 3)],
    "ndcg@[5,20]": [("ndcg@5", "ndcg@5", "ndcg", 5), ("ndcg@20", "ndcg@20", "ndcg", 20)],
    "nDCG @ [ 1, 02 ] (gain=exp2)": [
        ("nDCG @ 1 (gain=exp2)", "ndcg@1(gain=exp2)", "nDCG(gain=exp2)", 1),
        ("nDCG @ 2 (gain=exp2)", "ndcg@2(gain=exp2)", "nDCG(gain=exp2)", 2),
    ],
    "hr@1, hr@3": [("hr@1", "hit_rate@1", "hr", 1), ("hr@3", "hit_rate@3", "hr", 3)],
    "ndcg-cut-7": [("ndcg-cut-7", "ndcg@7", "ndcg-cut", 7)],
    "P@[4]": [("P@4", "precision@4", "P", 4)],
    "dcg@4(gain_table=[0,1,3])": [
        ("dcg@4(gain_table=[0,1,3])", "dcg@4(gain_table=[0,1,3])", "dcg(gain_table=[0,1,3])", 4)
    ],
    "P@6(average=macro)": [("P@6(average=macro)", "precision@6", "P(average=macro)", 6)],
}


@pytest.fixture
def report() -> exactk.Report:
    result: exactk.Report = exactk.evaluate(TRUTH, LISTS, list(ASKED), groups=GROUPS, per_user=True)
    return result


def test_keys_are_what_was_asked(report: exactk.Report) -> None:
    expected = [value for values in ASKED.values() for value in values]
    names = [spelling for spelling, *_ in expected]
    assert list(report) == names
    assert report.metrics == tuple(name for _, name, *_ in expected)
    mappings = [report, report.per_user, report.by_group["old"], report.standard_deviation]
    for mapping in [*mappings, report.counts["evaluated"]]:
        assert list(mapping) == names
    assert [line.split("  ")[0] for line in repr(report).splitlines()[1 : len(names) + 1]] == names
    columns = report.columns()
    assert list(zip(columns["metric"], columns["k"], strict=True)) == [(label, k) for *_, label, k in expected]
    assert list(report.columns(wide=True)) == names
    assert list(report.to_dict()["values"]) == list(report.to_dict()["per_user"]) == names


def test_values_are_found_in_every_spelling(report: exactk.Report) -> None:
    for values in ASKED.values():
        for spelling, name, _, _ in values:
            alone = exactk.evaluate(TRUTH, LISTS, name, groups=GROUPS, per_user=True)
            for found in (spelling, name, spelling.replace("@", " @ "), name.replace("average_precision", "AP")):
                assert report[found] == alone[name]
                assert found in report
                assert report.by_group["new"][found] == alone.by_group["new"][name]
                assert report.per_user[found].tolist()[:2] == alone.per_user[name].tolist()[:2]


def test_a_report_is_a_mapping(report: exactk.Report) -> None:
    assert isinstance(report, Mapping)
    assert dict(report) == {name: report[name] for name in report}
    assert list(report.items()) == list(zip(report.keys(), report.values(), strict=True))
    assert len(report) == len(report.keys()) == sum(map(len, ASKED.values()))
    assert "average_precision@10" in report.keys()  # noqa: SIM118 - of the view
    assert repr(report.keys()).startswith("KeysView({'map@10': ")
    assert report.get("auc") is None
    assert "auc" not in report
    assert 5 not in report  # type: ignore[comparison-overlap]
    assert {**report}["map@10"] == report["map@10"]


@pytest.mark.parametrize("change", ["values", "state", "map@10"])
def test_a_report_cannot_be_changed(report: exactk.Report, change: str) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(report, change, 1)
    with pytest.raises(TypeError):
        report["map@10"] = 1.0  # type: ignore[index]


def test_copies_are_equal(report: exactk.Report) -> None:
    copies = [pickle.loads(pickle.dumps(report)), copy.deepcopy(report), exactk.Report.from_json(report.to_json())]  # noqa: S301 - just written
    for one in copies:
        assert one == report
        assert hash(one) == hash(report)
        assert repr(one) == repr(report)
        assert list(one) == list(report)


def test_two_spellings_of_one_value_are_one_entry() -> None:
    report = exactk.evaluate(TRUTH, LISTS, ["map@2", "average_precision@2", "AP@[2,1]", "map@2"])
    assert list(report) == ["map@2", "AP@1"]
    assert report["AP@2"] == report["average_precision@2"] == report["map@2"]


def test_other_spellings_are_other_reports_of_equal_values() -> None:
    one, other = (exactk.evaluate(TRUTH, LISTS, metric) for metric in ("map@2", "AP@2"))
    assert one != other
    assert one["AP@2"] == other["map@2"]


def test_merging_goes_by_canonical_names() -> None:
    """Parts that are spelled alike keep their spelling; of others the order does not matter."""
    asked = {"ann": "map@2", "bob": "AP@2"}
    parts = [
        exactk.evaluate({user: TRUTH[user]}, {user: LISTS[user]}, [metric, "P@1"]) for user, metric in asked.items()
    ]
    whole = exactk.evaluate(TRUTH, LISTS, ["average_precision@2", "P@1"])  # cy has no truth
    for order in (parts, parts[::-1], [part.state for part in parts]):
        merged = exactk.merge(order)
        assert list(merged) == ["average_precision@2", "P@1"]
        assert dict(merged) == dict(whole)
    assert list(exactk.merge([parts[0].state])) == ["map@2", "P@1"]
    again = exactk.State.from_bytes(parts[0].state.to_bytes())
    assert again.spellings == ("map@2", "P@1")
    assert again.metrics == ("average_precision@2", "precision@1")


@given(st.lists(st.sampled_from(["map", "AP", "average_precision"]), min_size=1, max_size=5))
def test_merging_is_the_same_in_any_order(aliases: list[str]) -> None:
    states = [exactk.evaluate([[1]], [[2, 1]], f"{alias}@2").state for alias in aliases]
    expected = f"{aliases[0] if len(set(aliases)) == 1 else 'average_precision'}@2"
    left = states[0]
    for state in states[1:]:
        left = left.plus(state)
    right = states[-1]
    for state in states[-2::-1]:
        right = state.plus(right)
    assert left == right == exactk.merge(states).state
    assert left.spellings == (expected,)


@given(
    st.sampled_from([alias for info in exactk.metrics.values() for alias in (info.name, *info.aliases)]),
    st.sampled_from(["", "@3", " @ 3", "@[3]", "@[2,3]", "@[3, 2,  7]", "_3", "-3", ",P@[4,5]"]),
    st.sampled_from(
        ["", "(average=micro)", " ( gain=exp2, average=micro )", "(gain_table=[0,3,5])", "(ap_over=relevant)"]
    ),
)
def test_a_spelling_resolves_to_itself(alias: str, cutoffs: str, arguments: str) -> None:
    try:
        values = plan(alias + cutoffs + arguments, STANDARD)
    except exactk.InputError:  # not every metric has cutoffs, or does without a parameter
        assume(False)
    again = plan([value.spelling for value in values], STANDARD)
    names = [[(value.name, value.spelling, value.label) for value in one] for one in (again, values)]
    assert names[0] == names[1]
    for value in values:
        at_cutoff = "" if value.cutoff is None else f"@{value.cutoff}"
        name, parenthesis, rest = value.label.partition("(")
        assert plan(name + at_cutoff + parenthesis + rest, STANDARD) == (value,)


@pytest.mark.parametrize(
    "spellings",
    [["P@1"], ["P@1", "P@1"], ["P@1", "ndcg@[2,3]"], ["ndcg@2", "P@1"], [" P@1", "ndcg@2"], ["P@1", "ndcg@3"], "P@1", None, [1, 2]],
)  # fmt: skip
def test_states_with_spellings_of_other_values_are_refused(spellings: Any) -> None:
    data = exactk.evaluate(TRUTH, LISTS, ["P@1", "ndcg@2"]).state.to_dict()
    assert exactk.State.from_dict(data).spellings == ("P@1", "ndcg@2")
    with pytest.raises(exactk.InputError, match=r"the output of State\.to_dict"):
        exactk.State.from_dict(data | {"spellings": spellings})


def test_warnings_and_errors_name_what_was_asked() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="no user was evaluated for MRR@3: NaN"):
        exactk.evaluate([[]], [[1]], "MRR@3")
    with pytest.raises(KeyError, match=r"'recall@3' is not among 'hr@1', 'hr@2'"):
        exactk.evaluate([[1]], [[1]], "hr@[1,2]")["recall@3"]
    with pytest.raises(exactk.InputError, match=r"satisfy: expected one of the report's metrics, hr@1, found 'R@1'"):
        exactk.choose(exactk.evaluate([[1]], [[1]], "hr@1"), "hr@1", {"R@1": 0.5})


def test_a_report_is_no_list_of_metrics(report: exactk.Report) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"metrics=list\(metrics\)") as caught:
        exactk.evaluate(TRUTH, LISTS, report)
    assert "found Report" in str(caught.value)
    assert exactk.evaluate(TRUTH, LISTS, list(report)) == exactk.evaluate(TRUTH, LISTS, list(ASKED))
