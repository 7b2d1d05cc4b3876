"""An evaluation whose problems, as the engine gets them, are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._engine.core import core_engine
from exactk._engine.fold import evaluate_with_engine
from exactk._engine.systems import ONE_SYSTEM
from exactk._evaluate import DEFAULTS

if TYPE_CHECKING:
    import exactk
    from exactk._engine.problem import Outcome, Problem


def evaluate(problems: list[Problem], truth: Any, predictions: Any, items: Any, **options: Any) -> exactk.Report:
    """Return the report of the core, and append to the problems."""

    def solve(problem: Problem) -> Outcome:
        problems.append(problem)
        return core_engine.solve(problem)

    engine = core_engine._replace(solve=solve)
    options = {**DEFAULTS, **options, "items": items}
    return evaluate_with_engine(engine, ONE_SYSTEM, truth, predictions, "recall@2", **options).report
