"""The loops of docs/tutorials/from_your_loop.md, each against the call that replaces it, on more users than a page can show.

What is timed is the page's own text: its examples are executed with other data under the same names. Of each
section everything up to its first two results is taken: the first is the loop's, the second is the call's.
"""

from __future__ import annotations

import doctest
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import exactk
from benchmarks import results
from benchmarks.answers import compare
from benchmarks.machine import machine, run_description
from benchmarks.results import Cell, Table
from benchmarks.timing import compete, turn

PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "from_your_loop.md"
USERS, ITEMS, RELEVANT, TRAINED, K = 5_000, 10_000, 20, 50, 20
ROUNDS = 5  # a loop takes seconds
SAME = 1e-12  # relative: the loops add in another order

Variables = dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A loop and its call: code that prepares, and an expression for each."""

    title: str
    preparation: str
    loop: str
    call: str

    def calls(self, variables: Variables) -> dict[str, Callable[[], float]]:
        """Prepare with these variables; return the loop and the call, whose numbers are the same."""
        variables = dict(variables)
        exec(self.preparation, variables)  # noqa: S102 - the page is our own
        calls: dict[str, Callable[[], float]] = {}
        for name, expression in (("loop", self.loop), ("call", self.call)):
            calls[name] = partial(eval, compile(expression.strip(), self.title, "eval"), variables)
        compare(self.title, {"it": calls["loop"]()}, {"it": calls["call"]()}, SAME)
        return calls


def sections() -> list[Section]:
    """Read the page; a section without two results has nothing to compare."""
    result = []
    for part in PAGE.read_text(encoding="utf-8").split("\n## "):
        examples = doctest.DocTestParser().get_examples(part)
        results = [index for index, example in enumerate(examples) if example.want]
        if len(results) >= 2:
            loop, call = results[:2]
            preparation = "".join(example.source for example in examples[:call] if not example.want)
            result.append(Section(part.partition("\n")[0], preparation, examples[loop].source, examples[call].source))
    return result


def draw_variables(users: int = USERS, items: int = ITEMS) -> Variables:
    """Return the variables of the page's data: what it defines itself, and our data instead of its own.

    No score is there twice in a row: where scores are tied, a loop may rightly give another number.
    """
    variables: Variables = {}
    page = PAGE.read_text(encoding="utf-8")
    data = page[page.index("## The data") : page.index("## NumPy")]
    for example in doctest.DocTestParser().get_examples(data):
        exec(example.source, variables)  # noqa: S102 - the page is our own
    generator = np.random.default_rng(20)
    ranking = generator.permuted(np.tile(np.arange(items, dtype=np.int32), (users, 1)), axis=1)
    scores = np.empty((users, items), np.float32)
    np.put_along_axis(scores, ranking, np.arange(items, 0, -1, dtype=np.float32)[np.newaxis], axis=1)
    appeal = 1 / np.arange(1, items + 1)  # of a rank: what is ranked high is likelier to be relevant
    ranks = [
        generator.choice(items, RELEVANT + TRAINED, replace=False, p=appeal / math.fsum(appeal)) for _ in range(users)
    ]
    marked = np.take_along_axis(ranking, np.array(ranks), axis=1)
    train, truth = marked[:, RELEVANT:].tolist(), marked[:, :RELEVANT].tolist()
    recommended = exactk.topk(scores, K, exclude=train).items.tolist()
    return variables | {"scores": scores, "train": train, "truth": truth, "recommended": recommended, "k": K}


def measure_sections() -> Table:
    """Time each loop and its call in turns."""
    variables = draw_variables()
    rows: list[list[Cell]] = []
    for section in sections():
        samples = compete({name: partial(turn, call) for name, call in section.calls(variables).items()}, ROUNDS)
        loop, call = samples["loop"], samples["call"]
        rows.append([section.title, 1e3 * loop.median, 1e3 * call.median, loop.ratio_to(call)])
    return Table("Loops", ["loop in", "loop, ms", "exactk, ms", "times"], rows)


def publish_loops(load: float) -> None:
    """Measure, print, and write; the load is that before the run."""
    results.publish("loops", machine(), run_description(load), [], [measure_sections()])


if __name__ == "__main__":
    publish_loops(os.getloadavg()[0])
