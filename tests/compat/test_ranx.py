"""What `exactk.compat.ranx` says of the functions and the objects of ranx that it does not have."""

from __future__ import annotations

from collections import UserDict

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
    arguments = (theirs, {"q1": {"d1": 1.0}}) if name == "Qrels" else ({"q1": {"d1": 1}}, theirs)
    with pytest.raises(TypeError, match=rf"found that of ranx: use {name}\(found\.to_dict\(\)\)"):
        ranx.evaluate(*arguments, "mrr")
    with pytest.raises(TypeError, match=f"expected {name} or dict, found list"):
        ranx.evaluate(*([] if one is theirs else one for one in arguments), "mrr")
