"""The report of a comparison, as a table, in LaTeX, as a dict and as a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from exactk._runtime.optional import pandas_frame
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd  # noqa: TID251 - for the type checker alone


Comparison = dict[str, dict[str, Any]]
Counts = dict[str, dict[str, int]]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SUPERSCRIPTS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ"
_METRIC_LABELS = {
    "hits": "Hits",
    "hit_rate": "Hit Rate",
    "precision": "P",
    "recall": "Recall",
    "f1": "F1",
    "r-precision": "R-Prec",
    "mrr": "MRR",
    "map": "MAP",
    "dcg": "DCG",
    "dcg_burges": "DCG Burges",
    "ndcg": "NDCG",
    "ndcg_burges": "NDCG Burges",
    "bpref": "BPref",
    **{f"rbp.{percent}": f"RBP.{percent}" for percent in range(1, 100)},
}
_TEST_LABELS = {
    "fisher": "Fisher's randomization test",
    "student": "paired Student's t-test",
    "tukey": "Tukey's HSD test",
}
_PREAMBLE = r"""========================
% Add in preamble
\usepackage{graphicx}
\usepackage{booktabs}
========================


"""
_LATEX_HEAD = r"""%% To change the table size, act on the resizebox argument `0.8`.
\begin{table*}[ht]
\centering
\caption{
Overall effectiveness of the models.
The best results are highlighted in boldface.
Superscripts denote significant differences in %s with $p \le %s$.
}
\resizebox{0.8\textwidth}{!}{
\begin{tabular}{c|l%s}
\toprule
\textbf{\#}
& \textbf{Model}%s \\ 
\midrule
"""  # noqa: W291 - a space at the end, as in ranx
_LATEX_END = r"""
\bottomrule
\end{tabular}
}
\label{tab:results}
\end{table*}"""


class FrozensetDict(MutableMapping[Iterable[str], Comparison]):
    """A mapping from pairs of names, in any order."""

    def __init__(self, arg: Mapping[Iterable[str], Comparison] | None = None) -> None:
        self._map: dict[frozenset[str], Comparison] = {}
        self.update(arg or {})

    def __getitem__(self, key: Iterable[str]) -> Comparison:
        return self._map[frozenset(key)]

    def __setitem__(self, key: Iterable[str], value: Comparison) -> None:
        self._map[frozenset(key)] = value

    def __delitem__(self, key: Iterable[str]) -> None:
        del self._map[frozenset(key)]

    def __iter__(self) -> Iterator[Iterable[str]]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)


class Report:
    """The results of a comparison of runs, which `compare` returns."""

    def __init__(
        self,
        model_names: list[str],
        results: dict[str, dict[str, float]],
        comparisons: FrozensetDict,
        metrics: list[str],
        max_p: float,
        win_tie_loss: dict[tuple[str, str], Counts],
        rounding_digits: int = 3,
        show_percentages: bool = False,  # noqa: FBT001, FBT002 - as in ranx
        stat_test: str = "student",
    ) -> None:
        self.model_names = model_names
        self.results = results
        self.comparisons = comparisons
        self.metrics = metrics
        self.max_p = max_p
        self.win_tie_loss = win_tie_loss
        self.rounding_digits = rounding_digits
        self.show_percentages = show_percentages
        self.stat_test = stat_test

    def format_score(self, score: float) -> str:
        """Return a value as it is shown."""
        digits = self.rounding_digits
        if self.show_percentages:
            return f"%.{digits - 2}f" % round(score * 100, max(0, digits - 2))
        return f"%.{digits}f" % round(score, digits)

    def get_metric_label(self, m: str) -> str:
        """Return the name of a metric in tables."""
        if "-l" not in m:
            return _label_of(m)
        name, level = m.split("-l")
        return f"{_label_of(name)}-l{level}"

    def get_stat_test_label(self, stat_test: str) -> str:
        """Return the name of a test in LaTeX."""
        return _TEST_LABELS[stat_test]

    def get_superscript_for_table(self, model: str, metric: str) -> str:
        """Return the superscripts of the runs that a run is significantly better than."""
        return self._marks(model, metric, _SUPERSCRIPTS)

    def get_superscript_for_latex(self, model: str, metric: str) -> str:
        """Return the letters of the runs that a run is significantly better than."""
        return self._marks(model, metric, _LETTERS)

    def get_phantoms_for_latex(self, model: str, metric: str) -> str:
        """Return the letters of the other runs, which keep their place in LaTeX."""
        return self._marks(model, metric, _LETTERS, is_better=False)

    def _marks(self, model: str, metric: str, marks: str, *, is_better: bool = True) -> str:
        return "".join(
            marks[position]
            for position, other in enumerate(self.model_names)
            if model != other and self._is_better(model, other, metric) == is_better
        )

    def _is_better(self, model: str, other: str, metric: str) -> bool:
        is_significant = self.comparisons[model, other][metric]["significant"]
        return bool(is_significant and self.results[model][metric] > self.results[other][metric])

    def to_table(self) -> str:
        """Return the table that is printed."""
        rows = [
            [_LETTERS[position], str(model)]
            + [self.format_score(score) + self.get_superscript_for_table(model, metric) for metric, score in of.items()]
            for position, (model, of) in enumerate(self.results.items())
        ]
        return plain_table(["#", "Model", *map(self.get_metric_label, self.metrics)], rows)

    def to_latex(self) -> str:
        """Return the table in LaTeX, with the preamble that it needs."""
        labels = "".join(f"\n& \\textbf{{{self.get_metric_label(metric)}}}" for metric in self.metrics)
        test = self.get_stat_test_label(self.stat_test)
        head = _LATEX_HEAD % (test, self.max_p, "|c" * len(self.metrics), labels)
        best = {metric: self._best(metric) for metric in self.metrics}
        rows = [self._latex_row(position, model, best) for position, model in enumerate(self.model_names)]
        return _PREAMBLE + head + "\n".join(rows).replace("_", r"\_").replace("$^{}$", "") + _LATEX_END

    def _best(self, metric: str) -> str | None:
        """Return the first run with the highest value, as it is shown; None if no value is above 0."""
        best, highest = None, 0.0
        for model in self.model_names:
            value = round(self.results[model][metric], self.rounding_digits)
            if value > highest:
                best, highest = model, value
        return best

    def _latex_row(self, position: int, model: str, best: Mapping[str, str | None]) -> str:
        cells = []
        for metric in self.metrics:
            score = self.format_score(self.results[model][metric])
            score = rf"\textbf{{{score}}}" if best[metric] == model else score
            marks = self.get_superscript_for_latex(model, metric)
            phantoms = self.get_phantoms_for_latex(model, metric)
            cells.append(rf"{score}$^{{{marks}}}$\hphantom{{$^{{{phantoms}}}$}} ")
        return f"{_LETTERS[position]} &\n{model} &\n" + "&\n".join(cells) + r"\\"

    def to_dict(self) -> dict[str, Any]:
        """Return means, p-values, and wins, ties and losses."""
        return {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
            **{model: self._dict_of(model) for model in self.model_names},
        }

    def _dict_of(self, model: str) -> dict[str, Any]:
        others = [other for other in self.model_names if other != model]
        return {
            "scores": self.results[model],
            "comparisons": {
                other: {metric: self.comparisons[model, other][metric]["p_value"] for metric in self.metrics}
                for other in others
            },
            "win_tie_loss": {
                other: {metric: self.win_tie_loss[model, other][metric] for metric in self.metrics} for other in others
            },
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return the means as a pandas data frame, with a row for each run."""
        names = list(dict.fromkeys(self.model_names))
        metrics = dict.fromkeys(metric for name in names for metric in self.results[name])
        columns = {metric: [self.results[name][metric] for name in names] for metric in metrics}
        return pandas_frame({"model_names": names, **columns})

    def save(self, path: str) -> None:
        """Write `to_dict` to a JSON file."""
        write_file(path, json.dumps(self.to_dict(), indent=4).encode())

    def print_results(self) -> None:
        """Print the means as JSON."""
        print(json.dumps(self.results, indent=4))  # noqa: T201 - as its name says

    def __repr__(self) -> str:
        return self.to_table()


def _label_of(metric: str) -> str:
    name, *cutoff = metric.split("@")
    return _METRIC_LABELS[name] + (f"@{cutoff[0]}" if cutoff else "")


def pair_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return all ordered pairs of two distinct runs."""
    return [(one, other) for one in names for other in names if one != other]


_SEPARATOR = "  "
_MIN_PADDING = 2  # of headers
_NOT_FINITE = ("inf", "-inf", "nan")


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the header, a line of dashes, and the rows."""
    columns = [
        _aligned(header, cells) for header, cells in zip(headers, _cells_by_column(rows, len(headers)), strict=True)
    ]
    header, *lines = [_SEPARATOR.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    dashes = _SEPARATOR.join("-" * len(column[0]) for column in columns)
    return "\n".join([header, dashes, *lines])


def _cells_by_column(rows: Sequence[Sequence[str]], count: int) -> list[tuple[str, ...]]:
    return list(zip_longest(*rows, fillvalue="")) if rows else [()] * count


def _aligned(header: str, cells: Sequence[str]) -> list[str]:
    """Return the header and the cells of a column, all of one width."""
    cells = [cell.strip() for cell in cells]
    least = len(header) + _MIN_PADDING
    if not cells or not all(map(_is_number, cells)):
        width = max([least, *map(len, cells)])
        return [cell.ljust(width) for cell in (header, *cells)]
    if not all(_converts(int, cell) for cell in cells):
        cells = [format(float(cell), "g") for cell in cells]
    decimals = list(map(_decimals, cells))
    cells = [cell + " " * (max(decimals) - count) for cell, count in zip(cells, decimals, strict=True)]
    width = max([least, *map(len, cells)])
    return [cell.rjust(width) for cell in (header, *cells)]


def _is_number(cell: str) -> bool:
    return _converts(float, cell) and (math.isfinite(float(cell)) or cell.lower() in _NOT_FINITE)


def _converts(convert: Callable[[str], float], cell: str) -> bool:
    try:
        convert(cell)
    except ValueError:
        return False
    return True


def _decimals(cell: str) -> int:
    """Return the characters after the point, or after the exponent's e; -1 without either."""
    if _converts(int, cell) or not _is_number(cell):
        return -1
    position = cell.rfind(".") if "." in cell else cell.lower().rfind("e")
    return len(cell) - position - 1 if position >= 0 else -1
