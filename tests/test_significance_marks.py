"""Comparisons in Markdown and LaTeX as papers have them: the best in bold, letters of systems that are significantly worse."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import exactk
from exactk._report.comparison_table import letters
from exactk._report.difference import significant_side
from exactk._runtime import optional

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(20)
HITS = RNG.integers(0, 5, 60)
SYSTEMS = {"weak": HITS, "strong": HITS + RNG.integers(1, 4, 60), "middle": HITS + RNG.integers(0, 3, 60), "same": HITS}
HOSTILE = {
    "a_b": HITS,
    "c|d": HITS + 1 + np.arange(60) % 2,
    "<script>": HITS,
    "=cmd": HITS,
    "5% & {x}": HITS,
    "\\end": HITS,
}


def compared(systems: dict[str, Any], metrics: Any = "P@10", **options: Any) -> exactk.Comparison:
    """Compare systems with these numbers of hits in ten."""
    truth = [list(range(10)) for _ in next(iter(systems.values()))]
    lists = {name: [[*range(count), *range(100, 110 - count)] for count in hits] for name, hits in systems.items()}
    return exactk.compare(truth, lists, metrics, **options)


def markdown_rows(text: str) -> list[list[str]]:
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in table]


def expected_letters(comparison: exactk.Comparison, metric: str) -> dict[str, str]:
    """Return by system the letters of those that are worse, by the definition and the rows of differences."""
    names = list(comparison.reports)
    worse: dict[str, set[str]] = {name: set() for name in names}
    for row in comparison.differences.of(metric):
        if row.p_adjusted <= 0.05:
            winner, loser = (row.system, row.baseline) if row.difference > 0 else (row.baseline, row.system)
            worse[winner].add("abcdefghij"[names.index(loser)])
    return {name: "".join(sorted(one)) for name, one in worse.items()}


@pytest.mark.parametrize("baseline", [None, "middle"])
def test_letters_are_of_the_systems_that_are_significantly_worse(baseline: str | None) -> None:
    comparison = compared(SYSTEMS, baseline=baseline)
    expected = expected_letters(comparison, "P@10")
    assert expected == {"weak": "", "strong": "acd" if baseline is None else "c", "middle": "ad", "same": ""}
    header, _, values = markdown_rows(comparison.to_markdown())[:3]
    assert header[1:5] == [f"<sup>{letter}</sup> {name}" for letter, name in zip("abcd", SYSTEMS, strict=True)]
    for cell, (name, marks) in zip(values[1:5], expected.items(), strict=True):
        number = f"{comparison['P@10'][name]:.4f}"
        bold = f"**{number}**" if name == "strong" else number
        assert cell == bold + (f"<sup>{marks}</sup>" if marks else "")


def test_the_caption_says_what_was_tested() -> None:
    all_pairs = compared(SYSTEMS).to_markdown().splitlines()
    assert all_pairs[-2:] == [
        "",
        (
            "Best values in bold; superscript letters: the systems that are significantly worse "
            "(paired t test; Holm over 6 comparisons per metric; level 0.05; 60 users)"
        ),
    ]
    with_baseline = compared(SYSTEMS, baseline="weak", adjust="none", confidence=0.9, test="sign").to_markdown()
    assert with_baseline.splitlines()[-1].endswith(
        "(sign test against weak; p-values not adjusted; level 0.1; 60 users); only differences from weak are tested"
    )


def test_the_caption_says_that_bold_is_of_single_runs() -> None:
    text = compared(SYSTEMS, runs={"model": ["weak", "strong"]}).to_markdown()
    assert "\nBest values, also of single runs, in bold; superscript letters: " in text
    assert "; weak, strong: runs of model, tested as their mean" in text


def test_latex_is_a_table_whose_numbers_are_aligned() -> None:
    comparison = compared(SYSTEMS, ["P@10", "num_recommended@10"])
    lines = comparison.to_latex(digits=2).splitlines()
    assert lines[:2] == [r"\begin{table}", r"\centering"]
    assert lines[2].startswith(r"\caption{Best values in bold; superscript letters: ")
    assert lines[3:7] == [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r"metric & $^{a}$weak & $^{b}$strong & $^{c}$middle & $^{d}$same \\",
        r"\midrule",
    ]
    weak, strong, middle, same = (f"{value:.2f}" for value in comparison["P@10"].values())
    assert lines[7] == rf"P@10 & {weak} & \textbf{{{strong}}}$^{{acd}}$ & {middle}$^{{ad}}$ & {same} \\"
    assert lines[8] == (r"num\_recommended@10 & 10.00 & 10.00\phantom{$^{acd}$} & 10.00\phantom{$^{ad}$} & 10.00 \\")
    assert lines[-2:] == [r"\end{tabular}", r"\end{table}"]


def test_the_direction_says_which_side_is_better() -> None:
    """No metric of the registry is better where it is lower."""
    comparison = compared({"base": HITS, "new": HITS + 1 + np.arange(60) % 2})
    (row,) = comparison.differences
    options = comparison.state.options
    assert [significant_side(row, direction, options) for direction in ("higher", "lower", "none")] == [1, -1, 1]
    assert significant_side(row._replace(p_adjusted=0.06), "higher", options) == 0
    assert significant_side(row._replace(p_adjusted=float("nan")), "higher", options) == 0


def test_groups_have_letters_of_their_own_tests() -> None:
    hits = np.concatenate([HITS[:30], HITS[30:] + 3])
    comparison = compared({"base": HITS, "new": hits}, groups=["old"] * 30 + ["new"] * 30)
    rows = markdown_rows(comparison.to_markdown(table="by_group"))
    assert rows[0][:4] == ["group", "metric", "<sup>a</sup> base", "<sup>b</sup> new"]
    cells = {row[0]: row[3] for row in rows[2:]}
    assert cells["new"].endswith("**<sup>a</sup>")
    assert "<sup>" not in cells["old"]


@pytest.mark.filterwarnings("ignore:.*no item of the truth")
def test_margins_decide_no_letters() -> None:
    """A difference within the margin is significant all the same; a baseline of 0 has no relative margin."""
    assert compared(SYSTEMS, margin="99%").to_markdown() == compared(SYSTEMS).to_markdown()
    zero = compared({"zero": HITS * 0, "one": HITS + 1}, baseline="zero", margin="1%")
    with pytest.raises(exactk.InputError, match="margin: expected an absolute margin"):
        _ = zero.differences
    assert "**<sup>a</sup>" in zero.to_markdown()


def test_without_tests_there_are_values_and_bold_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compared(SYSTEMS)
    without_pairs = exactk.Comparison(comparison.reports)
    one_user = exactk.compare([[1]], {"a": [[1]], "b": [[2]]}, "P@1")
    ranks = exactk.merge([compared(SYSTEMS, test="wilcoxon").state])
    texts = [form for one in (without_pairs, one_user, ranks) for form in (one.to_markdown(), one.to_latex())]
    monkeypatch.setattr(optional, "has", lambda library: library != "scipy")
    texts += [comparison.to_markdown(), comparison.to_latex()]
    for text in texts:
        assert "sup" not in text
        assert "caption" not in text
        assert "$^" not in text
        assert "test" not in text
        assert "**" in text or r"\textbf" in text
    assert texts[0] == texts[-2]
    assert texts[1] == texts[-1]


def test_ranks_are_tested_where_users_are_kept() -> None:
    text = compared(SYSTEMS, test="wilcoxon", per_user=True).to_markdown()
    assert (
        "(Wilcoxon signed-rank test; Holm over 6 comparisons per metric; level 0.05; 60 users, matched by row)" in text
    )
    assert "**<sup>acd</sup>" in text


def test_what_was_not_tested_is_counted() -> None:
    truth: Any = {0: [1], 1: [], 2: [3]}
    systems: Any = {"a": {0: [1], 1: [2], 2: [4]}, "b": {0: [1], 1: [2], 2: [3]}}
    convention: Any = {"undefined": "nan", "empty_truth": "compute"}
    text = exactk.compare(truth, systems, ["recall@1", "P@1"], convention=convention).to_markdown()
    assert text.endswith("2 to 3 users); 1 of 2 differences without a p-value")


def test_printing_computes_no_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compared(SYSTEMS)
    monkeypatch.setattr(optional, "has", lambda _: pytest.fail("a test was computed"))
    assert f"{comparison['P@10']['strong']:.4f}*" in repr(comparison)


def test_a_file_has_the_caption_too(tmp_path: Path) -> None:
    comparison = compared(SYSTEMS)
    comparison.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text(encoding="utf-8") == comparison.to_latex() + "\n"


@pytest.mark.parametrize("baseline", [None, "<script>", "c|d", "5% & {x}"])
def test_hostile_names_are_text(baseline: str | None) -> None:
    comparison = compared(HOSTILE, baseline=baseline, groups=["g|_<b>%"] * 60)
    for table in ("values", "by_group"):
        markdown, latex = comparison.to_markdown(table=table), comparison.to_latex(table=table, booktabs=False)
        assert "<script" not in markdown
        assert "<b>" not in markdown
        rows = markdown_rows(markdown)
        assert len({len(row) for row in rows}) == 1
        assert re.fullmatch(r"(\| -{3}:? )+\|", markdown.splitlines()[1])
        assert set(re.findall(r"</?(\w+)", markdown)) == {"sup"}
        body = latex.split(r"\hline")[1:-1]
        cells = {len(re.findall(r"(?<!\\)&", line)) for part in body for line in part.strip().splitlines()}
        assert len(cells) == 1
        plain = re.sub(r"\\[\\&%$#_{}]", "", latex)
        assert "%" not in plain
        assert "#" not in plain
        assert "_" not in plain
        depth = Counter(re.findall(r"[{}]", plain))
        assert depth["{"] == depth["}"]
        assert plain.count("$") % 2 == 0
        commands = set(re.findall(r"\\([a-z]+)", plain))
        assert commands <= {
            "begin", "end", "centering", "caption", "hline", "textbf", "phantom", "textbar", "textless", "textgreater",
            "textbackslash",
        }  # fmt: skip
        assert Counter(re.findall(r"\\(begin|end)\{(\w+)\}", plain)) == Counter(
            (word, environment) for word in ("begin", "end") for environment in ("table", "tabular")
        )


def test_there_are_letters_for_any_number_of_systems() -> None:
    assert letters(30)[:3] == ["a", "b", "c"]
    assert letters(30)[25:] == ["z", "aa", "ab", "ac", "ad"]
    assert letters(704)[701:] == ["zz", "aaa", "aab"]
    assert len(set(letters(1000))) == 1000
    systems = {f"s{i}": HITS for i in range(28)} | {"best": HITS + 1 + np.arange(60) % 2}
    header, _, values = markdown_rows(compared(systems).to_markdown())[:3]
    assert header[27:30] == ["<sup>aa</sup> s26", "<sup>ab</sup> s27", "<sup>ac</sup> best"]
    assert values[29].endswith(f"**<sup>{','.join(letters(28))}</sup>")
