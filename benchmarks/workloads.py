"""The workloads: named, seeded, and each with what it is for. The README beside this file says what would fool each."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.factors import Factors, Neighbors
from benchmarks.keyed import Keyed
from benchmarks.lists import Lists
from benchmarks.scores import Scores
from benchmarks.workload import Workload

LISTS_100 = Lists(
    "lists_100",
    "the usual offline evaluation: each user's hundred best, five metrics at six cutoffs",
    users=20_000,
    length=100,
    relevant=20,
)
MILLION = replace(
    LISTS_100,
    name="million",
    purpose="far beyond the caches, with a table of per-user values: bandwidth and memory",
    users=1_000_000,
    per_user=True,
)
LISTS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        LISTS_100,
        replace(
            LISTS_100,
            name="lists_100_wide",
            purpose="the same lists under arbitrary 64-bit ids, where no table over the ids is possible",
            wide=True,
        ),
        replace(
            LISTS_100,
            name="lists_100_per_user",
            purpose="the same lists with each user's values kept: what writing them costs",
            per_user=True,
        ),
        Lists(
            "lists_1000",
            "long lists: the cost an id, with that of a user spread over a thousand of them",
            users=2_000,
            length=1_000,
            relevant=100,
            cutoffs=(1, 10, 100, 1_000),
        ),
        Lists(
            "truth_5000",
            "few users with a huge truth: whether a long truth is looked up or walked",
            users=200,
            length=1_000,
            relevant=5_000,
            cutoffs=(10, 100, 1_000),
        ),
        Lists(
            "leave_one_out",
            "millions of users with one relevant item and ten ids each: the cost of a user",
            users=2_000_000,
            length=10,
            relevant=1,
            cutoffs=(1, 5, 10),
            metrics=("recall", "ndcg", "reciprocal_rank"),
            hit_share=0.3,
        ),
        MILLION,
    )
}
FACTORS = (1, 2, 4, 8)
MORE_USERS = tuple(replace(LISTS_100, name=f"users x {n}", users=n * LISTS_100.users) for n in FACTORS)
LONGER_LISTS = tuple(replace(LISTS_100, name=f"length x {n}", length=n * LISTS_100.length) for n in FACTORS)

DENSE_20K = Scores(
    "dense_20k",
    "a model's scores of every item, cut at 20: the usual evaluation of a recommender",
    users=4_096,
    length=20_000,
    relevant=10,
)
DENSE_MASKED = replace(
    DENSE_20K,
    name="dense_masked",
    purpose="the same with 200 items a user excluded, which score high as training items do",
    excluded=200,
)
DENSE_UNCUT = replace(
    DENSE_20K,
    name="dense_uncut",
    purpose="the same without a cutoff: the rank of every relevant item, however low",
    cutoffs=(),
    metrics=("reciprocal_rank", "average_precision", "ndcg"),
)
CANDIDATES_1000 = Scores(
    "candidates_1000",
    "a thousand scored candidates a user, as a first stage of retrieval leaves them",
    users=50_000,
    length=1_000,
    relevant=10,
    cutoffs=(10, 20, 100),
    num_items=50_000,
)
SCORES: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        DENSE_20K,
        replace(DENSE_20K, name="dense_20k_100", purpose="the same at three cutoffs up to 100", cutoffs=(10, 20, 100)),
        replace(DENSE_20K, name="dense_20k_float64", purpose="the same in twice the bytes", dtype="float64"),
        replace(DENSE_20K, name="dense_5k", purpose="more users of a smaller catalogue", users=20_000, length=5_000),
        replace(DENSE_20K, name="dense_1m", purpose="few users of a huge catalogue", users=64, length=1_000_000),
        DENSE_MASKED,
        DENSE_UNCUT,
        CANDIDATES_1000,
    )
}

FACTORS_100K = Factors(
    "factors_100k",
    "factors of users and items, as models have them: 50 training items a user excluded, cut at 20",
    users=8_192,
    length=100_000,
    relevant=10,
)
FACTORS_10M = replace(
    FACTORS_100K,
    name="factors_10m",
    purpose="few users of a huge catalogue: 1.3 GB of factors, and what memory they need beside",
    users=1_000,
    length=10_000_000,
    dimensions=32,
    sampled=200_000,
)
NEIGHBORS_50K = Neighbors(
    "neighbors_50k",
    "the 300 nearest of each vector among all, as diversity and novelty are computed of them",
    users=50_000,
    length=50_000,
    relevant=0,
    dimensions=32,
)
EMBEDDED: dict[str, Workload] = {workload.name: workload for workload in (FACTORS_100K, NEIGHBORS_50K, FACTORS_10M)}
HALVES = (
    replace(FACTORS_100K, name="all"),
    replace(FACTORS_100K, name="half the users", users=FACTORS_100K.users // 2),
    replace(FACTORS_100K, name="half the items", length=FACTORS_100K.length // 2),
)

FRAME_2M = Keyed(
    "frame_2m",
    "lists_100 as data frames: two million rows in any order, which a score orders",
    users=LISTS_100.users,
    length=LISTS_100.length,
    relevant=LISTS_100.relevant,
)
KEYED: dict[str, Keyed] = {
    workload.name: workload
    for workload in (
        FRAME_2M,
        replace(FRAME_2M, name="frame_2m_names", purpose="the same with strings for users and items", string_keys=True),
        replace(
            FRAME_2M,
            name="dict_20k",
            purpose="the same strings in mappings: of users, and of their items with scores",
            string_keys=True,
        ),
        replace(FRAME_2M, name="rows_20k", purpose="lists_100 as lists of lists of int"),
    )
}
WORKLOADS = LISTS | SCORES | EMBEDDED | KEYED
DENSE_CUTS = tuple(replace(DENSE_20K, name=f"cut at {k}", cutoffs=(k,)) for k in (1, 10, 20, 50, 100, 200))
