"""What MLflow and Weights & Biases make of flat names and of NaN. `make notebook` runs this, beside the recipes."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import mlflow
import pytest
import wandb

import exactk

pytestmark = pytest.mark.filterwarnings("ignore:::(mlflow|wandb|pydantic)")


def values() -> dict[str, float]:
    """Return the values of systems, one of which is NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exactk.EvaluationWarning)
        undefined = exactk.evaluate([[]], [[1]], "mrr").to_flat_dict()
    systems = {"als (64)": [[1]], "2-gram": [[2]]}
    return {**exactk.compare([[1]], systems, ["P@1", "ndcg@3(gain=exp2)"]).to_flat_dict(), **undefined}


def test_mlflow_stores_names_of_systems_and_nan() -> None:
    with mlflow.start_run() as run:
        mlflow.log_metrics(values())
    stored = mlflow.get_run(run.info.run_id).data.metrics
    assert math.isnan(stored.pop("mrr"))
    assert stored == {name: value for name, value in values().items() if name != "mrr"}


def test_weights_and_biases_keeps_nan_in_the_history(tmp_path: Path) -> None:
    with wandb.init(project="test", mode="offline", dir=tmp_path) as run:
        run.log(values())
        assert math.isnan(run.summary["mrr"])
        assert run.summary["als_64/P_at_1"] == 1
