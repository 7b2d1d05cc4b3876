"""Ranking and recommendation metrics: well-defined, bit-for-bit reproducible, and fast.

What is relevant to each user is the *truth*, what a system recommends are its *predictions*. Both may be data frames,
mappings by user, lists, arrays, sparse matrices or files.

- `evaluate` computes metrics of one system, and returns a `Report`: a mapping from metric to value.
- `compare` does so for several systems, by name, and returns a `Comparison`.
- `Evaluator` evaluates users who come some at a time, such as the batches of a training loop.
- `recall_at_k`, `ndcg_at_k` and a few more return one number; `metrics` has an object for every metric, which does so when it is
  called, and makes metric strings: ``metrics.ndcg @ 10``.
- `explain` shows why a user's values are what they are, item by item.
- `judge` returns the lists beside the truth as arrays, for metrics of your own; `custom` puts them among the others.
- `agreement` says how much the lists of two systems have in common, and `drift` what changed between them.
- `topk` returns the best items of a matrix of scores, of a factor model (`Embeddings`) or of a data frame.
- `fuse` makes one system of several, such as of keyword and vector search.
- `conventions` lists how other libraries define them.
- What is only returned is in `exactk.results`, types for annotations are in `exactk.typing`.
- `merge` adds the reports of shards; `read` reads files; `show_versions` helps with bug reports.

Examples
--------
>>> import exactk
>>> truth = {"ann": ["film", "song"], "bob": ["film"]}
>>> predictions = {"ann": ["song", "book"], "bob": ["book", "film"]}
>>> report = exactk.evaluate(truth, predictions, ["recall@2", "ndcg@2"])
>>> report
metric     value     std
recall@2  0.7500  0.2500
ndcg@2    0.6220  0.0089
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

import_module("exactk._runtime")  # which says what a fork does

if TYPE_CHECKING:
    from exactk import displays as displays, reference as reference, results as results, typing as typing
    from exactk._agreement import agreement as agreement, drift as drift
    from exactk._choose import choose as choose
    from exactk._compare import compare as compare, compare_reports as compare_reports
    from exactk._custom import custom as custom
    from exactk._evaluate import evaluate as evaluate
    from exactk._evaluator import Evaluator as Evaluator
    from exactk._explain import explain as explain
    from exactk._files import read as read
    from exactk._fuse import fuse as fuse
    from exactk._inputs.batches import Batches as Batches
    from exactk._inputs.conversions import (
        as_exclusions as as_exclusions,
        as_predictions as as_predictions,
        as_truth as as_truth,
    )
    from exactk._inputs.embeddings import Embeddings as Embeddings
    from exactk._inputs.items import Items as Items
    from exactk._inputs.model.lists import Exclusions as Exclusions, Rankings as Rankings
    from exactk._inputs.model.scores import Scores as Scores, SparseScores as SparseScores
    from exactk._inputs.parents import Parents as Parents
    from exactk._inputs.truth import Truth as Truth, from_ratings as from_ratings
    from exactk._judge import judge as judge
    from exactk._matching import matching_conventions as matching_conventions
    from exactk._metrics import agreement_metrics as agreement_metrics, metrics as metrics
    from exactk._plan.conventions import Convention as Convention, conventions as conventions
    from exactk._report.comparison import Comparison as Comparison
    from exactk._report.merging import merge as merge
    from exactk._report.report import Report as Report
    from exactk._report.state import State as State
    from exactk._runtime.errors import (
        CapacityError as CapacityError,
        EvaluationWarning as EvaluationWarning,
        ExactkError as ExactkError,
        InputError as InputError,
        InputTypeError as InputTypeError,
        StateMismatchError as StateMismatchError,
    )
    from exactk._runtime.optional import show_versions as show_versions
    from exactk._topk import neighbors as neighbors, topk as topk
    from exactk._value_functions import (
        auc as auc,
        average_precision_at_k as average_precision_at_k,
        fbeta_at_k as fbeta_at_k,
        hit_rate_at_k as hit_rate_at_k,
        ndcg_at_k as ndcg_at_k,
        precision_at_k as precision_at_k,
        recall_at_k as recall_at_k,
        reciprocal_rank_at_k as reciprocal_rank_at_k,
    )

    __version__: str

_MODULES = {
    "_agreement": "agreement drift",
    "_choose": "choose",
    "_compare": "compare compare_reports",
    "_custom": "custom",
    "_evaluate": "evaluate",
    "_evaluator": "Evaluator",
    "_explain": "explain",
    "_files": "read",
    "_fuse": "fuse",
    "_inputs.batches": "Batches",
    "_inputs.conversions": "as_exclusions as_predictions as_truth",
    "_inputs.embeddings": "Embeddings",
    "_inputs.items": "Items",
    "_inputs.model.lists": "Exclusions Rankings",
    "_inputs.model.scores": "Scores SparseScores",
    "_inputs.parents": "Parents",
    "_inputs.truth": "Truth from_ratings",
    "_judge": "judge",
    "_matching": "matching_conventions",
    "_metrics": "agreement_metrics metrics",
    "_plan.conventions": "Convention conventions",
    "_report.comparison": "Comparison",
    "_report.merging": "merge",
    "_report.report": "Report",
    "_report.state": "State",
    "_runtime.errors": "CapacityError EvaluationWarning ExactkError InputError InputTypeError StateMismatchError",
    "_runtime.optional": "show_versions",
    "_topk": "neighbors topk",
    "_value_functions": "auc average_precision_at_k fbeta_at_k hit_rate_at_k ndcg_at_k precision_at_k recall_at_k reciprocal_rank_at_k",
}
"""The public names by module, which the first use of one loads; above, type checkers have them once more."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = ("displays", "reference", "results", "typing")
_ON_IMPORT = ("compat", "dask", "ltr", "ray", "sentence_transformers", "spark", "torch")
"""The submodules that their first use loads, and those that need an import statement."""

__all__ = [*_MODULE_OF, "reference"]  # noqa: PLE0604 - the names are strings

if not TYPE_CHECKING:  # type checkers would take every name for one that this finds

    def __getattr__(name: str) -> object:
        """Load what a public name stands for, when it is first used."""
        if name in _SUBMODULES:
            return import_module(f"exactk.{name}")
        if name in _MODULE_OF:
            public = getattr(import_module(f"exactk.{_MODULE_OF[name]}"), name)
            if hasattr(
                public, "__code__"
            ):  # the name of a function in help and pickles; classes have it in their bodies
                public.__module__ = "exactk"
            globals()[name] = public
            return public
        if name == "__version__":
            from importlib.metadata import version

            return version("exactk")
        message = f"module 'exactk' has no attribute {name!r}"
        if name in _ON_IMPORT:
            raise AttributeError(f"{message}; write import exactk.{name}")
        if name.startswith("_"):
            raise AttributeError(message)
        from exactk._plan.metrics import meant_by
        from exactk._runtime.texts import did_you_mean

        meant = meant_by(name)
        hint = f"write {meant.call}" if meant else did_you_mean(name, __all__)
        raise AttributeError(f"{message}; {hint}" if hint else message)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*__all__, "__version__"])
