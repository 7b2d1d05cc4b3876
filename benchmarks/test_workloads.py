"""What is measured is what it says, a wrong answer is not timed, and tables compare times of one round.

``make bench-tests`` runs these, every night.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import zlib
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import exactk
from benchmarks import bandwidth, comparisons, groups, loops, products, resampling, results, selections, streams
from benchmarks.answers import ULPS, WrongAnswerError, check, compare, evaluate
from benchmarks.factors import Embedded
from benchmarks.lines import Line
from benchmarks.lists import BLOCK, Lists
from benchmarks.results import Table, format_cell, share, with_unit
from benchmarks.scaling import Series
from benchmarks.score_tables import (
    PROMISED_KINDS,
    PROMISED_RATIOS,
    PROMISED_SHARES,
    kinds_table,
    score_promises,
    scores_table,
)
from benchmarks.scores import Scores
from benchmarks.selections import answer, best, compare_best, verify
from benchmarks.timing import Sample
from benchmarks.versus.field import PeerError, Process, Result
from benchmarks.versus.peers import (
    LIST_PEERS,
    OURS,
    PEERS,
    PRODUCTS,
    READING,
    SCORE_PEERS,
    Call,
    Peer,
    exactk_frames,
    exactk_mappings,
    exactk_rows,
    numpy_code,
    numpy_scores,
    polars_code,
)
from benchmarks.workload import Data, Workload
from benchmarks.workloads import (
    CANDIDATES_1000,
    DENSE_20K,
    DENSE_CUTS,
    DENSE_MASKED,
    DENSE_UNCUT,
    FACTORS_100K,
    KEYED,
    LISTS,
    LISTS_100,
    NEIGHBORS_50K,
    SCORES,
    WORKLOADS,
)
from exactk._runtime.threads import available_isas

ROOT = Path(__file__).parent.parent
SMALL = replace(LISTS_100, name="small", users=50)
FEW_SCORES = replace(DENSE_20K, name="few", users=30, length=2_000)
FEW_FACTORS = replace(FACTORS_100K, name="few factors", users=70, length=2_000, sampled=500)
FEW_NEIGHBORS = replace(NEIGHBORS_50K, name="few neighbors", users=400, length=400, cutoffs=(20,))


def with_few_users(workload: Workload) -> Workload:
    return replace(workload, users=40, length=min(workload.length, 2_000))


def test_all_is_importable_where_no_peer_is_installed() -> None:
    for path in (ROOT / "benchmarks").rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if not name.endswith(("_library", "__main__")):
            import_module(name)


def checksum(data: Data) -> int:
    return zlib.crc32(data.predictions.tobytes(), zlib.crc32(data.items.tobytes()))


def test_the_same_arrays_on_every_machine() -> None:
    """If NumPy ever draws other numbers, times before and after are of different arrays, which this is to say."""
    assert checksum(SMALL.build()) == checksum(SMALL.build()) == 3_947_170_230
    assert checksum(replace(SMALL, wide=True).build()) == 3_317_869_197
    assert checksum(FEW_SCORES.build()) == checksum(FEW_SCORES.build()) == 3_763_190_758
    assert checksum(FEW_FACTORS.build()) == checksum(FEW_FACTORS.build()) == 324_899_991
    assert checksum(FEW_NEIGHBORS.build()) == 261_901_730


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_what_they_say(name: str) -> None:
    workload = replace(WORKLOADS[name], users=40)
    assert isinstance(workload, Lists)
    data = workload.build()
    assert data.predictions.shape == (40, workload.length)
    for lists in (data.predictions, data.items.reshape(40, workload.relevant)):
        assert all(len(set(row)) == len(row) for row in lists.tolist())
        assert lists.min() >= 0
    assert data.predictions.nbytes + data.items.nbytes == replace(workload, per_user=False).bytes
    check(workload, data, evaluate(workload, data))


@pytest.mark.parametrize("workload", [with_few_users(workload) for workload in SCORES.values()])
def test_scores_are_what_they_say(workload: Workload) -> None:
    assert isinstance(workload, Scores)
    data = workload.build()
    items = data.predictions if data.candidates is None else data.candidates
    assert items.shape == (workload.users, workload.length)
    assert data.predictions.dtype == workload.dtype
    assert data.predictions.nbytes + (0 if data.candidates is None else data.candidates.nbytes) == workload.bytes
    marked = data.items.reshape(workload.users, workload.relevant)
    if workload.excluded:
        marked = np.concatenate([marked, data.excluded], axis=1)
        assert marked.shape[1] == workload.relevant + workload.excluded
    rows = [*data.predictions, *marked, *([] if data.candidates is None else data.candidates)]
    assert all(np.unique(row).size == row.size for row in rows)
    if data.candidates is not None:
        assert all(set(truth) <= set(row_items) for truth, row_items in zip(marked, data.candidates, strict=True))
    else:
        assert marked.max() < workload.length
        check(workload, data, evaluate(workload, data))


@pytest.mark.parametrize("workload", [FEW_FACTORS, FEW_NEIGHBORS])
def test_factors_are_what_they_say(workload: Embedded) -> None:
    data = workload.build()
    assert data.factors is not None
    assert data.predictions.dtype == data.factors.dtype == np.float32
    assert data.predictions.shape == (workload.users, workload.dimensions)
    assert data.factors.shape == (workload.length, workload.dimensions)
    assert data.predictions.nbytes + data.factors.nbytes == workload.bytes
    verify(workload, data)


def test_relevant_and_excluded_factors_are_near() -> None:
    """Of the best 20 of 2,000 some are a user's 60: they are the best of 500. No item is both."""
    data = FEW_FACTORS.build()
    assert data.factors is not None
    assert data.excluded is not None
    marked = np.concatenate([data.items.reshape(70, 10), data.excluded], axis=1)
    assert all(np.unique(row).size == row.size == 60 for row in marked)
    ranks = np.argsort(np.argsort(-data.predictions @ data.factors.T, axis=1), axis=1)
    for ids in (marked[:, :10], marked[:, 10:]):
        share = np.count_nonzero(np.take_along_axis(ranks, ids, axis=1) < 20) / ids.size
        assert 0.05 < share < 0.12
    assert evaluate(FEW_FACTORS, data)["recall@20"] > 0.05


