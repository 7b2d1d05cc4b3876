from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import exactk
from strategies import Evaluation, evaluations, examples
from test_laws import run_if_legal

TRUTH = exactk.Truth([0, 2, 3, 3], [1, 4, 21], users=["ann", "bob", "cy"])
LISTS = [[4, 2, 1], [3, 21], [5]]
GROUPS = {"ann": "x", "bob": "y", "cy": "y"}


@pytest.fixture
def report() -> exactk.Report:
    return exactk.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"], groups=GROUPS, per_user=True)


def test_look_up(report: exactk.Report) -> None:
    assert report.metrics == ("precision@2", "ndcg@2")
    assert report["nDCG@2"] == report["ndcg@2"]
    assert report.per_user["P@2"].tolist()[:2] == [0.5, 0.5]
    assert math.isnan(report.per_user["P@2"][2])
    assert report.by_group["x"]["P@2"] == 0.5
    assert "ndcg_cut_2" in report
    with pytest.raises(KeyError, match="'recall' is not among 'P@2', 'ndcg@2'"):
        report["recall"]
    with pytest.raises(KeyError, match="did you mean"):
        report["ndgc"]
    assert report.get("ndgc") is None
    assert report["precision@2"] == report.get("P@[2]") == report["P@2"]
    assert "ndgc" not in report


def test_per_user_values_must_be_asked_for() -> None:
    with pytest.raises(KeyError, match="per_user=True"):
        exactk.evaluate(TRUTH, LISTS, "P@2").per_user["P@2"]


def test_standard_deviation() -> None:
    report = exactk.evaluate([[1]] * 4, [[1], [1], [2], [1]], ["P@1", "P@1(average=micro)"])
    assert report.standard_deviation["P@1"] == pytest.approx(np.std([1, 1, 0, 1]), rel=1e-12)
    assert math.isnan(report.standard_deviation["P@1(average=micro)"])


@pytest.mark.parametrize("options", [{}, {"weights": [0.1, 0.2, 0.7]}])
def test_equal_values_do_not_deviate(options: dict[str, Any]) -> None:
    """Sums of squares are exact: their difference cancels to 0, not to the root of a rounding."""
    lists = [[2, 3, 4, 5, 6, 7, 1]] * 3
    report = exactk.evaluate([[1]] * 3, lists, ["mrr", "dcg"], **options)
    assert list(report.standard_deviation.values()) == [0.0, 0.0]


def test_weights_of_0_are_nobody() -> None:
    with pytest.warns(exactk.EvaluationWarning, match="weight"):
        nobody = exactk.evaluate([[1]], [[1]], "P@1", weights=[0.0])
    assert math.isnan(nobody["P@1"])


def test_the_footer_says_that_values_are_weighted() -> None:
    truth, lists = [[1], [2]], [[1], [1]]
    plain = exactk.evaluate(truth, lists, "P@1")
    weighted = exactk.evaluate(truth, lists, "P@1", weights=[1.0, 3.0])
    assert repr(plain).splitlines()[-1] == "convention standard; 2 users"
    for report in (weighted, exactk.merge([weighted.state]), exactk.Report.from_json(weighted.to_json())):
        assert repr(report).splitlines()[-1] == "convention standard; weighted; 2 users"
    comparison = exactk.compare(truth, {"a": lists, "b": lists}, "P@1", weights=[1.0, 3.0])
    assert repr(comparison).splitlines()[-1] == "convention standard; weighted; 2 users; * best"


@pytest.mark.parametrize(
    ("metric", "convention"),
    [("P@1(min_grade=4)", {}), ("P@1", {"precision.min_grade": 4}), (["P@1", "P@2(min_grade=4)"], {})],
)
def test_the_footer_says_that_counts_ignore_rules_of_metrics(metric: Any, convention: Any) -> None:
    truth, scores = [{1: 5, 2: 1}, {1: 2}], [{1: 0.5}, {1: 0.5}]
    of_metric = " in P@2(min_grade=4)" if isinstance(metric, list) else ""
    counts = f"2 users, 1 relevant item not rankable, 1 user skipped{of_metric}, 1 candidate per user"
    report = exactk.evaluate(truth, scores, metric, convention=convention)
    assert repr(report).endswith(f"; counts without the metrics' own min_grade; {counts}")
    comparison = exactk.compare(truth, {"a": scores}, metric, convention=convention)
    assert repr(comparison).endswith("; counts without the metrics' own min_grade; 2 users")
    report = exactk.evaluate(truth, scores, "P@1(gain=exp2,min_grade=4)", convention={"min_grade": 4})
    assert repr(report).endswith(
        "min_grade=4.0; 2 users, 1 user without relevant items, 1 user skipped, 1 candidate per user"
    )


