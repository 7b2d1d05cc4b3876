"""What `exactk.compat.ranx` says of the functions and the objects of ranx that it does not have."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import pytest

from exactk.compat import ranx


@pytest.mark.parametrize("name", ["fuse", "normalize", "optimize_fusion", "plot"])
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