def test_equal_scores_are_drawn_again() -> None:
    """Of 200,000 scores some hundreds are equal; what is excluded scores as high as what is relevant."""
    scores = replace(DENSE_MASKED, users=1, length=200_000).build()
    assert np.unique(scores.predictions).size == 200_000
    row = scores.predictions[0]
    assert [round(float(row[ids].mean())) for ids in (scores.items, scores.excluded, slice(None))] == [2, 2, 0]


def test_more_users_begin_with_the_fewer() -> None:
    few, more = replace(LISTS_100, users=BLOCK), replace(LISTS_100, users=BLOCK + 7)
    assert np.array_equal(few.build().predictions, more.build().predictions[:BLOCK])


def test_a_wrong_answer_is_not_timed() -> None:
    data = SMALL.build()
    reversed_data = Data(data.indptr, data.items, data.predictions[:, ::-1])
    for per_user in (False, True):
        with pytest.raises(WrongAnswerError, match="small: precision@1 "):
            check(SMALL, data, evaluate(SMALL, reversed_data, per_user=per_user))
    with pytest.raises(WrongAnswerError, match=r"someone: recall@5 is 0\.5,"):
        compare("someone", {"recall@5": 0.5}, {"recall@5": 0.5 + 1e-9}, ULPS)


def test_a_wrong_selection_is_not_timed() -> None:
    data = FEW_SCORES.build()
    expected = best(FEW_SCORES, data)
    ordered = np.argsort(-data.predictions, axis=1)[:, :20]
    compare_best("someone", ordered, expected, FEW_SCORES, data)
    with pytest.raises(WrongAnswerError, match=r"someone: selects \(30, 19\), not \(30, 20\)"):
        compare_best("someone", ordered[:, :19], expected, FEW_SCORES, data)
    ordered[7, [3, 4]] = ordered[7, [4, 3]]
    with pytest.raises(
        WrongAnswerError, match=f"someone: at place 3 of user 7 is {ordered[7, 3]}, not {ordered[7, 4]}"
    ):
        compare_best("someone", ordered, expected, FEW_SCORES, data)


