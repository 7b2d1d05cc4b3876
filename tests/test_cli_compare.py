"""Differences and gates on the command line: those of Python, and exit codes that say what was decided."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import exactk
from commands import assert_refused, write_files
from exactk._cli.difference_options import CLAIMS, NOT_GIVEN, claim_option
from exactk._report.comparison_options import CHOICES, ComparisonOptions
from exactk._runtime import optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commands import CommandResult, Run

# Hits among the first ten for each of 20 users.
HITS = {
    "base": [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
    "new": [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
    "old": [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
}
USERS = [f"q{number:02}" for number in range(1, 21)]
GROUPS = {user: "even" if index % 2 else "odd" for index, user in enumerate(USERS)}
HOMES = {user: f"home{index // 2}" for index, user in enumerate(USERS)}
TWO = ("compare", "qrels.txt", "base.run", "new.run", "-m", "P@10")
THREE = ("compare", "qrels.txt", "base.run", "new.run", "old.run", "-m", "P@10", "-m", "mrr")


def lists_of(hits: Sequence[int]) -> list[list[str]]:
    return [[f"{'d' if position < count else 'x'}{position}" for position in range(10)] for count in hits]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files({"qrels.txt": "".join(f"{user} 0 d{position} 1\n" for user in USERS for position in range(10))})
    for name, hits in HITS.items():
        rows = [
            f"{user} Q0 {item} {rank} {100 - rank} {name}\n"
            for user, items in zip(USERS, lists_of(hits), strict=True)
            for rank, item in enumerate(items, 1)
        ]
        write_files({f"{name}.run": "".join(rows)})
    for name, values in {"groups": GROUPS, "homes": HOMES}.items():
        write_files({f"{name}.csv": f"user,{name}\n" + "".join(f"{user},{one}\n" for user, one in values.items())})
    write_files({"homes.json": json.dumps(HOMES)})
    return tmp_path


def compared(systems: Sequence[str], metrics: Sequence[str], **options: Any) -> exactk.Comparison:
    truth = {user: [f"d{position}" for position in range(10)] for user in USERS}
    predictions = {name: dict(zip(USERS, lists_of(HITS[name]), strict=True)) for name in systems}
    return exactk.compare(truth, predictions, metrics, unit_names=("query", "document"), **options)


def lines_of_gates(result: CommandResult) -> list[str]:
    return [line for line in result.err.splitlines() if re.match("exactk: --", line)]


def test_every_option_that_has_a_choice_is_one_of_the_command() -> None:
    names = {field.name for field in fields(ComparisonOptions)} | {"clusters"}
    assert set(NOT_GIVEN) == {name for name in names if len(CHOICES.get(name, ())) != 1}


@pytest.mark.parametrize(
    ("written", "options"),
    [
        (("--baseline", "new"), {"baseline": "new"}),
        (("--test", "sign", "--adjust", "bonferroni"), {"test": "sign", "adjust": "bonferroni"}),
        (("--test", "wilcoxon"), {"test": "wilcoxon", "per_user": True}),
        (
            ("--test", "permutation", "--adjust", "max_t", "--permutations", "199", "--seed", "7", "--interval", "bca"),
            {"test": "permutation", "adjust": "max_t", "permutations": 199, "seed": 7, "interval": "bca"},
        ),
        (("--interval", "percentile", "--resamples", "199"), {"interval": "percentile", "resamples": 199}),
        (("--test", "permutation", "--clusters", "homes.csv"), {"test": "permutation", "clusters": HOMES}),
        (("--alternative", "greater", "--family", "all"), {"alternative": "greater", "family": "all"}),
        (("--confidence", "0.9", "--missing", "error"), {"confidence": 0.9, "missing": "error"}),
        (("--margin", "20%"), {"margin": "20%"}),
        (("--margin", "P@10=0.03", "--margin", "mrr=30%"), {"margin": {"P@10": "0.03", "mrr": "30%"}}),
        (("--runs", "both=new,old"), {"runs": {"both": ["new", "old"]}}),
        (("--runs", "both=base,new", "--margin", "20%"), {"runs": {"both": ["base", "new"]}, "margin": "20%"}),
        (("--clusters", "homes.csv"), {"clusters": HOMES}),
        (("--clusters", "homes.json"), {"clusters": HOMES}),
        (("--clusters", "homes.csv", "--groups", "groups.csv"), {"clusters": HOMES, "groups": GROUPS}),
    ],
)
def test_differences_are_those_of_python(run: Run, written: Sequence[str], options: dict[str, Any]) -> None:
    expected = compared(["base", "new", "old"], ["P@10", "mrr"], **options).differences
    result = run(*THREE, *written, "--format", "json")
    assert result.code == 0, result.err
    found = exactk.Comparison.from_json(result.out).differences
    assert found == expected
    assert found != compared(["old", "base", "new"], ["P@10", "mrr"], **options).differences
    printed = run(*THREE, *written).out
    assert repr(expected) in printed
    if "groups" in options:
        assert repr(expected.by_group[:12]) in printed


def test_differences_follow_the_values_if_they_are_asked_for(run: Run) -> None:
    values = run(*TWO).out
    assert "difference" not in values
    assert run(*TWO, "--baseline", "base").out.startswith(f"{values}\n")
    assert run(*TWO, "--better", "P@10").out == run(*TWO, "--test", "t").out


@pytest.mark.parametrize("name", ["markdown", "latex"])
def test_differences_are_a_table_of_their_own(run: Run, name: str) -> None:
    differences = compared(["base", "new"], ["P@10"], groups=GROUPS).differences
    tables = [getattr(one, f"to_{name}")() for one in (differences, differences.by_group)]
    values = run(*TWO, "--groups", "groups.csv", "--format", name).out.rstrip("\n")
    printed = run(*TWO, "--groups", "groups.csv", "--test", "t", "--format", name).out
    assert printed == "\n\n".join([values, *tables]) + "\n"


def test_csv_has_the_differences_with_both_values(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*TWO, "--test", "t", "--groups", "groups.csv", "--format", "csv").out)))
    differences = compared(["base", "new"], ["P@10"], groups=GROUPS).differences
    assert [row["group"] for row in rows] == ["", "even", "odd"]
    for row, expected in zip(rows, [*differences, *differences.by_group], strict=True):
        found = [float(row[name]) for name in ("value", "baseline_value", "p")]
        assert found == [expected.value, expected.baseline_value, expected.p]
    assert "group" not in run(*TWO, "--test", "t", "--format", "csv").out
    assert "p_adjusted" not in run(*TWO, "--format", "csv").out


def test_a_table_says_how_many_rows_of_groups_it_leaves_out(run: Run) -> None:
    printed = run(*THREE, "--groups", "homes.csv", "--test", "t").out
    assert printed.endswith("\n48 more rows of groups with --format csv\n")


@pytest.mark.parametrize(
    ("code", "gates", "text"),
    [
        (0, ["--better", "P@10"], ""),
        (0, ["--no-worse", "P@10=5%", "--equivalent", "P@10=80%"], ""),
        (
            1,
            ["--equivalent", "P@10=0.001", "--confidence", "0.9"],
            "--equivalent fails: P@10: 'new' differs from 'base' by ",
        ),
        (3, ["--better", "P@10=10%"], "--better is undecided: P@10: 'new' differs from 'base' by "),
        (3, ["--better", "P@10", "--equivalent", "P@10=0.05"], "--equivalent is undecided: P@10: "),
        (
            1,
            ["--better", "P@10=10%", "--equivalent", "P@10=0.001", "--confidence", "0.9"],
            "--better is undecided: P@10: ",
        ),
    ],
)
def test_exit_codes_of_gates(run: Run, code: int, gates: Sequence[str], text: str) -> None:
    result = run(*TWO, *gates)
    assert result.code == code
    lines = lines_of_gates(result)
    assert bool(lines) == bool(code)
    if code:
        assert lines[0].startswith(f"exactk: {text}")
    for line in lines:
        assert ("queries would" in line) == ("undecided" in line)


def test_an_observed_gate_passes_and_says_so(run: Run) -> None:
    write_files({"same.run": Path("base.run").read_text(encoding="utf-8")})
    result = run(*TWO[:3], "same.run", "-m", "P@10", "--no-worse", "P@10=5%", "--junit", "gates.xml")
    assert result.code == 0
    (line,) = lines_of_gates(result)
    text = "P@10: 'same' is identical to 'base' for all 20 queries; 20 queries cannot show that it is not worse by more than 5%"
    assert line.startswith(
        f"exactk: --no-worse is observed, not shown: {text} (95 %): up to 14 % of all queries might differ; about 213 "
    )
    assert "\nexactk: gates: 1 of 1 pass: 0 shown, 1 observed; one-sided t tests" in result.err
    suite = ET.parse("gates.xml").getroot()  # noqa: S314 - written by the test
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")
    (output,) = suite.iter("system-out")
    assert (output.text or "").startswith(text)
    page = ("report", *TWO[1:3], "same.run", "-m", "P@10", "--no-worse", "P@10=5%", "-o", "page.html")
    assert run(*page).code == 0
    assert "Gate observed: 1 of 1 pass: 0 shown, 1 observed." in Path("page.html").read_text(encoding="utf-8")
    beside = run(*THREE[:3], "same.run", "new.run", "-m", "P@10", "--baseline", "base", "--no-worse", "P@10=1%")
    assert (beside.code, "gates: 1 of 2 pass: 0 shown, 1 observed" in beside.err) == (3, True)


def test_an_undefined_value_is_no_pass(run: Run) -> None:
    for name, line in {"qrels.txt": "q21 0 d0 0\n", **dict.fromkeys(TWO[2:4], "q21 Q0 d0 1 1 x\n")}.items():
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(line)
    fields = ("--set", "undefined=nan", "--set", "empty_truth=compute")
    result = run(*TWO, "-m", "recall@10", *fields, "--better", "recall@10", "--no-worse", "recall@10=50%")
    assert result.code == 3
    assert lines_of_gates(result) == [
        f"exactk: {gate} is undecided: recall@10: 'new' cannot be compared with 'base': undefined for 1 query"
        for gate in ("--better", "--no-worse")
    ]
    assert "no p-value: undefined for 1 query (recall@10 of new against base)" in result.out


def test_a_worse_system_fails_whatever_the_others_do(run: Run) -> None:
    result = run(*THREE, "--baseline", "new", "--no-worse", "P@10=20%", "--confidence", "0.6")
    assert result.code == 1
    assert [re.findall(r"--no-worse (\w+ ?\w*): P@10: ('\w+')", line)[0] for line in lines_of_gates(result)] == [
        ("is undecided", "'base'"),
        ("fails", "'old'"),
    ]


def test_a_value_below_min_fails_beside_an_undecided_gate(run: Run) -> None:
    result = run(*TWO, "--better", "P@10=10%", "--min", "P@10=0.99")
    assert result.code == 1
    assert "below --min" in result.err
    assert lines_of_gates(result)
    assert run(*TWO, "--better", "P@10=10%", "--min", "P@10=0.01").code == 3


def test_gates_are_those_of_python(run: Run) -> None:
    options = ("--confidence", "0.8", "--margin", "fbeta@10(beta=2)=0.02")
    gates = ("--no-worse", "fbeta@10(beta=2)", "--better", "recall@[5,10]", "--equivalent", "mrr=40%")
    result = run(*THREE, "--baseline", "base", *options, *gates, "--junit", "gates.xml")
    metrics = ["P@10", "mrr", "fbeta@10(beta=2)", "recall@5", "recall@10"]
    comparison = compared(["base", "new", "old"], metrics, baseline="base", confidence=0.8)
    expected = [
        *comparison.check(no_worse={"fbeta@10(beta=2)": 0.02}),
        *comparison.check(better=["recall@5", "recall@10"]),
        *comparison.check(equivalent={"mrr": "40%"}),
    ]
    assert len(expected) == 8
    texts = [check.text for check in expected if check.status != "holds"]
    assert [line.split(": ", 2)[2] for line in lines_of_gates(result)] == texts
    suite = ET.parse("gates.xml").getroot()  # noqa: S314 - written by the test
    assert (suite.get("tests"), suite.get("failures")) == (str(len(expected)), str(len(texts)))
    assert [case.get("name") for case in suite] == [
        f"{one.claim} {one.metric}{f' {one.margin}' * (one.claim != 'better')}: {one.system} against {one.baseline}"
        for one in expected
    ]
    assert [failure.get("message") for failure in suite.iter("failure")] == texts


@pytest.mark.parametrize("groups", [["even"], ["odd", "even"], ["every"]])
def test_gates_may_hold_in_groups(run: Run, groups: Sequence[str]) -> None:
    options = ("--groups", "groups.csv", *(part for group in groups for part in ("--gate-group", group)))
    gates = ("--no-worse", "P@10=30%", "--better", "P@10")
    result = run(*TWO, "--baseline", "base", *options, *gates, "--junit", "gates.xml")
    comparison = compared(["base", "new"], ["P@10"], baseline="base", groups=GROUPS)
    asked = "every" if groups == ["every"] else groups
    expected = comparison.check(no_worse={"P@10": "30%"}, better=["P@10"], groups=asked)
    assert {check.group for check in expected} == ({"odd", "even"} if asked == "every" else {*groups})
    texts = {check.text for check in expected if check.status != "holds"}
    assert {line.split(": ", 2)[2] for line in lines_of_gates(result)} == texts
    assert [str(case.get("name")) for case in ET.parse("gates.xml").getroot()][-1].endswith(  # noqa: S314 - written by the test
        f": new against base, group {expected.checks[-1].group}"
    )
    assert repr(expected).splitlines()[-1] in result.err
    csv_rows = list(csv.DictReader(io.StringIO(run(*TWO, *options[:2], "--baseline", "base", "--format", "csv").out)))
    assert [row["group"] for row in csv_rows] == ["", "even", "odd"]
    p = comparison.differences.heterogeneity_adjusted["P@10", "new", "base"]
    assert [row["heterogeneity_adjusted"] for row in csv_rows] == ["", repr(p), repr(p)]


def test_groups_of_gates_are_groups_of_the_users(run: Run) -> None:
    gate = (*TWO, "--better", "P@10")
    message = "--gate-group: expected 'every', or one of 'even', 'odd', found 'evn'; did you mean 'even'?"
    assert_refused(run(*gate, "--groups", "groups.csv", "--gate-group", "evn"), f"exactk: error: {message}")
    write_files({"base.run": Path("base.run").read_text(encoding="utf-8").replace(" d", " x")})
    worse = (*TWO, "--groups", "groups.csv", "--no-worse", "P@10=5%")
    message = "--no-worse: expected an absolute margin of P@10, found a share of the value of 'base', which is 0"
    assert f"exactk: error: {message}" in run(*worse).err
    assert run(*worse, "--gate-group", "even").code == 3


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("--gate-group even --better mrr", "--gate-group: expected --groups beside it, found none"),
        ("--gate-group even --groups g.csv", "--gate-group: expected --better beside it, found none"),
        ("--better num_relevant", "--better: expected metrics of which higher or lower values are better, found num_relevant; --equivalent num_relevant=1% needs no direction"),
        ("--no-worse ndcg@[3,5]", "--no-worse: expected the margin of ndcg@3, found none; --no-worse ndcg@3=1%"),
        ("--no-worse nothing=1%", "--no-worse: expected"),
        ("--no-worse mrr=0", "--no-worse: expected a number above 0 such as 0.002"),
        ("--margin 5", "--margin: expected a margin of precision@10 below 1, as its values are from 0 to 1, found 5; '5%' is 5 % of the baseline's value"),
        ("--adjust bh", "--adjust: expected one of holm, max_t, benjamini_hochberg, bonferroni, none, found 'bh'; did you mean 'benjamini_hochberg'?"),
        ("--confidence 0.05", "--confidence: expected at least 0.5 and below 1, found 0.05; --confidence 0.95"),
        ("--no-worse mrr=1% --no-worse MRR=2%", "--no-worse: expected one margin of MRR, found 1% and 2%"),
        ("--better mrr --better mrr=2%", "--better: expected one margin of mrr, found none and 2%"),
        ("--better =1%", "--better: expected METRIC[=MARGIN] such as ndcg@10=1%, found '=1%'"),
        ("--junit out.xml", "--junit: expected a gate: --better or --no-worse or --equivalent, or a bound: --min or --max, found none"),
        ("--better mrr --junit none/out.xml", "--junit: expected the path of a file, in a folder that exists"),
        ("--baseline nwe", "--baseline: expected one of 'base', 'new', found 'nwe'; did you mean 'new'?"),
        ("--confidence high", "--confidence: expected a number, found 'high'"),
        ("--test t-test", "--test: expected one of t, permutation, wilcoxon, sign, found 't-test'; did you mean 't'?; see exactk compare --help"),
        ("--adjust westfall-young", "--adjust: expected one of holm, max_t, benjamini_hochberg, bonferroni, none, found 'westfall-young'; did you mean 'max_t'?; see exactk compare --help"),
        ("--adjust max_t", "--adjust: expected an adjustment of test='t', found 'max_t'; --test permutation; see exactk compare --help"),
        ("--permutations 999", "--permutations: expected none with test='t', found 999; --test permutation"),
        ("--resamples 999", "--resamples: expected none with interval='t', found 999; --interval percentile"),
        ("--seed 1", "--seed: expected none, as t tests and intervals use no random numbers, found 1; --test permutation"),
        ("--test permutation --permutations 98", "--permutations: expected an integer from 99 to 10000000, found 98"),
        ("--test permutation --permutations 99 --confidence 0.999", "--permutations: expected at least 999 at a confidence of 0.999, found 99; --permutations 999"),
        ("--interval bca --confidence 0.9999", "--resamples: expected at least 19999 at a confidence of 0.9999, found 9999; --resamples 19999"),
        ("--test permutation --seed=-1", "--seed: expected an integer from 0 to 18446744073709551615, found -1"),
        ("--test permutation --seed 1.5", "--seed: expected an integer, found '1.5'"),
        ("--interval bootstrap", "--interval: expected one of t, percentile, bca, found 'bootstrap'"),
        ("--margin x", "--margin: expected a number above 0 such as 0.002"),
        ("--margin mrr=1% -m P@3", "--margin: expected one of precision@10, P@3, found reciprocal_rank"),
        ("--margin 1% --margin P@10=2% -m P@10", "--margin: expected a margin of all metrics, or one of each, found 1% and those of precision@10"),
        ("--margin 1% --margin 2%", "--margin: expected one margin of all metrics, found 1% and 2%"),
        ("--format trec --baseline new", "--baseline goes with any format but trec, which has no differences, or with a gate"),
        ("--runs both", "--runs: expected NAME=RUN,RUN such as als=als-1,als-2, found 'both'"),
        ("--runs both=base", "--runs: expected at least two runs of 'both', whose variance is estimated, found 'base'"),
        ("--runs both=base,nwe", "--runs: expected one of 'base', 'new', found 'nwe'; did you mean 'new'?"),
        ("--runs a=base,new --runs a=new,base", "--runs: expected the runs of each system once, found 'a' twice"),
        ("--runs both=base,new", "predictions: expected two systems or more to compare, found 'both' alone"),
        ("--runs both=base,new --test sign", "--test: expected 't' for several runs of a system"),
        ("--runs both=base,new --baseline new", "--baseline: expected a system, found 'new', a run of 'both'; --baseline both"),
        ("--clusters member", "--clusters: expected a file, or one of several user columns, found 'member'; --user member --user session"),
        ("--clusters -", "clusters: expected a file of columns, found stdin, which is read as TREC text"),
    ],
)  # fmt: skip
def test_what_is_at_fault_is_told_before_a_file_is_read(run: Run, written: str, message: str) -> None:
    call = ("compare", "nowhere.txt", "base=nowhere.run", "new=nowhere2.run", "-m", "precision@10")
    assert_refused(run(*call, *written.split()), f"exactk: error: {message}")


def test_gates_of_several_systems_need_a_baseline(run: Run) -> None:
    message = "--baseline: expected the system that --better compares others with, found none; --baseline base"
    assert_refused(run(*THREE, "--better", "mrr"), message)


def test_runs_are_one_system_of_a_gate(run: Run) -> None:
    result = run(*THREE, "--runs", "both=new,old", "--better", "mrr")
    assert "mrr: 'both' differs from 'base' by" in result.err
    assert "both: mean of 2 runs" in result.out


def test_many_systems_need_a_baseline(run: Run) -> None:
    systems = [f"s{number}=base.run{number}" for number in range(31)]
    message = "--baseline: expected a system, as there are more than 30, found none; --baseline s0"
    assert_refused(run("compare", "qrels.txt", *systems, "--test", "t"), message)


@pytest.mark.parametrize("option", [("--baseline", "base"), *((claim_option(claim), "mrr=1%") for claim in CLAIMS)])
def test_without_scipy_differences_are_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: Sequence[str]
) -> None:
    has = optional.has
    monkeypatch.setattr(optional, "has", lambda library: library != "scipy" and has(library))
    result = run("compare", "nowhere.txt", "base=nowhere.run", "new=nowhere2.run", *option)
    assert result == (2, "", f"exactk: error: {option[0]} needs scipy: pip install 'exactk[compare]'\n")
    assert run(*TWO).code == 0


def test_trec_lines_may_have_gates(run: Run) -> None:
    result = run(*TWO, "--format", "trec", "--equivalent", "P@10=0.001", "--confidence", "0.9")
    assert result.code == 1
    assert result.out == run(*TWO, "--format", "trec").out
    assert lines_of_gates(result)


def write_sessions() -> tuple[str, ...]:
    """Write users that are keys of two columns; return the command."""
    lists = {"truth": lists_of([10] * len(USERS)), "base": lists_of(HITS["base"]), "new": lists_of(HITS["new"])}
    for name, of_users in lists.items():
        lines = ["member,session,item,rank\n"]
        for user, items in zip(USERS, of_users, strict=True):
            lines += [f"{HOMES[user]},{user},{item},{rank}\n" for rank, item in enumerate(items, 1)]
        write_files({f"{name}.csv": "".join(lines)})
    return ("compare", "truth.csv", "base.csv", "new.csv", "-m", "P@10", "--user", "member", "--user", "session")


def test_clusters_may_be_a_column_of_the_users(run: Run) -> None:
    expected = compared(["base", "new"], ["P@10"], clusters=HOMES).differences
    assert expected[0].units == 10
    command = write_sessions()
    result = run(*command, "--clusters", "member", "--format", "json")
    assert result.code == 0, result.err
    assert exactk.Comparison.from_json(result.out).differences == expected
    Path("member").write_text("", encoding="utf-8")
    message = "--clusters: expected a file or a user column, found 'member', which is both; --clusters ./member"
    assert_refused(run(*command, "--clusters", "member"), message)


def test_clusters_are_an_input(run: Run) -> None:
    result = run(*TWO, "--clusters", "homes.csv", "--format", "json")
    assert '"argument": "clusters"' in result.out
    assert "clusters: expected a readable file" in run(*TWO, "--clusters", "nowhere.csv").err
    assert_refused(run(*TWO, "--clusters", "homes.csv", "--better", "P@10", "--junit", "homes.csv"), "--junit")


@pytest.mark.parametrize("others", [(), ("--groups", "people.csv")])
def test_clusters_have_the_user_column_that_is_named(run: Run, others: Sequence[str]) -> None:
    write_files({"people.csv": "home,person\n" + "".join(f"{home},{user}\n" for user, home in HOMES.items())})
    result = run(*TWO, "--clusters", "people.csv", "--user", "person", *others, "--format", "json")
    assert result.code == 0, result.err
    differences = exactk.Comparison.from_json(result.out).differences
    assert list(differences) == list(compared(["base", "new"], ["P@10"], clusters=HOMES).differences)


def cases_of(path: str) -> list[tuple[str | None, str]]:
    """Return the name of each test case, and the type of its failure or error."""
    suite = ET.parse(path).getroot()  # noqa: S314 - written by the test
    found = [(case.get("name"), next((one.get("type") or "" for one in case), "")) for case in suite]
    assert suite.get("failures") == str(len(suite.findall("*/failure")))
    assert suite.get("errors") == str(len(suite.findall("*/error")))
    return found


def test_bounds_are_cases_of_the_junit_report(run: Run) -> None:
    """A report that is green beside exit code 1 hides what failed."""
    bounds = ("--min", "P@10=0.9", "--max", "base:P@10=0.9", "--junit", "gates.xml")
    assert run(*TWO, "--no-worse", "P@10=50%", *bounds).code == 1
    below = "below --min"
    of_bounds = [("min P@10 0.9: base", below), ("max P@10 0.9: base", ""), ("min P@10 0.9: new", below)]
    assert cases_of("gates.xml") == [("no_worse P@10 50%: new against base", ""), *of_bounds]
    assert run(*TWO, *bounds).code == 1
    assert cases_of("gates.xml") == of_bounds


@pytest.mark.parametrize("fault", [("--clusters", "nowhere.csv"), ("--confidence", "95"), ("-m", "nothing")])
def test_an_error_replaces_the_junit_report_of_an_earlier_run(run: Run, fault: Sequence[str]) -> None:
    gate = ("--better", "P@10", "--junit", "gates.xml")
    assert run(*TWO, *gate).code == 0
    assert run(*TWO, *gate, *fault).code == 2
    assert cases_of("gates.xml") == [("exactk compare", "error")]


def test_no_error_replaces_an_input(run: Run) -> None:
    for path in ("qrels.txt", "base.run", "homes.csv"):
        content = Path(path).read_bytes()
        assert run(*TWO, "--clusters", "homes.csv", "--better", "P@10", "--confidence", "95", "--junit", path).code == 2
        assert Path(path).read_bytes() == content


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_a_warning_of_few_flips_names_the_option(run: Run) -> None:
    how: dict[str, Any] = {"test": "permutation", "adjust": "max_t", "permutations": 199}
    p = compared(list(HITS), ["P@10"], **how).differences["old", "new", "P@10"].p_adjusted
    options = [part for name, value in how.items() for part in (f"--{name}", str(value))]
    result = run(*THREE[:-2], *options, "--confidence", repr(1 - p))
    assert result.code == 0
    (line,) = (line for line in result.err.splitlines() if "may be on either side" in line)
    assert re.match(r"exactk: warning: P@10 of \w+ against \w+( and 1 more)?: adjusted p = 0\.", line)
    assert line.endswith("; --permutations 1999 has a smaller error")
