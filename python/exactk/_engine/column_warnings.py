"""What is said of the columns of a truth: which hold grades, and which could."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from exactk._inputs.keys.column_roles import names_ratings
from exactk._plan.conventions import changes_literal
from exactk._runtime.errors import EvaluationWarning, caller_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._inputs.model.lists import Truth
    from exactk._plan.conventions import Convention
    from exactk._plan.metric_strings import Value


def warn_of_grades(
    truth: Truth, values: Sequence[Value], convention: Convention, user_values: Iterable[str | None]
) -> None:
    """Warn of ratings that are all relevant, and of numbers that could be grades and are no weights or groups."""
    used, grade, unused = truth.columns
    if grade is not None and names_ratings(grade) and any(value.rules["min_grade"] is None for value in values):
        line = f"convention={changes_literal(convention, {'min_grade': 4})}"
        message = (
            f"truth: every rating above 0 in the column {grade!r} counts as relevant; {line} makes it those from 4 on"
        )
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())
    if others := [name for name in unused if name not in set(user_values)]:
        message = (
            f"truth: every item counts as relevant, for no column of grades was found, and {' and '.join(map(repr, others))} "
            f"{'is' if len(others) == 1 else 'are'} not used; grade={others[0]!r} takes it as grades, "
            f"truth[{list(used)!r}] has no such column"
        )
        warnings.warn(message, EvaluationWarning, stacklevel=caller_level())
