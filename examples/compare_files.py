"""Compare files of predictions: ``python examples/compare_files.py test.qrels bm25.run als.parquet``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import exactk

if TYPE_CHECKING:
    from exactk.typing import ConventionLike, ExclusionsLike, PredictionsLike, TruthLike

METRICS = ("ndcg@10", "recall@[10,100]")
LOWEST_NDCG = 0.3


def compare_unseen(
    truth: TruthLike,
    systems: dict[str, PredictionsLike],
    seen: ExclusionsLike | None = None,
    convention: ConventionLike = "standard",
) -> exactk.Comparison:
    """Compare the systems on what users have not seen yet."""
    return exactk.compare(truth, systems, METRICS, exclude=seen, convention=convention)


def main(truth: str, *paths: str) -> int:
    """Print the table and return the exit code: 1 if no system is good enough, 2 if a file is at fault."""
    try:
        comparison = compare_unseen(truth, {path: path for path in paths})
    except exactk.ExactkError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{comparison}\n")
    return 0 if max(comparison["ndcg@10"].values()) >= LOWEST_NDCG else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
