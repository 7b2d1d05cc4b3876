"""The command line beside what trec_eval 9.0.8 and 10.0 print."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import recorded_measures
from commands import Run, assert_refused, write_files
from exactk._cli import main
from exactk._plan.trec_measures import OUTSIDE_OF_SETS

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(os.environ.get("EXACTK_DATA", "/nonexistent")) / "trec_eval"
recorded_outputs = pytest.mark.skipif(
    not DATA.is_dir(), reason="set EXACTK_DATA to the folder with recorded outputs of trec_eval"
)
pytestmark = pytest.mark.filterwarnings("ignore:.*queries have ranks that contradict")  # those of the runs are drawn

CASES = [f"case{number:02}" for number in range(10)]
VERSIONS = {"9.0.8": "trec_eval_9", "10.0": "trec_eval"}


def truncated_run(case: str, version: str, depth: int, folder: Path) -> Path:
    """Return the run with the best of each query alone, as -M takes it: ties by the highest id."""
    score_type = np.float32 if version == "9.0.8" else np.float64
    rows: dict[str, list[tuple[Any, str, str]]] = {}
    for line in (DATA / f"{case}.run").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        rows.setdefault(query, []).append((score_type(score), document, line))
    lines = [line for ranked in rows.values() for _, _, line in sorted(ranked, reverse=True)[:depth]]
    path = folder / f"{case}.run"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Recording(NamedTuple):
    """Options of trec_eval, and what is the same here."""

    arguments: Sequence[str] = ()
    depth: int | None = None  # of the lists


RECORDINGS = {
    "q": Recording(["-q"]),
    "qc": Recording(["-q", "-c"]),
    "l2": Recording(["--set", "min_grade=2"]),
    "M5": Recording(depth=5),
}
RECORDED = [
    f"{case} {version} {name}"
    for case in CASES
    for version in VERSIONS
    for name in RECORDINGS
    if not DATA.is_dir() or (DATA / f"{case}.{version}.{name}.out").exists()
]


class Printed(NamedTuple):
    """What trec_eval and exactk print for the same files."""

    code: int
    theirs: str
    ours: str
    errors: str


def printed(recorded: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    case, version, name = recorded.split()
    recording = RECORDINGS[name]
    run = DATA / f"{case}.run"
    if recording.depth is not None:
        run = truncated_run(case, version, recording.depth, folder)
    options = ["--format", "trec", "-m", "all_trec", "--convention", VERSIONS[version], *recording.arguments]
    code = main(["evaluate", str(DATA / f"{case}.qrels"), str(run), *options])
    streams = capsys.readouterr()
    theirs = (DATA / f"{case}.{version}.{name}.out").read_text(encoding="utf-8")
    return Printed(code, theirs, streams.out, streams.err)


def lines_of(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in text.splitlines()]


@recorded_outputs
@pytest.mark.parametrize("recorded", RECORDED)
def test_f71_f90_the_text_is_that_of_trec_eval(
    recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = printed(recorded, tmp_path, capsys)
    if both.theirs.startswith("exit 4"):  # a query of the qrels without results, whose message says the reverse
        assert both.theirs.splitlines()[1] == "trec_eval: result qid '5' not found in qrels"
        assert (both.code, both.ours) == (4, "")
        assert "expected results for each query of the qrels" in both.errors
        assert "found none for '5'; -c counts them as 0" in both.errors
        return
    assert (both.code, lines_of(both.ours)) == (0, lines_of(both.theirs))


@recorded_outputs
@pytest.mark.parametrize(("version", "count", "refused"), [("9.0.8", 13_676, 0), ("10.0", 13_836, 3)])
def test_f90_how_many_lines_are_equal(
    version: str, count: int, refused: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is left out: 27,512 lines are those that both versions of trec_eval printed for all of `RECORDED`."""
    both = [printed(recorded, tmp_path, capsys) for recorded in RECORDED if recorded.split()[1] == version]
    equal = [one for one in both if lines_of(one.ours) == lines_of(one.theirs)]
    assert sum(len(lines_of(one.theirs)) for one in equal) == count
    assert sum(one.theirs.startswith("exit 4") and one.code == 4 for one in both) == refused
    assert len(equal) + refused == len(both)


