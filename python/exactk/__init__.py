"""Ranking and recommendation metrics: well-defined, bit-for-bit reproducible, and fast.

What is relevant to each user is the *truth*, what a system recommends are its *predictions*. Both may be data frames,
mappings by user, lists, arrays, sparse matrices or files.

- `evaluate` computes metrics of one system, and returns a `Report`: a mapping from metric to value.
- `compare` does so for several systems, by name, and returns a `Comparison`.
- `Evaluator` evaluates users who come some at a time, such as the batches of a training loop.
- `recall_at_k`, `ndcg_at_k` and the like return one number.
- `judge` returns the lists beside the truth as arrays, for metrics of your own; `custom` puts them among the others.
- `agreement` says how much the lists of two systems have in common.
- `topk` returns the best items of a matrix of scores, of a factor model (`Embeddings`) or of a data frame.
- `metrics` and `conventions` list what can be computed, and how other libraries define it.
- `merge` adds the reports of shards; `read` reads files; `show_versions` helps with bug reports.

Examples
--------
>>> import exactk
>>> truth = {"ann": ["film", "song"], "bob": ["film"]}
>>> predictions = {"ann": ["song", "book"], "bob": ["book", "film"]}
>>> report = exactk.evaluate(truth, predictions, ["recall@2", "ndcg@2"])
>>> report
metric     value     std  evaluated  skipped
recall@2  0.7500  0.2500          2        0
ndcg@2    0.6220  0.0089          2        0
convention standard; 2 users
>>> report["recall@2"]
0.75
>>> exactk.compare(truth, {"als": predictions, "popular": {"ann": ["film"], "bob": ["film"]}}, "recall@1")["recall@1"]
{'als': 0.25, 'popular': 0.75}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from exactk import _core  # noqa: F401 - fails early, with a note, if missing
except ImportError as error:  # pragma: no cover - a broken installation
    if error.name == __name__:  # the core is missing; other errors are its own
        error.add_note("exactk's compiled core is missing: install the package, or run `make test` in a checkout")
    raise

from exactk import reference
from exactk._agreement import agreement
from exactk._choose import Choice, choose
from exactk._compare import compare, compare_reports
from exactk._custom import custom
from exactk._evaluate import evaluate
from exactk._evaluator import Evaluator
from exactk._inputs.batches import Batches
from exactk._inputs.conversions import as_exclusions, as_predictions, as_rankings, as_truth
from exactk._inputs.embeddings import Embeddings
from exactk._inputs.items import Items
from exactk._inputs.model.lists import Exclusions, Rankings
from exactk._inputs.model.scores import Scores
from exactk._inputs.model.sparse_scores import SparseScores
from exactk._inputs.model.top_k import TopK
from exactk._inputs.paths import register_reader
from exactk._inputs.ratings import from_ratings
from exactk._inputs.truth import Truth
from exactk._judge import judge, judge_blocks
from exactk._matching import matching_conventions
from exactk._metrics import agreement_metrics, metrics
from exactk._plan.conventions import Convention, conventions
from exactk._plan.custom_metric import CustomMetric
from exactk._report.comparison import Comparison
from exactk._report.comparison_state import ComparisonState
from exactk._report.convention_matches import ConventionMatches
from exactk._report.difference import Difference
from exactk._report.differences import Differences
from exactk._report.gate import Gate
from exactk._report.judged_lists import JudgedLists
from exactk._report.merge import merge
from exactk._report.presentation import register_page, register_plot
from exactk._report.ranks import RankInterval, Ranks
from exactk._report.report import Report
from exactk._report.state import State
from exactk._runtime.errors import (
    CapacityError,
    EvaluationWarning,
    ExactkError,
    InputError,
    InputTypeError,
    StateMismatchError,
)
from exactk._runtime.names import did_you_mean
from exactk._runtime.versions import show_versions
from exactk._topk import neighbors, topk
from exactk._value_functions import (
    auc,
    average_precision_at_k,
    fbeta_at_k,
    hit_rate_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank_at_k,
)

__version__: str


def _load_reader() -> FileReader:
    from exactk._files import arguments  # noqa: PLC0415 - loaded with the first path

    return arguments


register_reader(_load_reader)


def _load_page() -> PageMaker:
    from exactk._html import html_page  # noqa: PLC0415 - loaded with the first page

    return html_page


def _load_plotter() -> Plotter:
    from exactk.displays import draw  # noqa: PLC0415 - loaded with the first plot

    return draw


import_module("exactk._runtime.forks")  # which says what a fork does
register_page(_load_page)
register_plot(_load_plotter)

if TYPE_CHECKING:
    from exactk import displays as displays
    from exactk._files import read
    from exactk._inputs.paths import FileReader
    from exactk._report.presentation import PageMaker, Plotter
else:  # type checkers would take every name for one that this finds

    def __getattr__(name: str) -> object:
        """Load slow or rarely used attributes on first access: the file readers and the version."""
        if name == "read":
            from exactk._files import read  # noqa: PLC0415 - loaded lazily

            return read
        if name == "displays":
            return import_module("exactk.displays")  # from exactk import displays would ask for it here
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - as above

            return version("exactk")
        hint = "" if name.startswith("_") else did_you_mean(name, __all__)
        message = f"module 'exactk' has no attribute {name!r}"
        raise AttributeError(f"{message}; {hint}" if hint else message)


def __dir__() -> list[str]:
    """Return the public names, and those that every module has."""
    return sorted({*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__spec__", "__version__"})


__all__ = [
    "Batches",
    "CapacityError",
    "Choice",
    "Comparison",
    "ComparisonState",
    "Convention",
    "ConventionMatches",
    "CustomMetric",
    "Difference",
    "Differences",
    "Embeddings",
    "EvaluationWarning",
    "Evaluator",
    "ExactkError",
    "Exclusions",
    "Gate",
    "InputError",
    "InputTypeError",
    "Items",
    "JudgedLists",
    "RankInterval",
    "Rankings",
    "Ranks",
    "Report",
    "Scores",
    "SparseScores",
    "State",
    "StateMismatchError",
    "TopK",
    "Truth",
    "agreement",
    "agreement_metrics",
    "as_exclusions",
    "as_predictions",
    "as_rankings",
    "as_truth",
    "auc",
    "average_precision_at_k",
    "choose",
    "compare",
    "compare_reports",
    "conventions",
    "custom",
    "evaluate",
    "fbeta_at_k",
    "from_ratings",
    "hit_rate_at_k",
    "judge",
    "judge_blocks",
    "matching_conventions",
    "merge",
    "metrics",
    "ndcg_at_k",
    "neighbors",
    "precision_at_k",
    "read",
    "recall_at_k",
    "reciprocal_rank_at_k",
    "reference",
    "show_versions",
    "topk",
]

for _name in __all__:
    if _name != "read" and callable(globals()[_name]):
        globals()[_name].__module__ = "exactk"  # the name in tracebacks, help and pickles
del _name