@pytest.mark.parametrize("workload", [FEW_FACTORS, FEW_NEIGHBORS])
def test_of_near_products_either_may_come_first(workload: Workload) -> None:
    """An item of the second half has the factors of one of the first, but for a unit in the last place."""
    data = workload.build()
    assert data.factors is not None
    half = len(data.factors) // 2
    data.factors[half:] = np.nextafter(data.factors[:half], np.float32(9))
    expected = best(workload, data)
    twins = (expected + half) % (2 * half)
    twins = np.where(twins == np.arange(len(twins))[:, None], expected, twins)  # of itself
    compare_best("someone", twins, expected, workload, data)
    ids = expected.copy()
    position = int(np.argmax((ids[7, 1:] - ids[7, :-1]) % half != 0))  # of two that are not near
    ids[7, [position, position + 1]] = ids[7, [position + 1, position]]
    with pytest.raises(WrongAnswerError, match=f"someone: at place {position} of user 7 is {ids[7, position]}, not"):
        compare_best("someone", ids, expected, workload, data)


def test_wrong_factors_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if embeddings excluded nothing."""
    data = FEW_FACTORS.build()
    verify(FEW_FACTORS, data)

    def evaluate_without_exclusions(workload: Workload, data: Data, **options: object) -> exactk.Report:
        return evaluate(workload, data if data.factors is None else replace(data, excluded=None), **options)

    monkeypatch.setattr(selections, "evaluate", evaluate_without_exclusions)
    with pytest.raises(WrongAnswerError, match=r"few factors: precision@20 of user \d+ is not that of"):
        verify(FEW_FACTORS, data)


def test_wrong_neighbors_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = FEW_NEIGHBORS.build()
    verify(FEW_NEIGHBORS, data)
    np.testing.assert_equal(answer(FEW_NEIGHBORS, data), best(FEW_NEIGHBORS, data))
    monkeypatch.setattr(selections, "best", lambda workload, data: best(workload, data)[:, ::-1])
    with pytest.raises(WrongAnswerError, match="exactk: at place 0 of user 0 is"):
        verify(FEW_NEIGHBORS, data)


@pytest.mark.parametrize("call", LIST_PEERS[0].calls)
@pytest.mark.parametrize("name", LIST_PEERS[0].workloads)
def test_numpy_computes_the_same_of_lists(name: str, call: str) -> None:
    workload = replace(WORKLOADS[name], users=70)
    assert_same_values(workload, numpy_code.prepare(workload.build(), workload)[call])


@pytest.mark.parametrize("name", SCORES)
def test_numpy_computes_the_same_of_scores(name: str) -> None:
    workload = with_few_users(WORKLOADS[name])
    assert_same_values(workload, numpy_scores.prepare(workload.build(), workload)["NumPy"])


@pytest.mark.parametrize("name", KEYED)
def test_containers_have_the_values_of_the_lists(name: str) -> None:
    workload = replace(KEYED[name], users=70)
    ours = {"dict_20k": exactk_mappings, "rows_20k": exactk_rows}.get(name, exactk_frames)
    for call in ours.prepare(workload.build(), workload).values():
        assert_same_values(workload, call)


@pytest.mark.parametrize("name", ["frame_2m", "frame_2m_names"])
def test_hits_are_counted_by_joins(name: str) -> None:
    workload = replace(KEYED[name], users=70)
    data = workload.build()
    expected = evaluate(workload, data)
    for call in polars_code.prepare(data, workload).values():
        compare("a join", call(), expected, 1e-12)


def test_a_file_has_the_values_of_the_lists(tmp_path: Path) -> None:
    workload = replace(streams.PARQUET_50M, users=300)
    streams.build(workload, tmp_path)
    assert streams.CALLS["reading"](tmp_path)() == workload.ids
    figures = streams.measure_call("exactk", tmp_path)
    assert figures["peak"] > figures["seconds"] > 0
    expected = tmp_path / streams.EXPECTED
    expected.write_text(expected.read_text(encoding="utf-8").replace(": 0.", ": 0.0"), encoding="utf-8")
    with pytest.raises(WrongAnswerError, match="parquet_50m: precision@20 is"):
        streams.CALLS["exactk"](tmp_path)()


def assert_same_values(workload: Workload, call: Call) -> None:
    expected, values = evaluate(workload, workload.build()), call()
    assert list(values) == list(expected)
    compare("NumPy", values, expected, 1e-12)


def test_numpy_ranks_candidates_by_their_scores() -> None:
    workload = replace(CANDIDATES_1000, users=30)
    data = workload.build()
    assert data.candidates is not None
    matrix = np.full((30, workload.num_items), -np.inf, np.float32)
    np.put_along_axis(matrix, data.candidates, data.predictions, axis=1)
    expected = exactk.evaluate(exactk.Truth(data.indptr, data.items), matrix, workload.values)
    compare("NumPy", numpy_scores.prepare(data, workload)["NumPy"](), expected, 1e-12)


def test_every_peer_has_its_module_and_a_convention_of_ours() -> None:
    for peer in (OURS, READING, PRODUCTS, *PEERS):
        assert (ROOT / "benchmarks" / "versus" / "peers" / f"{peer.module}.py").exists()
        assert set(peer.workloads) <= set(WORKLOADS)
        assert exactk.conventions["standard"].diff(peer.convention) is not None


def test_a_process_answers_from_round_to_round(tmp_path: Path) -> None:
    SMALL.build().save(tmp_path)
    process = Process(replace(PEERS[0], requirements=()))
    try:
        with pytest.raises(PeerError, match="KeyError: 'unheard of'"):
            process.ask("answer", call="unheard of")
        assert process.ask("prepare", workload="lists_100", folder=str(tmp_path)) >= 0
        for call in process.peer.calls:
            assert process.ask("answer", call=call).keys() == set(SMALL.values)
            assert process.ask("turn", call=call) > 0
        process.ask("forget")
        with pytest.raises(PeerError, match="KeyError"):
            process.ask("turn", call=process.peer.calls[0])
    finally:
        process.stop()


def compile_library(name: str, folder: Path) -> Path:
    source, library = ROOT / "benchmarks" / "cpp" / f"{name}.cpp", folder / f"{name}.so"
    command = ["c++", "-std=c++20", "-shared", "-fPIC", "-pthread", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def test_products_are_those_of_every_tile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The factors are small whole numbers, so that all sums are exact."""
    monkeypatch.setattr(products, "LIBRARY", compile_library("products", tmp_path))
    generator = np.random.default_rng(0)
    users, items = (generator.integers(-9, 10, (count, 5)).astype(np.float32) for count in (30, 47))
    for shape, threads in itertools.product([(30, 47), (8, 16), (7, 47), (1, 1), (64, 10)], (1, 3)):
        last_users, last_items = (
            [min(begin + size, count) - 1 for begin in range(0, count, size)]
            for size, count in zip(shape, (30, 47), strict=True)
        )
        expected = (users @ items.T)[np.ix_(last_users, last_items)].sum()
        assert products.multiply(users, items, shape, threads) == expected
    assert products.fastest_shape(users, items, threads=2) in products.SHAPES