# Negative gains, which are refused; gains that trec_eval confuses; and what `libraries.md` has in their place.
NOT_COMPARED = {"-q -m ndcg.1=-1", "-q -m ndcg.1=0.5,2=0.9", "-q -m yaap", "-q -m ideal_dcg"}


@recorded_measures.needs_recording
@pytest.mark.parametrize(("version", "count"), [("9.0.8", 1896), ("10.0", 2178)])
def test_f90_measures_with_parameters(version: str, count: int, tmp_path: Path, run: Run) -> None:
    """Each call that was recorded with its values in full: parameters, -N, -l and -J."""
    inputs, answers = recorded_measures.recorded("inputs"), recorded_measures.recorded("trec_eval")
    lines = [f"{q} Q0 {one} 1 {score!r} t" for q in inputs for one, score in dict(inputs[q]["run"]).items()]
    (tmp_path / "run").write_text("\n".join(lines), encoding="utf-8")
    compared = 0
    for call, measures in answers[version].items():
        if call in NOT_COMPARED:
            continue
        options = call.removesuffix(" (some): all, and q14").removesuffix(" (some)").split()
        qrels = [
            f"{q} 0 {one} {grade}"
            for q in ([*inputs] if "-c" in options else answers["queries"])
            for one, grade in inputs[q]["qrels"].items()
        ]
        (tmp_path / "qrels").write_text("\n".join(qrels), encoding="utf-8")
        settings = {"-l2": ["--set", "min_grade=2"], "-J": ["--set", "unjudged=remove"]}
        given = [part for option in options for part in settings.get(option, [option])]
        given += [] if "-m" in options else ["-m", "all_trec", "-m", "relative_P.3"]
        of_version = ("--format", "trec", "--convention", VERSIONS[version])
        result = run("evaluate", tmp_path / "qrels", tmp_path / "run", *of_version, *given)
        assert result.code == 0, (call, result.err)
        ours = {(name.strip(), query): text for name, query, text in lines_of(result.out)}
        for measure, numbers in measures.items():
            if "-J" in options and measure.startswith(("unj", "rbp_resid")):
                continue  # of whole lists here
            if isinstance(numbers, list):  # of all, and of one
                pairs = [*zip(("all", "q14"), numbers, strict=True)]
            else:
                pairs = [*zip(answers["queries"], numbers.get("q", ()), strict=False), ("all", numbers.get("all"))]
            for query, number in pairs:
                if number is None or measure == "runid" or (version == "9.0.8" and query == "q14"):
                    continue  # the tag differs; 9 prints no line of a query without results
                text = number if isinstance(number, str) else f"{number:.4f}"
                found = ours[measure, query]
                assert found == text or float(found) == number, (call, measure, query, found, number)
                compared += 1
    assert compared == count


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    write_files({"one.qrels": "q1 0 d1 1\n", "two.qrels": "q1 0 d1 1\nq2 0 d1 1\n"})
    write_files({"one.run": "q1 Q0 d1 1 2 tag\n", "two.run": "q1 Q0 d1 1 2 tag\nq2 Q0 d1 1 2 tag\n"})
    write_files({"graded.qrels": "q 0 a 1\nq 0 b 2\nq 0 c 0\nq 0 d 3\nq 0 e -1\n"})
    write_files({"graded.run": "q Q0 c 1 9 tag\nq Q0 e 2 8.5 tag\nq Q0 a 3 8 tag\nq Q0 b 4 7 tag\n"})


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("one.qrels two.run", {"all": "1.0000"}),  # a query that nobody judged
        ("one.qrels two.run -q", {"q1": "1.0000", "all": "1.0000"}),
        ("one.qrels two.run -q -c", {"q1": "1.0000", "all": "1.0000"}),
        ("two.qrels one.run -q -c", {"q1": "1.0000", "q2": "0.0000", "all": "0.5000"}),
        ("two.qrels one.run -q --convention trec_eval_complete", {"q1": "1.0000", "q2": "0.0000", "all": "0.5000"}),
        ("two.qrels one.run -q --convention trec_eval_9", {"q1": "1.0000", "all": "1.0000"}),
        ("two.qrels one.run -q -c --convention trec_eval_9", {"q1": "1.0000", "all": "0.5000"}),
    ],
)
def test_f90_queries_on_one_side(arguments: str, values: dict[str, str], run: Run) -> None:
    result = run("evaluate", *arguments.split(), "--format", "trec", "-m", "map")
    assert (result.code, {line[1]: line[2] for line in lines_of(result.out)}) == (0, values)


