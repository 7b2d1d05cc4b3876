"""Measure how often tests, intervals and adjustments err on samples whose truth is known.

``make calibration`` runs this, which takes minutes, and writes the tables between the markers of
docs/explanation/which_test.md. Every night it runs with ``--check``, which compares; ``tests/test_calibration.py`` draws
smaller samples of what the tables do not show.

Each sample is a group of users, so that one comparison tests many.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

import exactk
from exactk._inference import intervals
from exactk._runtime.table import markdown_of_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Sample = dict[str, NDArray[np.int64]]
    Draw = Callable[[np.random.Generator, int], Sample]

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "which_test.md"
BEGIN = "<!-- Written by `make calibration`. -->\n"
END = "<!-- The end of what `make calibration` writes. -->\n"

TENTHS = 10
LONGEST = 20
USERS_AT_A_TIME = 200_000


def compare_hits(hits: Mapping[str, NDArray[np.int64]], users: int, **options: Any) -> exactk.Comparison:
    """Compare systems by precision@10 in tenths; each `users` rows are a sample, which is a group."""
    size = len(next(iter(hits.values())))
    relevant = np.arange(TENTHS)
    truth = exactk.Truth(np.arange(size + 1) * TENTHS, np.tile(relevant, size))
    lists = {name: np.where(relevant < counts[:, None], relevant, relevant + TENTHS) for name, counts in hits.items()}
    return exactk.compare(truth, lists, "P@10", groups=np.arange(size) // users, **options)


def compare_ranks(ranks: Mapping[str, NDArray[np.int64]], users: int, **options: Any) -> exactk.Comparison:
    """Compare systems by the reciprocal rank of each user's only relevant item; each `users` rows are a sample."""
    size, items = len(next(iter(ranks.values()))), np.arange(1, LONGEST + 1)
    lists = {name: np.where(items == rank[:, None], 0, items) for name, rank in ranks.items()}
    truth = np.zeros((size, 1), np.int64)
    return exactk.compare(truth, lists, "mrr@20", groups=np.arange(size) // users, **options)


def equal_ranks(count: int) -> Draw:
    """Return what draws systems of which none is better: ranks of 1 to 20, equally frequent."""

    def draw(rng: np.random.Generator, size: int) -> Sample:
        return {f"system {i}": rng.integers(1, LONGEST + 1, size) for i in range(count)}

    return draw


def ranks_of_two_better(rng: np.random.Generator, size: int) -> Sample:
    """Return five systems, of which the last two rank the relevant item better."""
    ranks = equal_ranks(5)(rng, size)
    for name in ("system 3", "system 4"):
        ranks[name] = np.minimum(ranks[name], rng.integers(1, LONGEST + 1, size))
    return ranks


def skewed_hits(rng: np.random.Generator, size: int) -> Sample:
    """Return systems of equal means: the new one gains up to 0.8 for one user in five, and loses 0.1 for the others."""
    return {"base": np.ones(size, np.int64), "new": np.where(rng.random(size) < 0.2, rng.integers(1, 10, size), 0)}


def hits_of_loss(rng: np.random.Generator, size: int, losers: float, kept: int, *, is_binary: bool) -> Sample:
    """Return a baseline and a system of which a share of users keep so many tenths; each has any value, or 0 or 1."""
    base = rng.integers(0, 2, size) * TENTHS if is_binary else rng.integers(0, TENTHS + 1, size)
    return {"base": base, "new": np.where(rng.random(size) < losers, base * kept // TENTHS, base)}


def share(chosen: list[bool]) -> float:
    """Return the share of what is chosen."""
    return float(np.mean(chosen))


def rows_of_samples(draw: Draw, users: int, samples: int, **options: Any) -> Iterator[exactk.results.Difference]:
    """Yield the rows of all samples, in order of the samples."""
    compare = compare_hits if draw is skewed_hits else compare_ranks
    rng, at_a_time = np.random.default_rng(users), max(1, USERS_AT_A_TIME // users)
    for part, first in enumerate(range(0, samples, at_a_time)):
        size = users * min(at_a_time, samples - first)
        seed = {"seed": part} if options.get("test") == "permutation" or "interval" in options else {}
        is_wilcoxon = options.get("test") == "wilcoxon"
        yield from compare(draw(rng, size), users, per_user=is_wilcoxon, **options, **seed).differences.by_group


def percent(number: float) -> str:
    """Return a share as percent."""
    return f"{100 * number:.1f}"


LEVELS = (0.01, 0.05, 0.1)
SAMPLES = 4000
TESTS = ("t", "permutation", "wilcoxon")
INTERVALS = {"t": {}, "percentile": {"interval": "percentile"}, "bca": {"interval": "bca"}}
ADJUSTMENTS = (("t", "none"), ("t", "holm"), ("permutation", "holm"), ("permutation", "max_t"))
POPULATIONS = {
    "equal": (equal_ranks(2), (20, 50, 200)),
    "equal means, skewed": (skewed_hits, (50, 200, 1000)),
}


def rejections(population: str, users: int, test: str) -> str:
    """Return how often a test rejects, at each level, in percent."""
    draw, _ = POPULATIONS[population]
    p_values = [row.p for row in rows_of_samples(draw, users, SAMPLES, test=test)]
    return " / ".join(percent(share([p <= level for p in p_values])) for level in LEVELS)


def rejection_row(population: str, users: int) -> list[str]:
    """Return how often each test rejects."""
    return [population, str(users), *(rejections(population, users, test) for test in TESTS)]


def coverage_row(users: int) -> list[str]:
    """Return how often each 95 % interval covers the difference, which is 0, in percent."""
    cells = [str(users)]
    for options in INTERVALS.values():
        rows = rows_of_samples(skewed_hits, users, SAMPLES, **options)
        cells.append(percent(share([row.low <= 0 <= row.high for row in rows])))
    return cells


def adjustment_row(test: str, adjustment: str) -> list[str]:
    """Return how often any difference of equal systems is claimed, and the share of true ones that are, in percent."""
    options = {"test": test, "adjust": adjustment}
    of_equal = [row.p_adjusted <= 0.05 for row in rows_of_samples(equal_ranks(5), 50, SAMPLES, **options)]
    any_claimed = np.reshape(of_equal, (-1, 10)).any(axis=1)
    better = {"system 3", "system 4"}
    found = [
        row.verdict == "better"
        for row in rows_of_samples(ranks_of_two_better, 50, SAMPLES // 4, **options)
        if row.system in better and row.baseline not in better
    ]
    names = [f'`adjust="{adjustment}"`', f'`test="{test}"`']
    return [*names, percent(float(any_claimed.mean())), percent(share(found))]


MEANS = ((0.0, 0.02, 0.1, 0.5), (10, 30, 60, 100, 300, 1000))
"""The rates of hits, and the numbers of users, of the intervals of one system's value."""
MEAN_SAMPLES = 1000


def ranks_of_few(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return reciprocal ranks, of which nine in ten are 0."""
    return np.where(rng.random(size) < 0.1, 1 / np.minimum(rng.geometric(0.3, size), LONGEST), 0.0)


def precisions_of_few(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return precisions at 10, most of which are 0, by a skill that few users have."""
    return rng.binomial(TENTHS, rng.beta(0.4, 6, size)) / TENTHS


def misses_of_few(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return ones, and for 3 in 100 users a value below 0.2."""
    return np.where(rng.random(size) < 0.03, 0.2 * rng.random(size), 1.0)


def close_with_ones(rng: np.random.Generator, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return values close to 0.3, and for 1 in 100 users 1."""
    return np.where(rng.random(size) < 0.01, 1.0, rng.beta(300, 700, size))


_BY_RANK = 0.3 * 0.7 ** np.arange(LONGEST - 1)
VALUES: dict[str, tuple[Callable[..., NDArray[np.float64]], float]] = {
    "9 in 10 are 0, else 1/rank": (
        ranks_of_few,
        0.1 * float((_BY_RANK / np.arange(1, LONGEST)).sum() + (1 - _BY_RANK.sum()) / LONGEST),
    ),
    "precision@10, most are 0": (precisions_of_few, 0.4 / 6.4),
    "3 in 100 below 0.2, else 1": (misses_of_few, 0.97 + 0.03 * 0.1),
    "close to 0.3": (lambda rng, size: rng.beta(300, 700, size), 0.3),
    "close to 0.3, 1 in 100 is 1": (close_with_ones, 0.99 * 0.3 + 0.01),
    "spread": (lambda rng, size: rng.beta(2, 5, size), 2 / 7),
}


def bounds_of_means(
    means: NDArray[np.float64], variances: NDArray[np.float64], users: int, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the intervals of means: those of the package, and those of t alone."""
    samples = [
        intervals.Sample(float(mean), float(variance), users, users)
        for mean, variance in zip(means, variances, strict=True)
    ]
    half = stats.t.ppf((1 + confidence) / 2, users - 1) * np.sqrt(variances / (users - 1))
    return np.array([intervals.mean_bounds(one, confidence)[:2] for one in samples]), np.column_stack(
        [means - half, means + half]
    )


def coverage_of_hits(users: int, rates: NDArray[np.float64], confidence: float = 0.95) -> NDArray[np.float64]:
    """Return coverage and mean width for each rate of hits: of the package's intervals, then of t. They are exact sums."""
    hits = np.arange(users + 1)
    shares = stats.binom.pmf(hits[:, None], users, rates)
    rows = []
    for bounds in bounds_of_means(hits / users, hits * (users - hits) / users**2, users, confidence):
        low, high = bounds.T[:, :, None]
        rows += [(shares * ((low <= rates) & (rates <= high))).sum(axis=0), (shares * (high - low)).sum(axis=0)]
    return np.array(rows)


def coverage_of_values(kind: str, users: int, samples: int = MEAN_SAMPLES) -> tuple[float, ...]:
    """Return coverage and mean width of the package's intervals, then of t, for drawn values."""
    draw, mean = VALUES[kind]
    values = draw(np.random.default_rng([users, list(VALUES).index(kind)]), (samples, users))
    rows: list[float] = []
    for bounds in bounds_of_means(values.mean(axis=1), values.var(axis=1), users):
        low, high = bounds.T
        rows += [share(((low <= mean) & (mean <= high)).tolist()), float((high - low).mean())]
    return tuple(rows)


def row_of_means(kind: str, measured: Sequence[Sequence[float]]) -> list[str]:
    """Return the coverages and widths of one kind of values."""
    return [
        kind,
        *(f"{percent(one)} ({width:.3f}), {percent(of_t)} ({wide:.3f})" for one, width, of_t, wide in measured),
    ]


def table_of_means() -> str:
    """Return the coverage of the intervals of values, by kind of values and users."""
    rates, sizes = MEANS
    of_hits = np.array([coverage_of_hits(users, np.array(rates)) for users in sizes])
    rows = [row_of_means(f"0/1, rate {rate:g}", of_hits[:, :, index].tolist()) for index, rate in enumerate(rates)]
    rows += [row_of_means(kind, [coverage_of_values(kind, users) for users in sizes]) for kind in VALUES]
    return markdown_of_cells(["values", *(f"{users:,} users" for users in sizes)], rows)


LOSSES: dict[str, Callable[[float], dict[str, Any]]] = {
    "some users lose all": lambda loss: {"losers": loss, "kept": 0, "is_binary": False},
    "some users lose 30 %": lambda loss: {"losers": loss / 0.3, "kept": 7, "is_binary": True},
    "some hits are lost": lambda loss: {"losers": loss, "kept": 0, "is_binary": True},
}
GATED_USERS, MARGINS = (60, 300, 1000), (1, 5)


def gate_errors(case: str, percent_lost: int, users: int, samples: int = SAMPLES) -> float:
    """Return how often a gate holds although the system is worse by the margin."""
    how, margin = LOSSES[case](percent_lost / 100), f"{percent_lost}%"
    rng, at_a_time = np.random.default_rng(users), max(1, USERS_AT_A_TIME // users)
    p_values = []
    for first in range(0, samples, at_a_time):
        hits = hits_of_loss(rng, users * min(at_a_time, samples - first), **how)
        rows = compare_hits(hits, users, baseline="base", margin=margin).differences.by_group
        p_values += [row.p_not_worse for row in rows]
    return share([p <= 0.05 for p in p_values])


def gate_row(case: str) -> list[str]:
    """Return how often gates hold at the margin, in percent, by number of users."""
    cells = [" / ".join(percent(gate_errors(case, margin, users)) for margin in MARGINS) for users in GATED_USERS]
    return [case, *cells]


def tables() -> str:
    """Return the tables of the page."""
    levels = "1 / 5 / 10 %"
    of_tests = [rejection_row(name, users) for name, (_, sizes) in POPULATIONS.items() for users in sizes]
    coverage = [coverage_row(users) for users in (20, 50, 200, 1000)]
    adjustments = [adjustment_row(*one) for one in ADJUSTMENTS]
    gates = [gate_row(case) for case in LOSSES]
    names = [f'`test="{test}"`' for test in TESTS]
    return "\n".join(
        [
            f"How often a test rejects, in percent of {SAMPLES:,} samples, at a level of {levels}:\n",
            markdown_of_cells(["systems", "users", *names], of_tests, left=1),
            "\nHow often a 95 % interval covers the true difference, with skewed differences, in percent:\n",
            markdown_of_cells(["users", *(f'`interval="{name}"`' for name in INTERVALS)], coverage, left=1),
            "\nFive systems, 50 users, all ten pairs: how often any pair of equal systems is claimed to differ, and how many of",
            "the true differences are found where two systems are better, in percent:\n",
            markdown_of_cells(["adjustment", "test", "any false claim", "true differences found"], adjustments, left=2),
            "\nHow often a 95 % interval of one system's value covers its true mean, in percent, and its mean width; first that of",
            f"`report.interval`, then that of t alone. Of 0/1 values by exact sums, of others in {MEAN_SAMPLES:,} samples:\n",
            table_of_means(),
            "\nHow often `no_worse` holds although the true loss is the margin, 1 / 5 %, in percent, by number of users:\n",
            markdown_of_cells(["loss", *(f"{users:,}" for users in GATED_USERS)], gates, left=1),
            "",
        ]
    )


def main(arguments: list[str]) -> str | None:
    """Write the tables; with ``--check``, return what is wrong if they are not what is measured today."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    measured = tables()
    if arguments != ["--check"]:
        when = f"Measured on {datetime.now(UTC):%d %B %Y} with exactk {exactk.__version__}, and compared again every night."
        PAGE.write_text(f"{text[:start]}\n{when}\n\n{measured}\n{text[end:]}", encoding="utf-8")
    elif measured not in text[start:end]:
        return f"{PAGE.name} shows other numbers than those of today; `make calibration` writes them:\n{measured}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
