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


_PAIRS_AS_LISTS = "pd.DataFrame({0}, columns=['user', 'item']).groupby('user')['item'].apply(list).to_dict()"


def warn_of_text_pairs(truth: object, predictions: object) -> None:
    """Warn of two lists of pairs of strings: they could be users and items, but are read as lists of two items."""
    if not (_holds_text_pairs(truth) and _holds_text_pairs(predictions)):
        return
    lines = ", ".join(f"{name}={_PAIRS_AS_LISTS.format(name)}" for name in ("truth", "predictions"))
    message = f"each pair of strings is read as one user's list of two items; of users and items: {lines}"
    warnings.warn(message, EvaluationWarning, stacklevel=caller_level())


def _holds_text_pairs(rows: object) -> bool:
    return (
        isinstance(rows, list)
        and len(rows) > 0
        and all(type(row) is tuple and len(row) == 2 and all(isinstance(part, str) for part in row) for row in rows)
    )


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