@pytest.mark.usefixtures("files")
def test_f90_a_query_of_the_qrels_has_results(run: Run) -> None:
    message = "predictions: expected results for each query of the qrels, as trec_eval 10 does without -c, found none for 'q2'"
    result = run("evaluate", "two.qrels", "one.run", "--format", "trec", "-m", "map")
    assert (result.code, result.out, message in result.err) == (4, "", True)
    systems = ("two.qrels", "a=two.run", "b=one.run")
    result = run("compare", *systems, "--format", "trec", "-m", "map")
    assert (result.code, result.out) == (4, "")
    assert "found none for 'q2' in system 'b'; -c counts them as 0" in result.err
    for version, printed_queries in (("trec_eval", 2), ("trec_eval_9", 1)):
        result = run("compare", *systems, "--format", "trec", "-m", "map", "-q", "-c", "--convention", version)
        of_b = [line[1:] for line in lines_of(result.out)[-2 - printed_queries :]]
        assert of_b == [*[("q1", "1.0000"), ("q2", "0.0000")][:printed_queries], ("all", "b"), ("all", "0.5000")]
    write_files({"three.qrels": "q3 0 d1 1\nq2 0 d1 1\nq1 0 d1 1\n"})
    refused = run("evaluate", "three.qrels", "one.run", "--format", "trec", "-m", "map")
    assert (refused.code, "found none for 'q2' (the first of 2); -c counts them as 0" in refused.err) == (4, True)
    assert_refused(run("evaluate", "two.qrels", "one.run", "-c"), "-c goes with --format trec")
    of_ranx = ("--format", "trec", "-c", "--convention", "ranx")
    assert_refused(
        run("evaluate", "two.qrels", "one.run", *of_ranx), "-c: expected --convention trec_eval or trec_eval_9"
    )