def test_reading_reads_every_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit must be seen wherever it is: before the first cache line, in any block, in what is left at the end."""
    monkeypatch.setattr(bandwidth, "LIBRARY", compile_library("reading", tmp_path))
    block = 2**17  # words
    words = np.zeros(3 * block, np.int64)
    for begin, length in itertools.product(range(8), (0, 1, 7, 40, block - 1, 2 * block + 70)):
        array = words[begin : begin + length]
        for index in {0, 1, 7, 8, 39, block - 2, block - 1, block, block + 9, length // 2, length - 2, length - 1}:
            if 0 <= index < length:
                array[index] = 1 + index
                assert bandwidth.read(array, threads=1 + index % 3) == 1 + index
                array[index] = 0


def test_tables_of_scores_compare_by_rounds() -> None:
    """Rounds of 1 and 3 seconds: reading takes half of ours in each, a peer six times as long."""
    ours = Result("exactk", Sample((1.0, 3.0)), values=4)
    times = {call: Result(call, Sample((6.0, 18.0))) for peer in SCORE_PEERS for call in peer.calls}
    results = {"exactk": ours, "reading": Result("reading", Sample((0.5, 1.5))), **times}
    lines = [Line(workload, results) for workload in SCORES.values()]
    row = scores_table(lines).rows[0]
    assert list(map(format_cell, row[:8])) == [
        "dense_20k", "2,000", "1,000-3,000", "328", "0.164", "0.328", "50%", "12,000 (6 x)",
    ]  # fmt: skip
    kinds: Series = [(workload, Sample((1.0, 3.0))) for workload in (*DENSE_CUTS, DENSE_MASKED)]
    kinds.append((DENSE_UNCUT, Sample((4.0, 12.0))))
    assert [row[-1] for row in kinds_table(kinds).rows] == [1] * 7 + [4]
    figures = score_promises(lines, kinds)
    assert len(figures) == len(PROMISED_RATIOS) + len(PROMISED_SHARES) + len(PROMISED_KINDS)
    assert figures[0] == ["dense_20k, torch.topk alone to exactk", "6 x", "at least 5 x"]
    assert figures[5] == ["dense_20k, share of the speed of reading", "50%", "at least 45%"]
    assert figures[-1] == ["dense_uncut to dense_20k", "4.00 x", "at most 3 x"]


def test_results_are_written_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that is measured again replaces the last; the page has what was written."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    machine = {"processor": "A (b)", "cores": 2, "system": "Linux"}
    run = {"date": "2026-01-02", "exactk": "1", "commit": "abc", "python": "3.11", "numpy": "2", "load": 0.1}
    table = Table("Lists", ["workload", "exactk, ms"], [["one", 1.23456], ["two", share(0.031)], ["x", None]])
    results.write("lists", machine, run, ["a note"], [table])
    results.write("other", machine, run, [], [])
    path = results.write("lists", machine, run, [], [table])
    assert [file.name for file in tmp_path.iterdir()] == [path.name] == ["a-b-2-cores.json"]
    assert list(json.loads(path.read_text(encoding="utf-8"))["parts"]) == ["lists", "other"]
    facts = "A (b), 2 cores; Linux; Python 3.11, NumPy 2; exactk 1 at commit abc; 2026-01-02; load average before the run 0.1."
    rows = "| workload | exactk, ms |\n| --- | ---: |\n| one | 1.23 |\n| two | 3.1% |\n| x |  |"
    assert results.page("lists") == f"{facts}\n\n### Lists\n\n{rows}"
    assert format_cell(with_unit(31.5, "GB/s")) == "31.5 GB/s"


def test_a_peer_that_failed_has_a_word_in_its_cell() -> None:
    results = {"exactk": Result("exactk", Sample((1.0,))), "torch": Result("torch", error="not installed")}
    line = Line(DENSE_20K, results)
    assert (line.peer("torch"), line.peer("NumPy")) == ("failed", None)
    assert np.isnan(line.ratio("torch"))


def test_a_peer_that_does_not_start_says_why() -> None:
    process = Process(Peer("nobody", ("nobody",), "nobody", (), ("lists_100",)))
    with pytest.raises(PeerError, match=r"No module named 'benchmarks\.versus\.peers\.nobody'"):
        process.ask("turn", call="nobody")
    process.stop()


def test_paired_tests_are_those_of_scipy() -> None:
    """What is compared has differences in every metric; a wrong answer is not timed."""
    compared = comparisons.Compared(systems=3, users=2_000)
    samples = comparisons.measure(compared, rounds=1)
    assert list(samples) == ["SciPy", *available_isas()]
    reports = compared.reports()
    differences = comparisons.exactk_differences(reports)
    assert len(differences) == 20
    assert all(row.wins and row.ties and row.losses for row in differences)
    tables = {system: dict(report.per_user) for system, report in reports.items()}
    comparisons.check(differences, tables)
    tables["system 2"]["ndcg@10"] = tables["system 2"]["ndcg@5"]
    with pytest.raises(WrongAnswerError, match="ndcg@10 of system 2: t is"):
        comparisons.check(differences, tables)


def test_sums_of_groups_are_checked_before_they_are_timed() -> None:
    samples = groups.measure(states=20, groups=50, rounds=1)
    table = groups.groups_table(samples)
    assert [row[0] for row in table.rows] == list(samples) == ["merge", "report of 1 metric", "report of 10 metrics"]
    assert all(0 < sample.low < 60 for sample in samples.values())
    states = groups.shards(2, groups.Grouped(20, 4, ["P@1"]))
    groups.check_merged(states)
    wrong = patch.object(exactk, "merge", lambda states: SimpleNamespace(state=states[0]))
    with wrong, pytest.raises(WrongAnswerError, match="group 0 has the sums"):
        groups.check_merged(states)


def few(users: int, systems: int = 3) -> comparisons.Compared:
    return comparisons.Compared(systems=systems, users=users, metrics=("recall@10", "ndcg@10"))


def test_permutation_tests_are_those_of_scipy() -> None:
    """A wrong p-value is not timed; the peers' times of one test are multiplied by the number of tests."""
    samples = resampling.measure_tests(few(400, 2), few(300), rounds=1, with_ranx=False)
    assert set(samples) == {"one pair", "one pair, sums", "all pairs", "all pairs, sums", "SciPy", "SciPy, batch"}
    with pytest.raises(WrongAnswerError, match=r"p is 0\.5, not 0\.7"):
        resampling.check_p(0.5, 0.7, 999)
    resampling.check_p(0.001, 0.003, 999)
    rounds = {name: Sample((seconds,)) for name, seconds in zip(samples, (1.0, 0.5, 4.0, 2.0, 3.0, 2.0), strict=True)}
    one, every = resampling.tests_table({**rounds, "ranx": Sample((8.0,))}, few(300)).rows
    assert list(map(format_cell, one[1:])) == [
        "1,000",
        "1,000-1,000",
        "500",
        "3,000 (3 x)",
        "2,000 (2 x)",
        "8,000 (8 x)",
    ]
    assert every[0] == "all pairs and metrics: 6 tests"
    assert [format_cell(cell) for cell in every[4:]] == ["18,000 (4.5 x)", "12,000 (3 x)", "96,000 (24 x)"]


