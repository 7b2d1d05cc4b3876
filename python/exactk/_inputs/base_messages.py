"""Errors about base predictions, which are converted as predictions are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exactk._runtime.errors import Amending
from exactk._runtime.faults import Option

if TYPE_CHECKING:
    from exactk._runtime.errors import ExactkError
    from exactk._runtime.faults import Text

ARGUMENT = "base_predictions"

_NAMES = r"\b(?<!base_)(predictions|scores)(?=$|[.=])"


def naming_base() -> Amending:
    """Call the predictions or scores `base_predictions` in errors of this block."""
    return Amending(_with_base_named)


def _with_base_named(error: ExactkError) -> ExactkError:
    argument = re.sub(_NAMES, ARGUMENT, error.argument or "")
    hint: Text = tuple(map(_hint_part, error.fault.hint))
    if error.fault.expected.startswith("user keys, as in"):
        hint = (f"{ARGUMENT}=dict(zip(users, {ARGUMENT})) adds them",)
    return error.amended(argument=argument, hint=hint)


def _hint_part(part: str | Option) -> str | Option:
    if isinstance(part, str):
        return re.sub(_NAMES, ARGUMENT, part)
    if part.name == "nan":  # an argument of `exactk.topk`, and of no function that takes base predictions
        return Option("convention", {"nan": part.value})
    return part