@pytest.mark.usefixtures("files")
def test_f90_comments_are_no_rows(run: Run) -> None:
    write_files({"comment.qrels": "# a comment\nq1 0 d1 1\n# Next is one in a document\nq1 0 d#2 0\n"})
    write_files({"comment.run": "# This is my favorite run\nq1 Q0 d1 1 2 tag\n# And one of six words more\n"})
    result = run("evaluate", "comment.qrels", "comment.run", "--format", "trec", "-m", "runid", "-m", "num_q")
    assert lines_of(result.out) == [("runid".ljust(22), "all", "tag"), ("num_q".ljust(22), "all", "1")]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("measures", "lines"),
    [
        ("ndcg.1=3,2=9", {"ndcg_1=3,2=9": "0.4338"}),  # as pytrec-eval-terrier has these numbers
        ("ndcg.1=3,2=9,4=4.5", {"ndcg_1=3,2=9,4=4.5": "0.4338"}),
        ("ndcg.0=1", {"ndcg_0=1": "0.4548"}),
        ("ndcg.1=0", {"ndcg_1=0": "0.2021"}),
        ("ndcg dcg", {"dcg": "1.3614", "ndcg": "0.2859"}),
        ("dcg.2=5", {"dcg_2=5": "2.6534"}),
        ("set_F.0.5 set_P", {"set_P": "0.5000", "set_F_0.5": "0.5455"}),
        ("set_F.2", {"set_F_2": "0.6000"}),
        ("iprec_at_recall..50,.1", {"iprec_at_recall_0.10": "0.5000", "iprec_at_recall_0.50": "0.5000"}),
        ("Rprec_mult.1.33,1 Rprec", {"Rprec": "0.3333", "Rprec_mult_1.00": "0.3333", "Rprec_mult_1.33": "0.5000"}),
        ("Rprec Rprec_mult.1 r_precision", {"Rprec": "0.3333", "Rprec_mult_1.00": "0.3333"}),
        ("Rprec_mult.1", {"Rprec_mult_1.00": "0.3333"}),
        ("utility.2,-1,-0.5,.25", {"utility_2,-1,-0.5,.25": "0.2500"}),
        ("utility num_nonrel_judged_ret", {"utility": "0.0000", "num_nonrel_judged_ret": "1"}),
        ("utility num_hits", {"utility": "0.0000", "num_rel_ret": "2"}),
        ("rbp_resid.p=.5", {"rbp_resid_p=.5": "0.3125"}),
        ("rbp.p=.5 infAP", {"infAP": "0.3194", "rbp_p=.5": "0.0833"}),
        ("rbp.1=3,2=9", {"rbp_1=3,2=9": "0.0999"}),
        ("rbp.p=0.8,3=6", {"rbp_p=0.8,3=6": "0.0555"}),
        ("binG G.1=3,2=9", {"binG": "0.3333", "G_1=3,2=9": "0.2846"}),
        ("ndcg_rel.1=3,2=9 Rndcg.1=3,2=9", {"ndcg_rel_1=3,2=9": "0.3296", "Rndcg_1=3,2=9": "0.0605"}),
        ("11pt_avg.0.2,0.5,0.8", {"11pt_avg_0.2,0.5,0.8": "0.5000"}),
        ("P.5.9,2", {"P_2": "0.0000", "P_5": "0.4000"}),
        ("set P.1 P.3 ndcg_cut.2", None),
    ],
)
def test_f90_parameters_are_those_of_trec_eval(measures: str, lines: dict[str, str] | None, run: Run) -> None:
    options = [part for measure in measures.split() for part in ("-m", measure)]
    result = run("evaluate", "graded.qrels", "graded.run", "--format", "trec", *options)
    found = {name.strip(): value for name, _, value in lines_of(result.out)}
    assert result.code == 0
    if lines is None:  # given cutoffs replace the default ones
        assert [name for name in found if name.startswith(("P_", "ndcg"))] == ["P_1", "P_3", "ndcg_cut_2"]
    else:
        assert found == lines


@pytest.mark.usefixtures("files")
def test_f90_weighted_sums_have_names_of_ours(run: Run) -> None:
    write_files({"weights.csv": "user,weight\nq1,1\nq2,3\n", "other.run": "q1 Q0 d1 1 2 tag\nq2 Q0 d2 1 2 tag\n"})
    options = ("--format", "trec", "-m", "utility", "--weights", "weights.csv", "-q")
    result = run("evaluate", "two.qrels", "other.run", *options)
    found = [tuple(map(str.strip, line)) for line in lines_of(result.out)]
    values = {"q1": "1.0000", "q2": "-1.0000", "all": "-0.5000"}
    assert found == [("exactk.utility", query, value) for query, value in values.items()]


GAINS = ["1=3,2=9", "1=9,2=3", "1=1,2=3,3=7", "2=5", "0=1", "3=1", "0=2,1=4,2=8,3=16", "1=0"]


