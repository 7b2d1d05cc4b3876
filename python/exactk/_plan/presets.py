"""The conventions of other libraries and papers, as differences from the standard.

A preset is a row of data. ``tests/golden`` holds the libraries' own results for the same inputs.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "capped": {"recall_over": "min_cutoff_relevant"},
        # Texts.
        "brute_force_hnsw": {"precision_over": "list", "empty_truth": "compute", "undefined": "one"},
        "surprise_article": {
            "precision_over": "list",
            "empty_truth": "compute",
            "undefined": "one",
            "ties": "input_order",
        },
        # Libraries.
        "cornac": {
            "gain": "binary",
            "min_grade": 1.0,
            "overrides": {"average_precision": {"ties": "shared"}, "auc": {"ties": "shared"}},
        },
        "elliot": {"users": "both", "gain": "exp2_shifted", "min_grade": 1.0},
        "evidently": {
            "precision_over": "list",
            "ap_over": "relevant",
            "foreign_items": "ignore",
            "overrides": {
                "f1": {"average": "of_means", "undefined": "nan"},
                "fbeta": {"average": "of_means", "undefined": "nan"},
                "novelty": {"users": "predictions", "undefined": "skip", "unseen_items": "skip"},
                "arp": {"users": "predictions", "undefined": "skip", "unseen_items": "skip"},
                "gini": {"foreign_items": "count", "gini_over": "items_less_one", "gini_items": "recommended"},
                "personalization": {"foreign_items": "count"},
                "ild": {"users": "predictions", "ild_over": "list"},
                "serendipity": {
                    "users": "predictions",
                    "empty_truth": "compute",
                    "undefined": "skip",
                    "history_distance": "mean",
                },
            },
        },
        "implicit": {
            "precision_over": "min_cutoff_relevant",
            "gain": "binary",
            "min_grade": "any",
            "duplicate_items": "count",
            "overrides": {"precision": {"average": "micro"}},
        },
        "ir_measures": {
            "ap_over": "relevant",
            "recall_rank": "plus_0.9",
            "empty_truth": "compute",
            "negative_grades": "unjudged",
            "ties": "highest_id",
            "score_dtype": "float32",
            "overrides": {
                "num_relevant": {"missing_list": "zero"},
                # By other providers than trec_eval.
                "pairwise_accuracy": {"undefined": "skip", "ties": "input_order", "score_dtype": "native"},
                "judged": {
                    "precision_over": "list",
                    "negative_grades": "zero_gain",
                    "ties": "lowest_id",
                    "score_dtype": "native",
                },
                "rbp": {"gain": "binary", "ties": "input_order", "score_dtype": "native"},
                "reciprocal_rank@k": {"ties": "lowest_id", "score_dtype": "native"},
                "compatibility": {"negative_grades": "zero_gain", "ties": "lowest_id", "score_dtype": "native"},
                **{
                    name: {"negative_grades": "zero_gain", "ties": "input_order", "score_dtype": "native"}
                    for name in ("sdcg", "insq", "inst", "bpm", "nerr8", "nerr9", "nerr10", "nerr11")
                },
            },
        },
        "irspack": {
            "precision_over": "list",
            "ap_over": "relevant",
            "ideal_over": "min_list_relevant",
            "gain": "binary",
            "min_grade": "any",
            "negative_infinity": "exclude",
            "list_users": "users",
            "entropy_base": "e",
        },
        "irspack_capped": {
            "precision_over": "list",
            "recall_over": "min_list_relevant",
            "ap_over": "relevant",
            "ideal_over": "min_list_relevant",
            "gain": "binary",
            "min_grade": "any",
            "negative_infinity": "exclude",
            "list_users": "users",
            "entropy_base": "e",
        },
        "lenskit": {
            "precision_over": "list",
            "recall_over": "min_cutoff_relevant",
            "ap_over": "min_list_relevant",
            "gain": "binary",
            "min_grade": "any",
            "discount": "log2_floored",
            "users": "predictions",
            "empty_truth": "compute",
            "foreign_items": "count",
            "overrides": {"gini": {"foreign_items": "raise"}, "exposure_gini": {"foreign_items": "raise"}},
        },
        "neurec": {"gain": "binary", "min_grade": "any"},
        "pytrec_eval": {
            "ap_over": "relevant",
            "recall_rank": "plus_0.9",
            "users": "both",
            "empty_truth": "compute",
            "negative_grades": "unjudged",
            "ties": "highest_id",
            "score_dtype": "float32",
        },
        "ranx": {
            "ap_over": "relevant",
            "empty_truth": "compute",
            "negative_grades": "zero_gain",
            "ties": "input_order",
        },
        "recbole": {
            "gain": "binary",
            "min_grade": "any",
            "duplicate_truth": "first",
            "decimals": 4,
            "popularity": "interactions",
            "entropy_base": "e",
            "entropy_over": "distinct_items",
            "overrides": {
                "auc": {"negative_infinity": "exclude"},
                "gauc": {"negative_infinity": "exclude", "gauc_over": "positives"},
                "arp": {"users": "predictions"},
                "aplt": {"users": "predictions", "tail": "lowest_share", "unseen_items": "zero"},
            },
        },
        "recmetrics": {
            "precision_over": "list",
            "ap_over": "hits",
            "empty_truth": "compute",
            "duplicate_truth": "count",
            "unseen_items": "raise",
            "list_mean_over": "cutoff",
            "overrides": {"novelty": {"users": "predictions"}, "ild": {"users": "predictions"}},
        },
        "recommenders": {
            "gain": "binary",
            "users": "both",
            "ties": "input_order",
            "min_grade": "any",
            "foreign_items": "count",
            "overrides": {
                "ndcg": {"users": "truth", "undefined": "skip"},
                "novelty": {
                    "users": "predictions",
                    "average": "micro",
                    "popularity": "interactions",
                    "novelty_over": "interactions",
                    "unseen_items": "zero",
                },
                "coverage": {"foreign_items": "ignore"},
                "ild": {"users": "predictions", "undefined": "skip"},
                "serendipity": {
                    "users": "predictions",
                    "empty_truth": "compute",
                    "undefined": "skip",
                    "history_distance": "mean",
                },
            },
        },
        "rectools": {
            "ap_over": "relevant",
            "ideal_over": "cutoff",
            "gain": "binary",
            "min_grade": "any",
            "rank_gaps": "keep",
            "foreign_items": "count",
            "overrides": {
                "novelty": {"users": "predictions"},
                "arp": {"users": "predictions", "popularity": "interactions"},
                "list_fill": {"users": "predictions"},
                "serendipity": {
                    "users": "predictions",
                    "empty_truth": "compute",
                    "serendipity_of": "popularity",
                    "popularity": "interactions",
                },
                "coverage": {"foreign_items": "ignore"},
                "ild": {
                    "users": "predictions",
                    "missing_features": "skip",
                    "ild_over": "pairs_or_one",
                    "undefined": "skip",
                },
            },
        },
        "replay": {
            "gain": "binary",
            "duplicate_items": "first",
            "duplicate_truth": "first",
            "ties": "highest_id",
            "min_grade": "any",
            "foreign_items": "count",
            "list_mean_over": "cutoff",
            "overrides": {
                "surprisal": {"users": "predictions"},
                "tag_diversity": {"users": "predictions"},
                "unexpectedness": {"users": "predictions"},
                "coverage": {"foreign_items": "ignore"},
                "average_precision": {"duplicate_items": "count", "duplicate_truth": "count"},
                "ndcg": {"duplicate_items": "count", "duplicate_truth": "count"},
            },
        },
        "sklearn": {
            "empty_truth": "compute",
            "overrides": {
                "auc": {"undefined": "nan"},
                "average_precision": {"ties": "shared"},
                "dcg": {"ties": "expected"},
                "coverage_error": {"ties": "shared"},
                "hit_rate": {"ties": "highest_id"},
                "label_ranking_loss": {"ties": "pessimistic"},
                "ndcg": {"ties": "expected"},
            },
        },
        "surprise": {"precision_over": "list", "empty_truth": "compute", "ties": "input_order"},
        "tensorflow": {
            "empty_truth": "compute",
            "undefined": "nan",
            "duplicate_truth": "first",
            "overrides": {
                "precision": {"average": "micro"},
                "recall": {"average": "micro"},
                "average_precision": {"duplicate_truth": "count"},
            },
        },
        "torchmetrics": {
            "ap_over": "hits",
            "users": "both",
            "empty_truth": "zero",
            "score_dtype": "float32",
            "overrides": {"ndcg": {"ties": "expected"}},
        },
        # The current release, 10, and the previous one.
        "trec_eval": {
            "ap_over": "relevant",
            "rbp_over": "highest_gain",
            "residual_tail": "if_unjudged",
            "users": "both",
            "empty_truth": "compute",
            "empty_list": "skip",
            "negative_grades": "unjudged",
            "ties": "highest_id",
        },
        "trec_eval_complete": {
            "ap_over": "relevant",
            "rbp_over": "highest_gain",
            "residual_tail": "if_unjudged",
            "empty_truth": "compute",
            "negative_grades": "unjudged",
            "ties": "highest_id",
        },
        "trec_eval_9": {
            "ap_over": "relevant",
            "recall_rank": "plus_0.9",
            "users": "both",
            "empty_truth": "compute",
            "empty_list": "skip",
            "negative_grades": "unjudged",
            "ties": "highest_id",
            "score_dtype": "float32",
        },
        "trec_eval_9_complete": {
            "ap_over": "relevant",
            "recall_rank": "plus_0.9",
            "empty_truth": "compute",
            "negative_grades": "unjudged",
            "ties": "highest_id",
            "score_dtype": "float32",
        },
    }
)
