"""Displays draw what their data say, on the axes that they are given, and change nothing else."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import exactk
from html_pages import compared, data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

KINDS = ["values", "differences", "curves", "groups", "distribution", "trade_off"]


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_a_display_draws_on_the_axes_that_it_is_given(kind: Any) -> None:
    comparison = compared(baseline="system 0")
    before = dict(mpl.rcParams)
    figure, axes = plt.subplots(1, 2)
    display = comparison.plot(kind, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not axes[0].lines
    assert dict(mpl.rcParams) == before
    assert display.artists_
    assert set(display.artists_) <= set(axes[1].lines)


@pytest.mark.parametrize(("kind", "ending"), list(zip(KINDS, ["svg", "pdf", "png"] * 2, strict=True)))
def test_a_display_without_axes_makes_a_figure_that_can_be_saved(kind: Any, ending: str, tmp_path: Path) -> None:
    display = compared(baseline="system 0").plot(kind)
    assert plt.get_fignums() == [display.figure_.number]  # type: ignore[union-attr]
    plt.savefig(tmp_path / f"picture.{ending}")


def points(display: Any) -> list[tuple[list[float], list[float]]]:
    return [(np.asarray(one.get_xdata()).tolist(), np.asarray(one.get_ydata()).tolist()) for one in display.artists_]


def test_marks_are_the_data() -> None:
    comparison = compared(baseline="system 0")
    systems = list(comparison.reports)

    def in_rows(values: Iterable[float]) -> list[tuple[list[float], list[float]]]:
        return [([value], [row]) for row, value in enumerate(values)]

    assert points(comparison.plot("values", "mrr")) == in_rows(comparison["mrr"].values())
    tested = comparison.differences.of("recall@5")
    assert points(comparison.plot("differences", "recall@5")) == in_rows(row.difference for row in tested)
    curves = [([0, 1, 2], [comparison[f"ndcg@{k}"][system] for k in (1, 5, 10)]) for system in systems]
    assert points(comparison.plot("curves", "ndcg")) == curves
    rows = comparison.differences.by_group.of("mrr", system="system 2")
    display = comparison.plot("groups", "mrr", system="system 2", baseline="system 0")
    assert points(display) == in_rows(row.difference for row in rows)
    both = [([comparison["mrr"][system]], [comparison["ndcg@5"][system]]) for system in systems]
    assert points(comparison.plot("trade_off", "mrr", against="ndcg@5")) == both
    (line,) = points(comparison.plot("distribution", "mrr", system="system 1", baseline="system 0"))
    of_users = [comparison.reports[f"system {index}"].per_user["mrr"] for index in (0, 1)]
    assert (line[0][0], line[0][-1]) == ((of_users[1] - of_users[0]).min(), (of_users[1] - of_users[0]).max())
    assert len(points(comparison.plot("distribution"))) == 3


def test_intervals_and_margins_are_drawn() -> None:
    comparison = compared(baseline="system 0", margin={"mrr": 0.02})
    display = comparison.plot("differences", "mrr")
    intervals = [np.asarray(line.get_xdata()).tolist() for line in display.ax_.lines]
    for row in comparison.differences.of("mrr"):
        assert [row.low, row.high] in intervals
    assert len(display.ax_.collections) == 2
    box = display.ax_.collections[0].get_datalim(display.ax_.transData)
    assert (box.x0, box.x1) == pytest.approx((-0.02, 0.02))


@pytest.mark.filterwarnings("ignore::exactk.EvaluationWarning")
def test_an_end_that_is_infinite_is_an_arrow_to_the_edge() -> None:
    """Of values that are all equal, and have no upper end."""
    systems = {"a": [[1]] * 6, "b": [[2, 1]] * 6}
    comparison = exactk.compare([[1]] * 6, systems, ["dcg@2", "recall@1"])
    lows = [comparison.reports[system].interval("dcg@2").low for system in systems]
    display = comparison.plot("values", "dcg@2")
    arrows: Any = display.ax_.texts
    assert [tuple(arrow.xyann) for arrow in arrows] == [(lows[0], 0), (lows[1], 1)]
    assert [tuple(arrow.xy) for arrow in arrows] == [(1.0, 0), (1.0, 1)]
    of_both: Any = comparison.plot("trade_off", "recall@1", against="dcg@2").ax_.texts
    assert [tuple(arrow.xy) for arrow in of_both] == [(1.0, 1.0), (0.0, 1.0)]
    assert [arrow.xyann[1] for arrow in of_both] == lows
    comparison.plot("values", "dcg@2").figure_.canvas.draw()


def test_a_report_draws_its_metrics_curves_and_users() -> None:
    report = compared().reports["system 1"]
    display = report.plot()
    assert points(display) == [([value], [row]) for row, value in enumerate(report.values())]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(report)
    assert points(report.plot("values", "mrr")) == [([report["mrr"]], [0])]
    assert points(report.plot("curves", "recall")) == [([0, 1], [report["recall@5"], report["recall@10"]])]
    assert points(report.plot("distribution"))[0][0][0] == report.per_user["ndcg@1"].min()


def test_a_system_looks_the_same_in_every_picture() -> None:
    comparison = compared()
    looks = {
        (kind, index): (artist.get_color(), artist.get_marker())  # type: ignore[attr-defined]
        for kind in ("values", "curves", "distribution", "trade_off")
        for index, artist in enumerate(comparison.plot(kind).artists_)
    }
    for index in range(3):
        assert len({look for (_, one), look in looks.items() if one == index}) == 1
    assert len(set(looks.values())) == 3


def test_names_are_shown_as_they_are() -> None:
    truth, systems = data()
    names = ["_hidden", "$\\alpha$ of 5 $", "a\nb"]
    comparison = exactk.compare(truth, dict(zip(names, systems.values(), strict=True)), ["ndcg@[1,5]", "mrr"])
    display = comparison.plot("curves")
    legend = display.ax_.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["_hidden", r"\$\alpha\$ of 5 \$", r"a\nb"]
    display.figure_.canvas.draw()
    labels = [label.get_text() for label in comparison.plot("values").ax_.get_yticklabels()]
    assert labels == ["_hidden", r"\$\alpha\$ of 5 \$", r"a\nb"]


def test_values_that_are_not_numbers_are_drawn_as_nothing() -> None:
    convention = {"undefined": "nan", "empty_truth": "compute"}
    systems = {"a": [[1], [2]], "b": [[2], [1]]}
    comparison = exactk.compare([[1], []], systems, ["recall@1", "mrr"], convention=convention)
    display = comparison.plot("values", "recall@1")
    assert all(math.isnan(x) for xs, _ in points(display) for x in xs)
    display.figure_.canvas.draw()


REFUSED: dict[str, Callable[[Any], object]] = {
    r"kind: expected one of 'values', .*, found 'value'; did you mean 'values'\?": lambda one: one.plot("value"),
    "metric: expected one that was computed at two cutoffs or more": lambda one: one.plot("curves", "mrr"),
    "metric: expected one of ndcg@1": lambda one: one.plot("values", "map"),
    "against: expected None with kind='values', as it is for 'trade_off'": lambda one: one.plot(against="mrr"),
    "system: expected None with kind='curves', as it is for 'groups' and": lambda one: one.plot("curves", system="a"),
    "system: expected a system and a baseline, for differences, found system": lambda one: one.plot("distribution", system="system 0"),
    "kind: expected one of 'values', 'curves', 'distribution', found 'groups'": lambda one: one.reports["system 0"].plot("groups"),
    "per_user=True keeps them": lambda _: exactk.evaluate([[1]], [[1]], "mrr").plot("distribution"),
    r"comparison: expected a Comparison, from exactk\.compare, found Report": lambda one: exactk.displays.DifferencesDisplay.from_result(one.reports["system 0"]),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_drawn_is_an_error(message: str) -> None:
    with pytest.raises((exactk.InputError, exactk.InputTypeError), match=message):
        REFUSED[message](compared())


def test_displays_are_data_until_they_are_drawn() -> None:
    display = exactk.displays.CurvesDisplay.from_result(compared())
    assert not hasattr(display, "ax_")
    assert not plt.get_fignums()
    assert display.plot() is display
    assert display.ax_.get_xlabel() == "cutoff k"


def test_drawing_and_frames_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys, exactk; exactk.displays; "
        "exactk.displays.ValuesDisplay.from_result(exactk.evaluate([[1]], [[1]], 'mrr', weights=[1.0])); "
        "assert not {'matplotlib', 'pandas', 'polars', 'pyarrow', 'scipy'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - ours


LONG = [
    "two towers, retrained on the clicks of October",
    "factors",
    *("another system with a long name" + "." * n for n in range(4)),
]


def long_names() -> exactk.Comparison:
    truth, systems = data(systems=6)
    groups = ["g" * 100 if user % 2 else "h" for user in range(len(truth))]
    named = dict(zip(LONG, systems.values(), strict=True))
    return exactk.compare(truth, named, ["ndcg@[1,5]", "mrr"], baseline=LONG[0], groups=groups, per_user=True)


@pytest.mark.parametrize("kind", KINDS)
def test_long_names_leave_room_for_the_axes(kind: Any) -> None:
    display = long_names().plot(kind)
    display.figure_.canvas.draw()
    box = display.ax_.get_window_extent()
    assert 3.5 < box.width / display.figure_.dpi < 5.0  # the figure grows by the names alone
    whole = display.ax_.get_tightbbox()
    assert whole is not None
    assert whole.x0 >= 0
    assert whole.x1 <= display.figure_.bbox.width


def test_long_names_hide_neither_the_baseline_nor_the_number_of_users() -> None:
    comparison = long_names()
    short = "two towers, retrained on the clicks of …"
    assert comparison.plot("differences").ax_.get_xlabel() == f"difference in ndcg@1\nagainst {short}"
    display = comparison.plot("groups", system=LONG[2])
    assert display.ax_.get_xlabel() == f"difference in ndcg@1,\n{LONG[2]}\nagainst {short}"
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [f"{'g' * 39}… (60 users)", "h (60 users)"]
    pair = comparison.plot("distribution", system=LONG[1], baseline=LONG[0])
    assert pair.ax_.get_xlabel() == f"difference in ndcg@1,\nfactors\nagainst {short}"


def test_the_pareto_front_is_marked_also_if_it_is_one_system() -> None:
    comparison = compared()
    display = comparison.plot("trade_off", "mrr", against="recall@5")
    best = "system 2"
    assert display.data.front == (best,)
    rings = [line for line in display.ax_.lines if line.get_markerfacecolor() == "none"]
    assert [(np.asarray(one.get_xdata()).tolist(), np.asarray(one.get_ydata()).tolist()) for one in rings] == [
        ([comparison["mrr"][best]], [comparison["recall@5"][best]])
    ]
    assert [(one.get_marker(), one.get_markersize() > 8) for one in rings] == [("o", True)]
    legend = display.ax_.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [*comparison.reports, "Pareto front"]


def test_differences_of_a_pair_have_the_colour_of_no_system() -> None:
    comparison = compared()
    colors = {line.get_color() for line in comparison.plot("values").artists_}  # type: ignore[attr-defined]
    (line,) = comparison.plot("distribution", system="system 2", baseline="system 0").artists_
    assert line.get_color() not in colors  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [np.array([1, 2]), "left"])
def test_axes_of_something_else_are_an_error(wrong: Any) -> None:
    with pytest.raises(exactk.InputTypeError, match=r"ax: expected axes of matplotlib, found .*; pass one of an array"):
        compared().plot(ax=wrong)


def test_a_display_prints_in_a_line() -> None:
    assert repr(compared().plot("distribution")) == "<exactk.displays.DistributionDisplay>"


def test_metrics_of_all_lists_have_values_but_no_differences() -> None:
    truth, systems = data()
    items = exactk.Items(60, train=[list(row) for row in truth])
    comparison = exactk.compare(truth, systems, ["coverage@10", "mrr"], items=items)
    assert [xs for xs, _ in points(comparison.plot("values"))] == [[one] for one in comparison["coverage@10"].values()]
    assert {row.metric for row in comparison.plot("differences").data.rows} == {"mrr"}
    message = "metric: expected a metric of which differences are tested: mrr, found 'coverage@10'"
    with pytest.raises(exactk.InputError, match=message):
        comparison.plot("differences", "coverage@10")
    with pytest.raises(exactk.InputError, match="metric: expected a metric of which users have values"):
        comparison.plot("distribution", "coverage@10")
    alone = exactk.compare(truth, systems, "coverage@10", items=items)
    with pytest.raises(exactk.InputError, match="metrics: expected a metric of which differences are tested"):
        alone.plot("differences")