@pytest.mark.parametrize("gains", GAINS)
def test_f90_gains_are_those_of_trec_evals_code(gains: str, tmp_path: Path, run: Run) -> None:
    """The extension of pytrec-eval-terrier is trec_eval 9: it takes the parameters that its Python part refuses."""
    trec_eval: Any = pytest.importorskip("pytrec_eval_ext")
    draw = random.Random(gains)  # noqa: S311 - no secret
    documents = [f"d{number:02}" for number in range(12)]
    qrels = {f"q{number}": {one: draw.randint(-1, 3) for one in draw.sample(documents, 8)} for number in range(20)}
    ranked = {query: {one: float(draw.randint(0, 5)) for one in draw.sample(documents, 9)} for query in qrels}
    theirs = trec_eval.RelevanceEvaluator(qrels, {f"ndcg.{gains}"}).evaluate(ranked)
    rows = [f"{query} 0 {one} {grade}" for query, grades in qrels.items() for one, grade in grades.items()]
    (tmp_path / "q.qrels").write_text("\n".join(rows), encoding="utf-8")
    rows = [f"{query} Q0 {one} 1 {score} t" for query, scores in ranked.items() for one, score in scores.items()]
    (tmp_path / "r.run").write_text("\n".join(rows), encoding="utf-8")
    options = ("--format", "trec", "--convention", "trec_eval_9", "-q", "-m", f"ndcg.{gains}")
    result = run("evaluate", tmp_path / "q.qrels", tmp_path / "r.run", *options)
    ours = {query: value for _, query, value in lines_of(result.out) if query != "all"}
    assert "trec_eval takes gains" not in result.err
    assert ours == {query: f"{values['ndcg']:6.4f}" for query, values in theirs.items()}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("measure", ["ndcg.1=0.5", "G.1=0.5", "ndcg.1=3.5,2=9.0,4=7.0", "dcg.2=1.5"])
def test_f90_gains_that_trec_eval_confuses_are_told(measure: str, run: Run) -> None:
    result = run("evaluate", "graded.qrels", "graded.run", "--format", "trec", "-m", measure)
    assert result.code == 0
    assert f"exactk: warning: {measure}: trec_eval takes gains less than 1 apart for equal" in result.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("measure", "message"),
    [
        *OUTSIDE_OF_SETS.items(),
        ("prefs_simp_ret", "preferences"),
        ("utility.2,-1,0", "four numbers, as in utility.2,-1,0,0"),
        ("num_nonrel_judged_ret.5", "num_nonrel_judged_ret without parameters"),
        ("rbp.0.5", "rbp.p=0.9,1=3,2=9"),
        ("11pt_avg.x", "recalls such as 11pt_avg.0.2,0.5"),
        ("relstring.0", "as in relstring.20"),
        ("binG.1=3", "binG without parameters"),
        ("rbp_resid.0.5", "the persistence, as in rbp_resid.p=0.9"),
        ("iprec_at_recall..10,x", "numbers such as iprec_at_recall.0.2,1"),
        ("Rprec_mult.-1", "numbers such as Rprec_mult.0.2,1"),
        ("ndcg.1=-1", "gains from 0 of grades, as in ndcg.1=3,2=9"),
        ("ndcg.1", "gains from 0 of grades"),
        ("ndcg.1=3,1=4", "each grade once"),
        ("ndcg.128=1", "gains from 0 of grades"),
        ("set_F.1,2", "the weight of recall, as in set_F.0.5"),
        ("set_F.-1", "the weight of recall"),
        ("recall.0", "cutoffs such as recall.5,10"),
        ("success.1,x", "cutoffs such as success.5,10"),
        ("map.5", "map without parameters"),
        ("runid.5", "runid without parameters"),
        ("all_trec.5", "all_trec without parameters"),
    ],
)
def test_f90_other_measures_are_answered_by_name(measure: str, message: str, run: Run) -> None:
    result = run("evaluate", "graded.qrels", "graded.run", "--format", "trec", "-m", measure)
    assert_refused(result, message)
    assert f"found {measure!r}" in result.err
