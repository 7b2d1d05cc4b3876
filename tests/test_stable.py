"""What is stable is as recorded, or has another version; documents are as their schemas say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jsonschema
import numpy as np
import pytest

import exactk
import json_schemas
import stable
from commands import Run

TRUTH = {"ann": ["film", "song"], "bob": ["film"], "eve": ["book"]}
SYSTEMS = {
    "als": {"ann": ["song", "book"], "bob": ["book", "film"], "eve": ["song"]},
    "popular": {"ann": ["film"], "bob": ["film"], "eve": ["film"]},
}
SCHEMAS = {file.partition("-")[0]: json.loads(text) for file, text in json_schemas.schemas().items()}


def test_what_is_stable_is_as_recorded() -> None:
    recorded, now = json.loads(stable.RECORD.read_text(encoding="utf-8")), stable.today()
    assert not stable.unversioned_changes(recorded, now)
    changed = stable.differences(recorded["contents"], now["contents"])
    assert not changed, f"if this is meant, `make generate` records it: {'; '.join(changed)}"
    assert recorded["versions"] == now["versions"]


def changed_names() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a record, and what is so today where a name went, one came and an argument has another default."""
    recorded = {
        "released": {"package": "1.0.0"},
        "contents": {"package": {"names": {"old": "()", "topk": "(scores, k=10)"}}},
    }
    now = {
        "versions": {"package": "1.0.0"},
        "contents": {"package": {"names": {"new": "()", "topk": "(scores, k=100)"}}},
    }
    return recorded, now


def test_a_change_after_a_release_needs_another_version() -> None:
    recorded, now = changed_names()
    (message,) = stable.unversioned_changes(recorded, now)
    for part in (
        "1.0.0",
        "old: went",
        "new: was added",
        'was "(scores, k=10)", is "(scores, k=100)"',
        "pyproject.toml",
    ):
        assert part in message
    assert not stable.unversioned_changes(recorded, now | {"versions": {"package": "2.0.0"}})


def test_what_was_not_released_may_change() -> None:
    recorded, now = changed_names()
    assert not stable.unversioned_changes(recorded | {"released": {}}, now)
    assert not stable.unversioned_changes(recorded | {"released": {"package": "0.9.0"}}, now)


def test_where_each_version_is_raised() -> None:
    for contract in stable.CONTRACTS.values():
        assert (stable.ROOT / contract.raised_in.partition(":")[0]).is_file()


def reports() -> dict[str, Callable[[], exactk.Report | exactk.Comparison]]:
    scores = {user: {item: 1.0 / rank for rank, item in enumerate(items, 1)} for user, items in SYSTEMS["als"].items()}
    groups, weights = {"ann": "a", "bob": "b", "eve": "a"}, {"ann": 1.0, "bob": 2.0, "eve": 0.5}
    micro = exactk.Convention(average="micro", overrides={"ndcg": {"gain": "table", "gain_table": (0.0, 1.0, 3.0)}})
    catalogue = exactk.Items(["film", "song", "book"], item_groups={"film": "x", "song": "x", "book": "y"})
    custom = exactk.custom("longest", lambda lists: lists.lengths, k=1, version="1")
    return {
        "lists": lambda: exactk.evaluate(TRUTH, SYSTEMS["als"], ["ndcg@2", "P@[1,2]", "mrr"]),
        "scores": lambda: exactk.evaluate(TRUTH, scores, ["ndcg@2", "auc"], convention="ranx"),
        "users and groups": lambda: exactk.evaluate(
            TRUTH, SYSTEMS["als"], ["map@2", "P@1"], convention=micro, per_user=True, groups=groups, weights=weights
        ),
        "users without keys": lambda: exactk.evaluate([[1], [2]], [[1], [3]], "P@1", per_user=True),
        "pairs as users": lambda: exactk.evaluate({("a", 1): [b"x"]}, {("a", 1): [b"x"]}, "P@1", per_user=True),
        "all lists": lambda: exactk.evaluate(TRUTH, SYSTEMS["als"], ["coverage@2", "gini@2"], items=catalogue),
        "item groups": lambda: exactk.evaluate(
            TRUTH,
            SYSTEMS["als"],
            ["exposure@2", "recall@2(item_group=every)", "recall@2(item_group=none)"],
            items=catalogue,
        ),
        "of one's own": lambda: exactk.evaluate(TRUTH, SYSTEMS["als"], [custom]),
        "comparison": lambda: exactk.compare(TRUTH, SYSTEMS, ["ndcg@2", "P@1"], baseline="popular", margin="1%"),
        "runs, clusters": lambda: exactk.compare(
            TRUTH, SYSTEMS, "P@1", per_user=True, clusters={"ann": 1, "bob": 2, "eve": 1}, groups=groups
        ),
    }


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
@pytest.mark.parametrize("name", reports())
def test_reports_are_as_their_schema_says(name: str) -> None:
    report = reports()[name]()
    validate("report", report.to_json())
    for one in [report] if isinstance(report, exactk.Report) else report.reports.values():
        validate("state", json.dumps(one.state.to_dict()))


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_pages_have_numbers_as_their_schema_says() -> None:
    comparison = exactk.compare(TRUTH, SYSTEMS, ["ndcg@[1,2]", "P@1"], groups={"ann": "a", "bob": "b", "eve": "a"})
    for page in (comparison.to_html(), comparison.reports["als"].to_html()):
        text = page.partition('type="application/json"')[2].partition(">")[2].partition("</script>")[0]
        validate("page", text)