def test_immutable(report: exactk.Report) -> None:
    with pytest.raises(TypeError):
        report.counts["users"] = 7  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        report.per_user["P@2"][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        report.users[0] = "eve"


@settings(max_examples=examples(150))
@given(evaluations())
def test_json_and_pickle_give_the_report_back(evaluation: Evaluation) -> None:
    report = run_if_legal(evaluation, per_user=len(evaluation.metrics) > 1)
    written = report.to_json()
    assert exactk.Report.from_json(written) == report
    assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - just written
    assert hash(exactk.Report.from_json(written)) == hash(report)
    (strict,) = json.loads(written, parse_constant=pytest.fail)["reports"]
    assert strict["values"] == {name: None if math.isnan(value) else value for name, value in report.items()}


def test_json_means_the_same_in_any_order_of_its_keys(report: exactk.Report) -> None:
    text = json.dumps(json.loads(report.to_json()), sort_keys=True)
    assert exactk.Report.from_json(text) == report


@pytest.mark.parametrize("users", [np.array([1, 2**64 - 1, 5], np.uint64), ["a", "b", "c"], [-1, 2, 3]])
def test_keys_of_users_survive_json(users: Any) -> None:
    truth = exactk.Truth([0, 1, 2, 3], [1, 2, 3], users=users)
    report = exactk.evaluate(truth, [[1], [2], [3]], "P@1")
    again = exactk.Report.from_json(report.to_json())
    assert again == report
    assert again.users.tolist() == list(users)


@pytest.mark.parametrize("users", [[1, "a"], [1.5, 2.5], [True, False], [None, None], np.array([1, 2], "M8[s]")])
def test_keys_are_integers_or_strings(users: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"^truth\.users: expected (keys|integer ids|a value in every row)"):
        exactk.Truth([0, 1, 2], [1, 2], users=users)
    with pytest.raises(exactk.InputTypeError, match="integers or strings"):
        exactk.evaluate([[1], [2]], [[1], [2]], "P@1", groups=users)


def test_reports_that_differ_are_not_equal(report: exactk.Report) -> None:
    assert report != exactk.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"], groups=GROUPS)
    assert report != exactk.evaluate(TRUTH, [*LISTS[:2], []], ["P@2", "ndcg@2"], groups=GROUPS, per_user=True)
    assert report != "report"


TEXT = """\
metric   value     std
P@2     0.5000  0.0000
ndcg@2  0.6220  0.0089
group  evaluated     P@2  ndcg@2
x              1  0.5000  0.6131
y              1  0.5000  0.6309
convention standard; 3 users, 1 user without relevant items, 1 user skipped"""


def test_as_text(report: exactk.Report) -> None:
    assert repr(report) == TEXT
    assert report.to_markdown() == "| metric | value | std |\n| --- | ---: | ---: |\n" + "\n".join(
        f"| {name} | {report[name]:.4f} | {report.standard_deviation[name]:.4f} |" for name in report
    )
    assert report.to_markdown(diagnostics=True).splitlines()[:3] == [
        "| metric | value | std | evaluated | skipped |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| P@2 | 0.5000 | 0.0000 | 2 | 1 |",
    ]
    latex = report.to_latex().splitlines()
    assert latex[:2] == [r"\begin{tabular}{lrr}", r"\toprule"]
    assert latex[4] == r"P@2 & 0.5000 & 0.0000 \\"


def test_an_unknown_table_is_an_error(report: exactk.Report) -> None:
    with pytest.raises(exactk.InputError, match="per_user=True"):
        exactk.evaluate(TRUTH, LISTS, "P@1").to_pandas("per_user")
    with pytest.raises(exactk.InputError, match="table"):
        report.to_pandas("users")  # type: ignore[arg-type]


def test_comparison_of_systems() -> None:
    systems: Any = {"one": LISTS, "other": [[1, 4], None, []]}
    with pytest.warns(exactk.EvaluationWarning, match="different users"):
        comparison = exactk.compare(TRUTH, systems, ["P@2", "R@2(missing_list=skip)"])
    assert list(comparison.reports) == ["one", "other"]
    assert comparison.reports["one"] == exactk.evaluate(TRUTH, LISTS, ["P@2", "R@2(missing_list=skip)"])
    assert comparison["P@2"] == {"one": 0.5, "other": 0.5}
    assert repr(comparison).splitlines() == [
        "metric                     one    other",
        "P@2                     0.5000*  0.5000*",
        "R@2(missing_list=skip)  0.7500   1.0000*",
        "skipped users in P@2: 1",
        "skipped users in R@2(missing_list=skip): 1 in one, 2 in other",
        "users without relevant items: 1",
        "users with empty lists: 1 in other",
        "users without predictions: 1 in other",
        "convention standard; 3 users; * best",
    ]
    assert comparison.to_markdown().startswith("| metric | <sup>a</sup> one | <sup>b</sup> other |")
    assert "tabular" in comparison.to_latex()


def comparison_of(*systems: str) -> exactk.Comparison:
    return exactk.compare([[1]], {system: [[1]] for system in systems}, "P@1")


def test_f34_latex_commands_and_comments_in_names_are_text() -> None:
    line = comparison_of(r"a_b & 5% #1 $x$ {y} \end ~^").to_latex().splitlines()[2]
    name = r"a\_b \& 5\% \#1 \$x\$ \{y\} \textbackslash{}end \textasciitilde{}\textasciicircum{}"
    assert line == rf"metric & {name} \\"


def test_f34_markdown_cells_cannot_end_early() -> None:
    lines = comparison_of("a|b", "c\\|d", "e\nf").to_markdown().splitlines()
    assert lines[0] == r"| metric | a\|b | c\\\|d | e\\nf |"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+cmd", "'+cmd"),
        ("-2+3", "'-2+3"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        ("\n=1", '"\'\n=1"'),
        ('=1,"2"', '"\'=1,""2"""'),
        ("a=1", "a=1"),
        ("a,b", '"a,b"'),
        ('say "a"', '"say ""a"""'),
        ("two\nlines", '"two\nlines"'),
        ("-2.5e-3", "-2.5e-3"),
        ("+1", "+1"),
    ],
)
def test_f34_csv_is_quoted_and_no_formula(name: str, written: str) -> None:
    assert comparison_of(name).to_csv().partition("\n")[2].startswith(f"{written},P,1,1.0,")
    users = exactk.evaluate(exactk.Truth([0, 1], [1], users=[name]), [[1]], "P@1", per_user=True)
    assert users.to_csv(table="per_user") == f"user,P@1\n{written},1.0\n"


