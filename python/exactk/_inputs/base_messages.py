"""Errors about base predictions, which are converted as predictions are."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Iterator

ARGUMENT = "base_predictions"

_NAMES = re.compile(r"\b(?<!base_)(predictions|scores)(?=$|[.=])")


@contextmanager
def naming_base() -> Iterator[None]:
    """Call the predictions or scores `base_predictions` in errors of this block."""
    try:
        yield
    except ExactkError as error:
        argument = _NAMES.sub(ARGUMENT, error.argument or "")
        hint = tuple(_NAMES.sub(ARGUMENT, part) if isinstance(part, str) else part for part in error.fault.hint)
        raise error.amended(argument=argument, hint=hint) from error.__cause__