def test_resampling_is_timed_by_kind() -> None:
    """The first row is what the others are compared with; NumPy's products and SciPy's resamples are a part of the work."""
    kinds, peers = resampling.measure_kinds(few(300, 2), rounds=1)
    table = resampling.kinds_table(few(300, 2), kinds, peers)
    assert [row[0] for row in table.rows] == list(resampling.KINDS)
    assert table.rows[0][3] == 1
    assert table.rows[0][6]
    assert table.rows[2][7]
    with pytest.raises(WrongAnswerError, match="interval"):
        resampling.check_interval((0.1, 0.2), (0.15, 0.25))
    sums = resampling.measure_sums(users=70, count=10, rounds=1)
    assert [row[0] for row in resampling.sums_table(sums).rows] == list(available_isas())[::-1]


def test_the_loops_of_the_page_and_their_calls_agree_on_more_data() -> None:
    sections = loops.sections()
    assert [section.title.partition(":")[0] for section in sections] == [
        "NumPy", "PyTorch", "Python", "pandas", "scipy.sparse",
    ]  # fmt: skip
    variables = loops.draw_variables(users=60, items=300)
    for section in sections:
        if "torch" not in section.preparation or find_spec("torch"):
            assert 0.1 < section.calls(variables)["call"]() < 0.9


def test_a_loop_with_another_number_is_not_timed() -> None:
    wrong = replace(loops.sections()[0], loop="0.5")
    with pytest.raises(WrongAnswerError, match="NumPy"):
        wrong.calls(loops.draw_variables(users=60, items=300))
