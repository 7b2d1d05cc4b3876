"""The command that writes the HTML page."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import exactk
from commands import Run, assert_refused
from exactk._runtime import optional
from html_pages import results

USERS, ITEMS = 30, 40
THREE = "truth.csv base=base.csv new=new.csv old=old.csv"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a truth and the predictions of three systems, and go there."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(7)
    truth = draw.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)[:, :3]
    rows = "".join(f"usr-{user},itm-{item}\n" for user in range(USERS) for item in truth[user])
    tmp_path.joinpath("truth.csv").write_text(f"user,item\n{rows}")
    for skill, name in enumerate(("base", "new", "old")):
        scores = draw.random((USERS, ITEMS))
        np.put_along_axis(scores, truth, np.take_along_axis(scores, truth, 1) + 0.2 * skill, 1)
        best = np.argsort(-scores, axis=1)[:, :20]
        lines = [f"usr-{user},itm-{item},{float(scores[user, item])!r}" for user in range(USERS) for item in best[user]]
        tmp_path.joinpath(f"{name}.csv").write_text("user,item,score\n" + "\n".join(lines) + "\n")
    names = "".join(f"itm-{item},nam-{item} <b>\n" for item in range(ITEMS))
    tmp_path.joinpath("names.csv").write_text(f"item,title\n{names}")


def made(run: Run, *words: str, code: int = 0) -> str:
    """Return the page that a command writes; it prints nothing."""
    result = run("report", *words, "-o", "page.html")
    assert (result.code, result.out) == (code, ""), result.err
    return Path("page.html").read_text(encoding="utf-8")


def test_several_systems(run: Run) -> None:
    page = made(run, *THREE.split(), "--baseline", "base", "--item-names", "names.csv", "--title", "new or old?")
    assert "<title>new or old?</title>" in page
    plain = results(page)
    assert plain["left_out"] == []
    systems = {name: f"{name}.csv" for name in ("base", "new", "old")}
    metrics = ["ndcg@[5,10,20]", "recall@[5,10,20]", "precision@[5,10,20]", "mrr"]
    comparison = exactk.compare("truth.csv", systems, metrics, baseline="base")
    for system, report in comparison.reports.items():
        assert plain["values"][system] == dict(report)
    rows = [[row.metric, row.system, row.baseline] for row in comparison.differences]
    assert [row[:3] for row in plain["differences"]["rows"]] == rows
    assert "nam-3 &lt;b&gt;" in page
    reasons = "no metric of the recommended|there are no groups|systems are compared"
    assert not re.search(f"Not available: (?!{reasons})", page)


def test_one_system(run: Run) -> None:
    for words in (("truth.csv", "new.csv"), ("truth.csv", "new=new.csv")):
        page = made(run, *words, "-m", "ndcg@[5,10]")
        report = exactk.evaluate("truth.csv", "new.csv", "ndcg@10")
        assert results(page)["values"][""]["ndcg@10"] == report["ndcg@10"]
        assert "Per user" in page  # from the lists
        assert "Worst users in ndcg@5" in page
        assert "usr-" in page
        assert "usr-" not in made(run, *words, "-m", "ndcg@[5,10]", "--examples", "0")


def test_the_headline_is_one_metric_or_two(run: Run) -> None:
    words = [*THREE.split(), "-m", "ndcg@10", "-m", "recall@[5,10]", "--headline", "recall@5"]
    assert "<b>recall@5 against ndcg@10.</b>" in made(run, *words)
    assert "<b>recall@5 against recall@10.</b>" in made(run, *words, "--headline", "recall@10")
    assert_refused(run("report", *words, "--headline", "mrr", "-o", "page.html"), "headline: expected one of")


def test_without_examples_no_data_of_users_is_on_the_page(run: Run) -> None:
    page = made(run, *THREE.split(), "--examples", "0", "--item-names", "names.csv")
    assert not re.search("usr-|itm-|nam-", page)
    assert re.search("usr-.*itm-", made(run, *THREE.split(), "--examples", "2"), re.DOTALL)


def test_the_page_says_how_it_was_made(run: Run) -> None:
    words = [*THREE.split(), "--note", "a & b", "--set", "ties=highest_id", "--test", "permutation", "--seed", "3"]
    page = made(run, *words)
    plain = results(page)
    assert plain["command"] == ["exactk", "report", *words, "-o", "page.html"]
    digest = hashlib.sha256(Path("new.csv").read_bytes()).hexdigest()
    assert {"argument": "predictions", "system": "new", "path": "new.csv", "sha256": digest} in plain["inputs"]
    assert digest in page
    assert "seed 3, 9,999 flips" in page
    assert "<p>a &amp; b</p>" in page


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--baseline", "base", "--better", "ndcg@10"], 0, "Gate holds: 2 of 2 hold"),
        (["--baseline", "new", "--no-worse", "ndcg@10=1%"], 1, "Gate fails"),
        (["--baseline", "base", "--equivalent", "ndcg@10=60%"], 1, "Gate fails"),
        (["--min", "base:ndcg@10=0.9"], 1, "ndcg@10"),
    ],
)
def test_gates_decide_the_exit_code_and_the_page_says_it(run: Run, options: list[str], code: int, text: str) -> None:
    assert text in made(run, *THREE.split(), *options, code=code)


def test_metrics_of_items_groups_and_weights(run: Run, tmp_path: Path) -> None:
    users = [f"usr-{user}" for user in range(USERS)]
    tmp_path.joinpath("groups.json").write_text(json.dumps({user: user[-1] for user in users}))
    tmp_path.joinpath("weights.json").write_text(json.dumps({user: 1 + index for index, user in enumerate(users)}))
    words = ["-m", "ndcg@10", "-m", "novelty@10", "--train", "truth.csv", "--catalogue", "names.csv"]
    page = made(run, *THREE.split(), *words, "--groups", "groups.json", "--weights", "weights.json")
    assert "Metrics of the recommended items" in page
    assert "Difference in ndcg@10 by group" in page
    assert "weighted" in page
    words = ["-m", "ndcg@10", "-m", "coverage@10", "--catalogue", "names.csv"]
    assert "<b>Popularity of the recommended items.</b>" in made(run, *THREE.split(), *words, "--train", "truth.csv")
    assert results(made(run, *THREE.split(), *words))["popularity"] == []


def test_conventions_without_an_order_of_ties_have_no_lists(run: Run) -> None:
    result = run("report", *THREE.split(), "--set", "ties=expected", "-o", "page.html")
    assert result.code == 0
    assert result.err.startswith("exactk: note: lists are left out: ")
    assert "usr-" in made(run, *THREE.split(), "--set", "ties=expected")  # values of users, as examples= asks


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{THREE} -o truth.csv", "-o: expected a file without another use, found 'truth.csv': 'truth.csv' is read"),
        (f"{THREE} -o names.csv --item-names names.csv", "-o: expected a file without another use"),
        (f"{THREE} -o no/page.html", "expected the path of a file, in a folder that exists, found 'no/page.html'"),
        ("truth.csv new.csv --test sign -o p.html", "--test goes with several systems"),
        ("truth.csv new.csv --better mrr -o p.html", "a gate goes with several systems"),
        (f"{THREE} --examples x -o p.html", "--examples: expected an integer such as 10, found 'x'"),
        (f"{THREE} --item-names base.csv -o p.html", "expected one column of names: name, title, item_name"),
        (f"{THREE} --item-names nowhere.csv -o p.html", "nowhere.csv"),
        (f"{THREE} --title {'t' * 10_001} -o p.html", "--title: expected at most 10,000 characters, found 10,001"),
        (f"{THREE} -q -o p.html", "unrecognized arguments: -q"),
        (f"{THREE} --format json -o p.html", "unrecognized arguments: --format json"),
    ],
)  # fmt: skip
def test_usage_errors(run: Run, words: str, message: str) -> None:
    assert_refused(run("report", *words.split()), message)


def test_item_names_of_another_type_are_warned_of(run: Run, tmp_path: Path) -> None:
    tmp_path.joinpath("names.json").write_text(json.dumps({"1": "one"}))
    result = run("report", *THREE.split(), "--item-names", "names.json", "-o", "page.html")
    assert result.code == 0
    assert "no recommended item has a name" in result.err


def test_jinja2_is_needed_before_any_file_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional, "has", lambda _: False)
    assert_refused(run("report", "nowhere.txt", "nowhere.run", "-o", "page.html"), "pip install 'exactk[report]'")