def test_f34_control_characters_do_not_reach_a_terminal() -> None:
    """Nor do those that turn the direction of what follows, or stand for what is no character."""
    name = "a\x1b[2Jb\x9b\x07\x00\r\n\u202ec\udcff\u2028é中"
    shown = r"a\x1b[2Jb\x9b\x07\x00\r\n\u202ec\udcff\u2028é中"
    comparison = comparison_of(name)
    assert repr(comparison).splitlines()[0].split()[1] == shown
    for text in (repr(comparison), comparison.to_markdown(), comparison.to_latex()):
        assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert shown.replace("\\", "\\\\") in comparison.to_markdown()


@pytest.mark.parametrize("keyed", [{"ann": [1]}, {3: [1]}])
def test_f44_a_part_without_users_merges_with_any(keyed: dict[Any, list[int]]) -> None:
    report = exactk.evaluate(keyed, {**keyed}, "recall@1", per_user=True)
    with pytest.warns(exactk.EvaluationWarning, match="no user"):
        parts = [exactk.evaluate(empty, empty, "recall@1", per_user=True) for empty in ({}, [])]  # type: ignore[var-annotated]
    for part in parts:
        assert exactk.merge([part, report]) == exactk.merge([report, part]) == report
        assert exactk.merge([part, part]).users.tolist() == []