def test_the_command_writes_what_the_schema_says(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("ann 0 film 1\nbob 0 song 1\n")
    (tmp_path / "a.run").write_text("ann Q0 film 1 2 als\nbob Q0 film 1 2 als\n")
    validate("report", run("evaluate", tmp_path / "a.qrels", tmp_path / "a.run", "-m", "P@1", "--format", "json").out)


def validate(name: str, text: str) -> None:
    """Raise unless JSON is valid by a schema."""
    jsonschema.Draft202012Validator(SCHEMAS[name]).validate(json.loads(text))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("version",), 2),
        (("reports", 0, "values", "P@1"), "1"),
        (("reports", 0, "state", "totals", 0, 2), 5),
        (("reports", 0, "convention", "ties"), "best"),
        (("more",), None),
    ],
)
def test_a_schema_refuses_what_from_json_refuses(at: tuple[str | int, ...], value: object) -> None:
    plain = json.loads(exactk.evaluate(TRUTH, SYSTEMS["als"], "P@1").to_json())
    *path, last = at
    within = plain
    for name in path:
        within = within[name]
    within[last] = value
    with pytest.raises(jsonschema.ValidationError):
        validate("report", json.dumps(plain))
    with pytest.raises(exactk.InputError):
        exactk.Report.from_json(json.dumps(plain))


def test_schemas_are_schemas() -> None:
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_every_exit_code_is_explained(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    hits = {name: rng.random(60) < share for name, share in (("one", 0.5), ("other", 0.55))}
    qrels, one, other = (tmp_path / name for name in ("a.qrels", "one.run", "other.run"))
    qrels.write_text("".join(f"u{user} 0 i 1\n" for user in range(60)))
    for path, name in ((one, "one"), (other, "other")):
        path.write_text("".join(f"u{user} Q0 {'i' if hit else 'j'} 1 1 x\n" for user, hit in enumerate(hits[name])))
    short = tmp_path / "short.run"
    short.write_text("u0 Q0 i 1 1 x\n")
    evaluate = ("evaluate", qrels, one, "-m", "P@1")
    codes = [
        run(*evaluate).code,
        run(*evaluate, "--min", "P@1=0.99").code,
        run("evaluate", qrels, tmp_path / "none.run", "-m", "P@1").code,
        run("compare", qrels, f"one={one}", f"other={other}", "-m", "P@1", "--better", "P@1").code,
        run("evaluate", qrels, short, "-m", "P@1", "--format", "trec").code,
    ]

    for error in (ZeroDivisionError(), KeyboardInterrupt()):
        monkeypatch.setattr(exactk, "read", Mock(side_effect=error), raising=False)
        codes.append(run("evaluate", "a", "b").code)
    assert codes == stable.exit_codes()
