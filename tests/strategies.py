"""Hypothesis strategies for whole evaluations."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import metrik
from metrik._conventions import CHOICES

# Ids where widths, signs and hashes have their edges, beside a few that meet often.
IDS = st.one_of(st.integers(0, 12), st.sampled_from([2**31 - 1, 2**31, 2**32 + 7, 2**62, 2**63 - 1]))
CUTOFFS = st.one_of(st.integers(1, 8), st.just(2**31 - 1))
PARAMETERS = {"beta": st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]), "p": st.sampled_from([0.0, 0.5, 0.8, 0.95])}


def examples(count: int) -> int:
    """Return how many examples to draw: fewer where the code runs slowly, as under a sanitizer."""
    return max(10, round(count * float(os.environ.get("METRIK_EXAMPLES", "1"))))


@dataclass(frozen=True)
class Evaluation:
    """The arguments of one call."""

    truth: Any
    predictions: Any
    metrics: list[str]
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, evaluate: Any = metrik.evaluate, **more: Any) -> metrik.Report:
        report = evaluate(self.truth, self.predictions, self.metrics, **(self.options | more))
        assert isinstance(report, metrik.Report)
        return report


@st.composite
def metric_strings(draw: st.DrawFn) -> str:
    info = draw(st.sampled_from(list(metrik.metrics.values())))
    cutoff = draw(st.one_of(st.none(), CUTOFFS))
    text = info.name if cutoff is None else f"{info.name}@{cutoff}"
    arguments = []
    if info.parameter is not None:
        arguments.append(f"{info.parameter.name}={draw(PARAMETERS[info.parameter.name])}")
    if info.micro and draw(st.integers(0, 4)) == 0:
        arguments.append("average=micro")
    return f"{text}({','.join(arguments)})" if arguments else text


@st.composite
def conventions(draw: st.DrawFn) -> metrik.Convention:
    names = draw(st.lists(st.sampled_from(sorted(set(CHOICES) - {"average"})), unique=True, max_size=6))
    changes: dict[str, Any] = {name: draw(st.sampled_from(CHOICES[name].choices)) for name in names}
    changes["min_grade"] = draw(st.sampled_from([None, None, None, -1.0, 0.0, 0.5, 1.0, 2.0]))
    changes["gain_table"] = draw(st.sampled_from([(), (0.0, 1.0, 3.0, 7.0), (2.0, 1.0, 0.5, 4.0)]))
    return metrik.conventions["standard"].replace(**changes)


@st.composite
def truths(draw: st.DrawFn, users: int) -> list[Any]:
    graded = draw(st.booleans())
    repeats = draw(st.integers(0, 9)) == 0
    grades = st.sampled_from([0.0, 1.0, 2.0, 3.0] if draw(st.integers(0, 3)) else [0.0, 1.0, 1.5, 2.5, -1.0])
    row: st.SearchStrategy[Any] = (
        st.dictionaries(IDS, grades, max_size=6) if graded else st.lists(IDS, unique=not repeats, max_size=6)
    )
    return draw(st.lists(st.one_of(row, row, row, row, st.none()), min_size=users, max_size=users))


@st.composite
def rankings(draw: st.DrawFn, users: int) -> list[Any]:
    repeats = draw(st.integers(0, 9)) == 0
    row = st.lists(IDS, unique=not repeats, max_size=10)
    return draw(st.lists(st.one_of(row, row, row, row, row, st.none()), min_size=users, max_size=users))


@st.composite
def evaluations(draw: st.DrawFn, *, min_users: int = 0, max_users: int = 8) -> Evaluation:
    """Draw a call that may well be refused."""
    users = draw(st.integers(min_users, max_users))
    options: dict[str, Any] = {"convention": draw(conventions())}
    if draw(st.booleans()):
        options["exclude"] = draw(st.lists(st.lists(IDS, max_size=4), min_size=users, max_size=users))
    if draw(st.booleans()):
        weights = st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5, 1e10]), min_size=users, max_size=users)
        options["weights"] = np.array(draw(weights), np.float64)
    if draw(st.booleans()):
        options["groups"] = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=users, max_size=users))
    return Evaluation(
        draw(truths(users)), draw(rankings(users)), draw(st.lists(metric_strings(), min_size=1, max_size=4)), options
    )
