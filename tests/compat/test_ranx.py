"""What `exactk.compat.ranx` says of the functions and the objects of ranx that it does not have."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import pytest

from exactk.compat import ranx


@pytest.mark.parametrize("name", ["optimize_fusion", "plot"])
def test_functions_left_out_say_where_they_are(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"import {name} from ranx, which takes ranx\.Run\(run\.to_dict\(\)"):
        getattr(ranx, name)


def test_other_missing_names_have_no_hint() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'fusion'$"):
        _ = ranx.fusion


@pytest.mark.parametrize("name", ["Qrels", "Run"])
def test_objects_of_ranx_are_refused_with_their_conversion(name: str) -> None:
    theirs = type(name, (UserDict,), {"__module__": "ranx.data_structures"})({"q1": {"d1": 1}})
    other: Any = {"q1": {"d1": 1}}

    def evaluate(one: Any) -> None:
        qrels, run = (one, other) if name == "Qrels" else (other, one)
        ranx.evaluate(qrels, run, "mrr")

    with pytest.raises(TypeError, match=rf"found that of ranx: use {name}\(found\.to_dict\(\)\)"):
        evaluate(theirs)
    with pytest.raises(TypeError, match=f"expected {name} or dict, found list"):
        evaluate([])


@pytest.fixture
def runs() -> list[ranx.Run]:
    return [ranx.Run({"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}), ranx.Run({"q2": {}, "q1": {"d1": 3.0}})]


@pytest.mark.parametrize("method", ["condorcet", "log_isr", "wmnz"])
def test_methods_of_fusion_left_out_say_how_to_ask_ranx(runs: list[ranx.Run], method: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"write Run\(ranx\.fuse\(.*, 'max', '{method}', params\)\.to_dict"):
        ranx.fuse(runs, "max", method)


def test_fusion_refuses_what_it_does_not_read(runs: list[ranx.Run]) -> None:
    theirs: Any = type("Run", (UserDict,), {"__module__": "ranx.data_structures"})(runs[0].to_dict())
    with pytest.raises(TypeError, match=r"found that of ranx: use Run\(found\.to_dict\(\)\)"):
        ranx.fuse([theirs, runs[0]], method="sum")
    with pytest.raises(TypeError, match=r"expected params of 'rbc' with 'name', 'phi', found \{'k': 3\}"):
        ranx.fuse(runs, method="rbc", params={"k": 3})
    with pytest.raises(ValueError, match=r"expected a number for each system, found none for 'runs\[1\]'"):
        ranx.fuse(runs, params={"weights": [1.0]})
    with pytest.raises(ValueError, match=r"-1 at row 0 in system 'runs\[0\]'.*query 'q1'"):
        ranx.fuse([ranx.Run({"q1": {"d1": -1.0}}), ranx.Run({"q1": {"d1": 1.0}})], None, "sum")


def test_lone_documents_and_weights_of_zero(runs: list[ranx.Run]) -> None:
    assert ranx.fuse(runs, method="sum").to_dict() == {"q1": {"d2": 1.0, "d1": 1.0}, "q2": {"d1": 1.0}}
    fused = ranx.fuse(runs, method="wsum", params={"weights": [0, 0.5]})
    assert fused.to_dict() == {"q1": {"d1": 0.5}, "q2": {}}
    assert ranx.normalize(runs[0], "sum").to_dict() == {"q1": {"d2": 1.0, "d1": 0.0}, "q2": {"d1": 1.0}}


def test_runs_are_fused_in_the_order_of_their_scores(runs: list[ranx.Run]) -> None:
    unsorted = ranx.Run()
    for document, score in (("d1", 1.0), ("d2", 2.0)):
        unsorted.add_score("q2", document, score)
    unsorted.add_score("q1", "d1", 1.0)
    for method in ("rrf", "isr"):
        fused = ranx.fuse([unsorted, runs[1]], method=method)
        assert list(fused.to_dict()) == ["q1", "q2"]
        assert list(fused["q2"]) == ["d2", "d1"]
    assert not unsorted.sorted


def test_equal_fused_scores_are_in_the_order_of_ids() -> None:
    documents = [f"d{number:02}" for number in range(20)]
    fused = ranx.fuse(
        [ranx.Run({"q": dict.fromkeys(some, 1.0)}) for some in (documents, documents[::-1])], method="sum"
    )
    assert list(fused["q"].items()) == [(document, 2.0) for document in documents]
    assert fused.sorted
