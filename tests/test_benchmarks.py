from __future__ import annotations

import zlib
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import metrik
from benchmarks import loops
from benchmarks.answers import ULPS, WrongAnswerError, check, compare, evaluate
from benchmarks.versus.field import PeerError, Process
from benchmarks.versus.peers import OURS, PEERS, Peer
from benchmarks.versus.peers.numpy_code import prepare
from benchmarks.workloads import BLOCK, LISTS_100, WORKLOADS, Data

ROOT = Path(__file__).parent.parent
SMALL = replace(LISTS_100, name="small", users=50)


def modules() -> list[str]:
    """Return what can be imported where no peer is installed."""
    names = [path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "benchmarks").rglob("*.py")]
    return sorted(name.replace("/", ".") for name in names if not name.endswith(("_library", "__main__")))


@pytest.mark.parametrize("name", modules())
def test_importable(name: str) -> None:
    import_module(name)


def checksum(data: Data) -> int:
    return zlib.crc32(data.predictions.tobytes(), zlib.crc32(data.items.tobytes()))


def test_the_same_arrays_on_every_machine() -> None:
    """If NumPy ever draws other numbers, times before and after are of different arrays, which this is to say."""
    assert checksum(SMALL.build()) == checksum(SMALL.build()) == 3_947_170_230
    assert checksum(replace(SMALL, wide=True).build()) == 3_317_869_197


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_are_what_they_say(name: str) -> None:
    workload = replace(WORKLOADS[name], users=40)
    data = workload.build()
    assert data.predictions.shape == (40, workload.length)
    for lists in (data.predictions, data.items.reshape(40, workload.relevant)):
        assert all(len(set(row)) == len(row) for row in lists.tolist())
        assert lists.min() >= 0
    assert data.predictions.nbytes + data.items.nbytes == replace(workload, per_user=False).bytes
    check(workload, data, evaluate(workload, data))


def test_more_users_begin_with_the_fewer() -> None:
    few, more = replace(LISTS_100, users=BLOCK), replace(LISTS_100, users=BLOCK + 7)
    assert np.array_equal(few.build().predictions, more.build().predictions[:BLOCK])


def test_a_wrong_answer_is_not_timed() -> None:
    data = SMALL.build()
    other = Data(data.indptr, data.items, data.predictions[:, ::-1])
    for per_user in (False, True):
        with pytest.raises(WrongAnswerError, match="small: precision@1 "):
            check(SMALL, data, evaluate(SMALL, other, per_user=per_user))
    with pytest.raises(WrongAnswerError, match=r"someone: recall@5 is 0\.5,"):
        compare("someone", {"recall@5": 0.5}, {"recall@5": 0.5 + 1e-9}, ULPS)


@pytest.mark.parametrize("call", PEERS[0].calls)
@pytest.mark.parametrize("name", PEERS[0].workloads)
def test_the_numpy_peer_computes_the_same(name: str, call: str) -> None:
    workload = replace(WORKLOADS[name], users=70)
    data = workload.build()
    expected = evaluate(workload, data).values
    found = prepare(data, workload)[call]()
    assert list(found) == list(expected)
    compare(call, found, expected, 1e-12)


def test_every_peer_has_its_module_and_a_convention_of_ours() -> None:
    for peer in (OURS, *PEERS):
        assert (ROOT / "benchmarks" / "versus" / "peers" / f"{peer.module}.py").exists()
        assert set(peer.workloads) <= set(WORKLOADS)
        assert (
            metrik.conventions["standard"].diff(metrik.conventions["standard"].replace(**peer.convention)) is not None
        )


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
    finally:
        process.stop()


def test_a_peer_that_does_not_start_says_why() -> None:
    process = Process(Peer("nobody", ("nobody",), "nobody", (), ("lists_100",)))
    with pytest.raises(PeerError, match=r"No module named 'benchmarks\.versus\.peers\.nobody'"):
        process.ask("turn", call="nobody")
    process.stop()


def test_the_loops_of_the_page_and_their_calls_agree_on_more_data() -> None:
    found = loops.sections()
    assert [section.title.partition(":")[0] for section in found] == [
        "NumPy", "PyTorch", "Python", "pandas", "scipy.sparse",
    ]  # fmt: skip
    names = loops.drawn(users=60, items=300)
    for section in found:
        if "torch" not in section.preparation or find_spec("torch"):
            assert 0.1 < section.calls(names)["call"]() < 0.9


def test_a_loop_with_another_number_is_not_timed() -> None:
    wrong = replace(loops.sections()[0], loop="0.5")
    with pytest.raises(WrongAnswerError, match="NumPy"):
        wrong.calls(loops.drawn(users=60, items=300))
