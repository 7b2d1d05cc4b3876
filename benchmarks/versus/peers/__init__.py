"""Who takes part. A peer is a line here, and a module with a function `prepare(data, workload)`.

`prepare` builds what the library can build beforehand, and is timed by itself. It returns the calls that
are timed, by name; each returns the means that it computes, by exactk's names of the values. Everything
else that leads from the arrays to the means is part of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Call = Callable[[], Mapping[str, float] | Any]  # a peer that selects may have arrays of its own kind

_USUAL = ("lists_100", "lists_1000")
_EVERY = (*_USUAL, "lists_100_wide", "truth_5000", "leave_one_out")
_CUT_AT_20 = ("dense_20k", "dense_20k_float64", "dense_5k", "dense_1m", "dense_masked")
_CUT = (*_CUT_AT_20, "dense_20k_100", "candidates_1000")
_SCORES = (*_CUT, "dense_uncut")
_PRODUCTS = ("factors_100k", "neighbors_50k")
_EMBEDDED = (*_PRODUCTS, "factors_10m")
_FRAMES = ("frame_2m", "frame_2m_names")
_POLARS = ("polars>=1.44", "pandas>=2", "pyarrow>=15", "numpy>=2.4")


@dataclass(frozen=True)
class Peer:
    """What must be known of a library before it is installed."""

    module: str
    calls: tuple[str, ...]  # the names under which `prepare` returns them
    distribution: str  # under which its version is found
    requirements: tuple[str, ...]  # of its environment; none: it runs in the benchmark's own
    workloads: tuple[str, ...]  # that it evaluates within seconds
    convention: Mapping[str, str] = field(default_factory=dict)  # the fields under which ours are its answers


OURS = Peer(
    "exactk_itself", ("exactk",), "exactk", (), (*_EVERY, "lists_100_per_user", "million", *_SCORES, *_EMBEDDED)
)
READING = Peer("memory_reading", ("reading",), "exactk", (), _SCORES)
PRODUCTS = Peer("blas_products", ("products",), "scipy", (), _EMBEDDED)
LIST_PEERS = (
    Peer("numpy_code", ("NumPy, sorted keys", "NumPy, bitmap"), "numpy", ("numpy>=2.4",), _EVERY),
    Peer(
        "ranx_library",
        ("ranx", "ranx, typed lists"),
        "ranx",
        ("ranx>=0.3.21",),
        _USUAL,
        {"ap_over": "relevant"},
    ),
    Peer(
        "pytrec_eval_library",
        ("pytrec_eval",),
        "pytrec-eval-terrier",
        ("pytrec-eval-terrier>=0.5.11",),
        (*_USUAL, "truth_5000"),
        {"ap_over": "relevant"},
    ),
    Peer(
        "rectools_library",
        ("RecTools",),
        "rectools",
        ("rectools>=0.19",),
        (*_USUAL, "truth_5000"),
        {"ap_over": "relevant"},
    ),
)
SCORE_PEERS = (
    # of one version, so that pip prefers the wheel for CPUs alone where it knows of one: the other has 5 GB
    Peer("torch_library", ("torch.topk alone", "torch"), "torch", ("torch==2.13.0", "numpy>=2.4"), _CUT),
    Peer("irspack_library", ("irspack's core",), "irspack", ("irspack>=0.5.2",), _CUT_AT_20, {"ap_over": "relevant"}),
    Peer("numpy_scores", ("NumPy",), "numpy", ("numpy>=2.4",), _SCORES),
)
FACTOR_PEERS = (
    Peer("faiss_library", ("FAISS, search alone",), "faiss-cpu", ("faiss-cpu>=1.15", "numpy>=2.4"), _PRODUCTS),
    Peer(
        "implicit_library",
        ("implicit",),
        "implicit",
        ("implicit>=0.7.3", "numpy>=2.4"),
        ("factors_100k",),
        {"precision_over": "min_cutoff_relevant"},
    ),
    Peer("torch_factors_library", ("torch.matmul, topk",), "torch", (), _PRODUCTS),  # the benchmark's own has torch
    Peer("numpy_factors", ("NumPy, products alone",), "numpy", ("numpy>=2.4",), _PRODUCTS),
)
OURS_KEYED = (  # from each kind of container
    Peer("exactk_frames", ("exactk", "exactk, pandas", "exactk, pyarrow"), "exactk", (), _FRAMES),
    Peer("exactk_frames", ("exactk, pandas, objects",), "exactk", (), ("frame_2m_names",)),
    Peer("exactk_mappings", ("exactk",), "exactk", (), ("dict_20k",)),
    Peer("exactk_rows", ("exactk",), "exactk", (), ("rows_20k",)),
)
KEYED_PEERS = (
    Peer(
        "replay_library",
        ("RePlay",),
        "replay-rec",
        ("replay-rec==0.22.0", "polars>=1.44", "pyarrow>=15"),
        _FRAMES,
    ),
    Peer("recommenders_library", ("recommenders",), "recommenders", ("recommenders==1.2.1",), ("frame_2m",)),
    Peer("polars_code", ("Polars, hits alone", "pandas, hits alone"), "polars", _POLARS, _FRAMES),
    *(
        replace(peer, calls=peer.calls[:1], workloads=("dict_20k",))
        for peer in LIST_PEERS
        if peer.distribution in {"ranx", "pytrec-eval-terrier"}
    ),
)
PEERS = (*LIST_PEERS, *SCORE_PEERS, *FACTOR_PEERS, *OURS_KEYED, *KEYED_PEERS)