@pytest.mark.filterwarnings("ignore:no user was evaluated")
def test_merge_refuses_labels_of_groups_of_several_types() -> None:
    """A state holds labels of one type: what was written could not be read again."""
    parts = []
    by_part: list[dict[str, Any]] = [{}, {"ann": 1}, {"bob": "x"}]
    for groups in by_part:
        lists: Any = {user: [1] for user in groups}
        parts.append(exactk.evaluate(lists, {**lists}, "P@1", groups=groups).state)
    assert list(exactk.merge(parts[:2]).by_group) == [1]
    for states in (parts, parts[1:]):
        with pytest.raises(exactk.StateMismatchError, match="group labels of one type, found int and str"):
            exactk.merge(states)


def test_merge_refuses_other_plans(report: exactk.Report) -> None:
    for other, message in [
        (exactk.evaluate(TRUTH, LISTS, ["P@2"], groups=GROUPS), "metrics"),
        (exactk.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"]), "groups"),
        (exactk.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"], groups=GROUPS, weights=dict.fromkeys(GROUPS, 1)), "weighted"),
        (exactk.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"], groups=GROUPS, convention="capped"), "recall_over"),
        (exactk.reference.evaluate(TRUTH, LISTS, ["P@2", "ndcg@2"], groups=GROUPS), "reference"),
    ]:
        with pytest.raises(exactk.StateMismatchError, match=message):
            exactk.merge([report, other])
    without_keys = exactk.evaluate([[1]], [[1]], ["P@2", "ndcg@2"], groups=["x"], per_user=True)
    with pytest.raises(exactk.StateMismatchError, match="user keys"):
        exactk.merge([report, without_keys])
    with pytest.raises(exactk.InputError):
        exactk.merge([])
    with pytest.raises(exactk.InputTypeError):
        exactk.merge(report)  # type: ignore[call-overload]
    with pytest.raises(exactk.InputTypeError):
        exactk.merge([report, 3])  # type: ignore[list-item]


def test_a_state_with_another_checksum_is_refused(report: exactk.Report) -> None:
    data = bytearray(report.state.to_bytes())
    assert exactk.State.from_bytes(bytes(data)) == report.state
    data[len(b"exactk-state\n") + 4] ^= 1
    with pytest.raises(exactk.InputError, match="checksum mismatch"):
        exactk.State.from_bytes(bytes(data))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("tie_dependent.x", 1),
        ("tie_dependent", 1),
        ("candidates.users", 1),  # and none of the others
        ("duplicates", -1),
        ("duplicates", 0.5),
        ("users", None),
    ],
)
def test_counts_that_no_report_can_show(report: exactk.Report, name: str, count: object) -> None:
    state = report.state.to_dict()
    state["counts"] = {**state["counts"], name: count}
    with pytest.raises(exactk.InputError, match=r"the output of State\.to_dict"):
        exactk.State.from_dict(state)
    del state["counts"]["users"]
    with pytest.raises(exactk.InputError, match=r"the output of State\.to_dict"):
        exactk.State.from_dict(state)


@pytest.mark.parametrize(("column", "has_systems"), [("P@1", False), ("P@1", True), ("system", True)])
def test_no_column_of_users_is_replaced_in_exports(column: str, *, has_systems: bool) -> None:
    frame = pl.DataFrame({column: ["a", "b"], "session": [1, 2], "item": [1, 1], "rank": [1, 1]})
    options: Any = {"user": [column, "session"], "per_user": True}
    report: exactk.Report | exactk.Comparison
    if has_systems:
        report = exactk.compare(frame.drop("rank"), {"one": frame, "other": frame}, "P@1", **options)
    else:
        report = exactk.evaluate(frame.drop("rank"), frame, "P@1", **options)
    with pytest.raises(exactk.InputError, match=f"table: expected distinct column names, found two .*{column}"):
        report.to_csv(table="per_user")
    assert report.to_csv().count("P,1,") == 1 + has_systems


def test_a_state_prints_what_it_is_of() -> None:
    groups, convention = ["a", "b"], {"ties": "expected"}
    state = exactk.evaluate([[1], [2]], [[1], [3]], ["P@1", "mrr"], groups=groups, convention=convention).state
    assert repr(state) == "<State of 2 users in 2 groups: P@1, mrr; convention standard with ties='expected'>"
