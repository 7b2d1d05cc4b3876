"""`exactk.torch.RetrievalMetrics`: the laws of torchmetrics, and the bits of one call."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distributed_metrics
import exactk
from engines.cases import of_processes

torch = pytest.importorskip("torch", reason="install torch, as `make engines` does")
torchmetrics = pytest.importorskip("torchmetrics", reason="exactk.torch needs torchmetrics")

from exactk.torch import RetrievalMetrics  # noqa: E402 - it needs both

pytestmark = [
    pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning"),
    pytest.mark.filterwarnings("ignore:The ``compute`` method of metric"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
]

METRICS = ["ndcg@10", "P@5", "recall@[5,10](average=micro)", "mrr(average=geometric)"]
RNG = np.random.default_rng(0)
SCORES = torch.from_numpy(RNG.standard_normal((60, 40)).astype(np.float32))
TRUTH = torch.from_numpy(RNG.random((60, 40)).argsort(axis=1)[:, :4].copy())
WHOLE = exactk.evaluate(TRUTH, SCORES, METRICS)
BLOCKS = [slice(0, 7), slice(7, 30), slice(30, 60)]


def filled(metric: Any = None, blocks: list[slice] = BLOCKS) -> Any:
    """Return a metric after updates with these users."""
    metric = RetrievalMetrics(METRICS) if metric is None else metric
    for block in blocks:
        metric.update(TRUTH[block], SCORES[block])
    return metric


def numbers(values: dict[str, Any]) -> dict[str, float]:
    assert all(value.dtype == torch.float64 and value.shape == () for value in values.values())
    return {name: value.item() for name, value in values.items()}


def is_whole(metric: Any) -> bool:
    return bool(metric.report() == WHOLE and numbers(metric.compute()) == dict(WHOLE))


def test_updates_give_the_values_of_one_call() -> None:
    metric = filled()
    assert is_whole(metric)
    assert metric.report().state == WHOLE.state
    assert list(metric.compute()) == ["ndcg@10", "P@5", "recall@5(average=micro)", "recall@10(average=micro)", "mrr(average=geometric)"]  # fmt: skip


def test_forward_returns_the_values_of_the_batch_and_adds_it() -> None:
    for sync_on_step in (False, True):
        metric = RetrievalMetrics(METRICS, dist_sync_on_step=sync_on_step)
        for block in BLOCKS:
            values = metric(TRUTH[block], SCORES[block])
            assert numbers(values) == dict(exactk.evaluate(TRUTH[block], SCORES[block], METRICS))
        assert is_whole(metric)
        assert int(metric.exact_digits[:, :-1].max()) <= 2**32 + 2**30


def test_forward_warns_of_no_batch_and_compute_warns_once() -> None:
    tied = torch.zeros(60, 40)
    metric = RetrievalMetrics(METRICS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", exactk.EvaluationWarning)
        for block in BLOCKS:
            metric(TRUTH[block], tied[block])
    with warnings.catch_warnings(action="always", record=True) as caught:
        metric.compute()
        metric.compute()
    (warning,) = [one for one in caught if one.category is exactk.EvaluationWarning]
    assert str(warning.message).startswith("the order of ties changes ndcg@10 for 60 of 60 users")
    assert warning.filename == __file__
    with pytest.warns(exactk.EvaluationWarning, match="for 60 of 60 users"):
        metric.report()


def through_pickle(metric: Any) -> Any:
    return pickle.loads(pickle.dumps(metric))  # noqa: S301 - our own


def through_file(metric: Any) -> Any:
    file = io.BytesIO()
    torch.save(metric, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


COPIES: list[Callable[[Any], Any]] = [lambda metric: metric.clone(), copy.deepcopy, through_pickle, through_file]


@pytest.mark.parametrize("copied", COPIES, ids=["clone", "deepcopy", "pickle", "file"])
def test_copies_go_on_where_the_metric_was(copied: Callable[[Any], Any]) -> None:
    metric = RetrievalMetrics(METRICS, convention={"ties": "highest_id"}, items=None)
    metric.update(TRUTH[:30], SCORES[:30])
    other = copied(metric)
    other(TRUTH[30:], SCORES[30:])
    assert other.report() == exactk.evaluate(TRUTH, SCORES, METRICS, convention={"ties": "highest_id"})
    assert metric.report().counts["users"] == 30
    with pytest.raises(exactk.InputError):
        other.update([[-5]], [[1]])


def test_a_state_dict_has_the_sums_where_it_is_asked_for() -> None:
    metric = filled()
    assert not metric.state_dict()
    metric.persistent(mode=True)
    other = RetrievalMetrics(METRICS)
    other.load_state_dict(dict(metric.state_dict()))
    assert is_whole(other)
    other = RetrievalMetrics("recall@5")
    other.load_state_dict(dict(metric.state_dict()))
    for use in (other.compute, other.report, lambda: other.update(TRUTH, SCORES)):
        with pytest.raises(exactk.InputError, match=r"^state: expected int64 of shape .* another metric's state was "):
            use()
    other = RetrievalMetrics(METRICS, convention="ranx")
    other.load_state_dict(dict(metric.state_dict()))
    with pytest.raises(exactk.StateMismatchError, match=r"^state: expected sums of the same metrics, convention "):
        other.compute()


@pytest.mark.parametrize("change", [
    lambda metric: metric.half(), lambda metric: metric.float(), lambda metric: metric.to(torch.bfloat16),
    lambda metric: metric.set_dtype(torch.float16), lambda metric: torch.nn.ModuleList([metric]).half()[0],
    lambda metric: metric.to("cpu"), lambda metric: metric.type(torch.int32), lambda metric: metric.cpu(),
], ids=["half", "float", "bfloat16", "set_dtype", "module", "to", "type", "cpu"])  # fmt: skip
def test_no_change_of_type_or_device_changes_a_bit(change: Callable[[Any], Any]) -> None:
    metric = filled(blocks=BLOCKS[:2])
    values = metric.compute()  # kept until the next update
    metric = change(metric)
    assert metric.compute() == values
    assert numbers(metric.compute()) == numbers(values)
    metric(TRUTH[BLOCKS[2]], SCORES[BLOCKS[2]])
    assert is_whole(change(metric))
    metric.reset()
    assert metric.report().counts["users"] == 0
    assert is_whole(filled(metric))


def test_states_merge() -> None:
    metric, other = filled(blocks=BLOCKS[:1]), filled(blocks=BLOCKS[1:])
    metric.merge_state(other)
    assert is_whole(metric)
    assert other.report().counts["users"] == 53


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "keys": ({"truth": {"ann": [1]}, "predictions": {"ann": [1]}}, "truth: expected rows without user keys"),
    "groups": ({"truth": [[1]], "predictions": [[1]], "groups": ["a"]}, "groups: expected None, as the number of "),
    "weights": ({"truth": [[1]], "predictions": [[1]], "weights": [1.0]}, "weights: expected "),
    "items": ({"truth": [[1]], "predictions": [[1, 1]]}, "predictions: "),
    "nan": ({"truth": [[1]], "predictions": torch.tensor([[0.5, float("nan")]])}, "predictions: "),
}


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("how", ["update", "forward"])
def test_an_update_that_fails_adds_nothing(case: str, how: str) -> None:
    arguments, message = FAULTS[case]
    metric = filled(blocks=BLOCKS[:2])
    if (case, how) == ("weights", "forward"):  # whose values are those of this batch alone
        metric(**arguments)
        with pytest.raises(exactk.StateMismatchError, match=r"^weights: expected weights in all updates or in none"):
            metric.compute()
        return
    with pytest.raises(exactk.ExactkError, match=f"^{message}"):
        getattr(metric, how)(**arguments)
    metric(TRUTH[BLOCKS[2]], SCORES[BLOCKS[2]])
    assert is_whole(metric)


def test_metrics_without_a_fixed_size_are_refused() -> None:
    groups = exactk.Items(2, item_groups={0: "a", 1: "b"})
    with pytest.raises(exactk.InputError, match=r"^metrics: .*found exposure@5; exactk.Evaluator takes them; torch"):
        RetrievalMetrics(["ndcg@5", "exposure@5"], items=groups)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `sync`"):
        RetrievalMetrics("ndcg@5", sync=True)


def test_equal_sums_of_different_metrics_are_not_shared() -> None:
    """A collection updates one metric alone of those whose states are nearly equal after the first batch."""
    metrics = {"hit": "hit_rate@2", "recall": "recall@2", "again": "recall@2"}
    collection = torchmetrics.MetricCollection(
        {name: RetrievalMetrics(metric) for name, metric in metrics.items()}, prefix="val/"
    )
    blocks = [([[1]], [[1, 2]]), ([[1, 5]], [[1, 2]])]
    for block in blocks:
        collection.update(*block)
    assert sorted(map(sorted, collection.compute_groups.values())) == [["again", "recall"], ["hit"]]
    whole = exactk.evaluate([[1], [1, 5]], [[1, 2], [1, 2]], ["hit_rate@2", "recall@2"])
    values = collection.compute()
    assert sorted(set(map(float, values.values()))) == sorted(dict(whole).values()) == [0.75, 1.0]
    assert {name for name in values if name.startswith("val/")} == set(values)
    fresh = torchmetrics.MetricCollection([RetrievalMetrics("hit_rate@2")], prefix="val/").clone(prefix="test/")
    assert dict(fresh(*blocks[1])) == {"test/hit_rate@2": torch.tensor(1.0, dtype=torch.float64)}


def test_directions() -> None:
    assert RetrievalMetrics("ndcg@5").higher_is_better is True
    assert RetrievalMetrics(["ndcg@5", "num_relevant@5"]).higher_is_better is None
    assert RetrievalMetrics("num_relevant@5").higher_is_better is None
    assert RetrievalMetrics("popularity_rank@1", items=exactk.Items(train=[[0, 1], [1]])).higher_is_better is False
    assert RetrievalMetrics("ndcg@5").is_differentiable is False
    assert repr(RetrievalMetrics(["ndcg@5", "mrr"])) == "RetrievalMetrics(ndcg@5, mrr; convention standard)"


def test_all_arguments_are_those_of_an_evaluator() -> None:
    exclude, candidates = TRUTH[:, :1], torch.arange(30)
    weights, items = torch.linspace(0, 3, 60), exactk.Items(train=[[0, 1, 2], [1, 3]], catalogue=range(40))
    shortest = exactk.custom("shortest", attrgetter("lengths"), k=2, version="1")
    metrics: list[Any] = ["ndcg@5", "recall@5", "novelty@5", shortest]
    convention = exactk.conventions["standard"].replace(ties="highest_id", empty_truth="zero")
    options: dict[str, Any] = {"convention": convention, "items": items}
    metric, evaluator = RetrievalMetrics(metrics, num_threads=1, **options), exactk.Evaluator(metrics, **options)
    for block in BLOCKS:
        arguments = {"exclude": exclude[block], "candidates": candidates, "weights": weights[block]}
        metric.update(TRUTH[block], SCORES[block].requires_grad_(), **arguments)
        evaluator.update(TRUTH[block], SCORES[block].detach(), **arguments)
    assert metric.report() == evaluator.compute()
    assert metric.report().state == evaluator.state
    assert through_pickle(metric).report() == evaluator.compute()


@pytest.mark.parametrize("size", [2, 3])
def test_processes_give_the_state_of_one_call(size: int, tmp_path: Path) -> None:
    truth, scores, weights = distributed_metrics.data()
    found = of_processes(distributed_metrics, size, tmp_path)
    for name, (metrics, setup) in distributed_metrics.SETUPS.items():
        options: dict[str, Any] = {"weights": weights} if name == "weighted" else {}
        whole = exactk.evaluate(truth, scores, metrics, **options, **setup)
        for of_process in found:
            assert of_process[name] == dict(whole)
            assert exactk.State.from_bytes(bytes.fromhex(of_process[f"{name} state"])) == whole.state
        assert sum(of_process[f"{name} users of one"] for of_process in found) == 50
        first, *others = [of_process[f"{name} warnings"] for of_process in found]
        assert len(first) == 2 and all("for 50 of 50 users" in text or "of 50 users" in text for text in first)  # noqa: PT018
        assert others == [[]] * (size - 1)
    for of_process in found:
        assert of_process["mismatch"].startswith("state: expected sums of the same metrics, convention and items")
        assert of_process["users after"] == [1, 1]
        dealt = exactk.evaluate(truth, scores, distributed_metrics.METRICS, weights=weights, candidates=range(30))
        assert exactk.State.from_bytes(bytes.fromhex(of_process["dealt"])) == dealt.state
        assert of_process["dealt users"] == -(-50 // size)
        has_all = 50 % size == 0
        assert has_all or "num_users: expected 50 users of all processes, found 48" in of_process["dropped"]
        state = exactk.State.from_bytes(bytes.fromhex(of_process["state of evaluators"]))
        assert state == exactk.evaluate(truth, scores, distributed_metrics.METRICS).state


def test_users_that_repeat_count_once() -> None:
    metric = RetrievalMetrics(METRICS, num_users=60)
    order = [*range(60), *range(9)]  # the last nine repeat
    for users in (order[:50], order[50:66], order[66:]):
        metric.update(TRUTH[users], SCORES[users])
    assert is_whole(metric)
    metric.reset()
    assert is_whole(filled(metric))
    values = metric(TRUTH[:7].tolist(), SCORES[:7], exclude=[[]] * 7)
    assert is_whole(metric)
    assert list(values) == list(WHOLE)
    fewer = filled(RetrievalMetrics(METRICS, num_users=61))
    with pytest.raises(exactk.InputError, match="num_users: expected 61 users of all processes, found 60"):
        fewer.compute()
    with pytest.raises(exactk.InputTypeError, match="num_users: expected rows that can be cut"):
        metric.update(TRUTH[:7], exactk.Embeddings(np.ones((7, 2)), np.ones((40, 2))))
    with pytest.raises(exactk.InputError, match="num_users: expected at least 1, found 0"):
        RetrievalMetrics(METRICS, num_users=0)
    with pytest.raises(exactk.InputTypeError, match="num_users"):
        RetrievalMetrics(METRICS, num_users="60")  # type: ignore[arg-type]


def test_lightning_logs_the_values() -> None:
    lightning = pytest.importorskip("lightning", reason="the callback needs lightning")

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined] # it has no types here
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))
            self.metric = RetrievalMetrics(METRICS)
            self.epochs: list[dict[str, float]] = []

        def validation_step(self, batch: Any, _index: int) -> None:
            self.metric.update(*batch)

        def on_validation_epoch_end(self) -> None:
            self.epochs.append(numbers(self.metric.compute()))
            self.log_dict(self.metric.compute())
            self.metric.reset()

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(TRUTH, SCORES), batch_size=25)
    noise = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    trainer = lightning.Trainer(accelerator="cpu", **dict.fromkeys(noise, False))
    model = Model()
    for _ in range(2):  # the second has forgotten the users of the first
        trainer.validate(model, loader, verbose=False)
        logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
        assert logged == {name: float(np.float32(value)) for name, value in WHOLE.items()} or logged == dict(WHOLE)
    assert model.epochs == [dict(WHOLE)] * 2
