"""What a page shows of a part at its limits."""

from __future__ import annotations

import math
from xml.etree.ElementTree import fromstring

import pytest

from exactk._html.charts import _steps
from exactk._html.page_parts import (
    Bullets,
    Findings,
    Limits,
    Section,
    bound_text,
    interval_clause,
    limited_section,
    with_intervals,
)
from exactk._html.svg import interval, label, scale_of
from exactk._inference.intervals import MeanInterval


@pytest.mark.parametrize("count", [4, 5, 6, 20])
def test_a_list_is_cut_at_the_limit_and_says_how_many_are_left_out(count: int) -> None:
    texts = [f"text {number}" for number in range(count)]
    section = Section("anchor", "title", "question", [Bullets(texts), Findings([("", one) for one in texts])])
    expected = texts[:5] + ([f"{count - 5} more"] if count > 5 else [])
    parts = limited_section(section, Limits(rows=5)).parts
    assert list(parts) == [Bullets(expected), Findings([("", one) for one in expected])]


def test_the_line_of_the_distribution_has_a_corner_at_zero_and_none_for_nan() -> None:
    x_scale, y_scale = scale_of([-1.0, 1.0], 0, 100), scale_of([0.0, 1.0], 0, 100)
    xs, ys = [-1.0, 0.0, math.nan, 1.0], [0.25, 0.5, 0.5, 1.0]
    corners = [(-1.0, 0.25), (0.0, 0.25), (0.0, 0.5), (1.0, 0.5), (1.0, 1.0)]
    assert _steps(xs, ys, x_scale, y_scale) == [(x_scale(x), y_scale(y)) for x, y in corners]


UNIT = (0.0, 1.0)
OF_T = MeanInterval(0.4, 0.6, "t", UNIT)
OF_FEW_HITS = MeanInterval(0.00042, 0.0894, "beta", UNIT)
OF_NO_HIT = MeanInterval(0.0, 0.05963, "beta", UNIT)
UNBOUNDED = MeanInterval(0.25, math.inf, "bound", (0.0, math.inf))


@pytest.mark.parametrize(
    ("values", "intervals", "cells"),
    [
        ([0.5, 0.5], [OF_T, MeanInterval()], ["0.5000 ± 0.1000", "0.5000"]),
        ([0.5, 1 / 60], [OF_T, OF_FEW_HITS], ["0.5000 [0.4000, 0.6000]", "0.0167 [0.0004, 0.0894]"]),
        ([0.5], [MeanInterval(0.4, 0.6, "beta and t", UNIT)], ["0.5000 [0.4000, 0.6000]"]),
        ([0.5], [MeanInterval(0.39996, 0.6, "t", UNIT)], ["0.5000 ± 0.1000"]),
        ([0.5], [MeanInterval(0.3998, 0.6, "t", UNIT)], ["0.5000 [0.3998, 0.6000]"]),
        ([1.5, math.nan], [UNBOUNDED, MeanInterval()], ["1.5000 [0.2500, -]", "NaN"]),
        ([0.0, 0.0], [OF_NO_HIT, MeanInterval()], ["0.0000 [0.0000, 0.0596]", "0.0000"]),
    ],
)  # fmt: skip
def test_a_column_has_intervals_in_one_form(
    values: list[float], intervals: list[MeanInterval], cells: list[str]
) -> None:
    """Of half a width only where it is that of t, and both sides are printed alike."""
    assert with_intervals(values, intervals) == cells


@pytest.mark.parametrize(
    ("bound", "limits", "text"),
    [
        (0.0, UNIT, "0.0000"),
        (1e-9, UNIT, "<0.0001"),
        (4.9e-5, UNIT, "<0.0001"),
        (5.1e-5, UNIT, "0.0001"),
        (1.0, UNIT, "1.0000"),
        (1 - 1e-12, UNIT, ">0.9999"),
        (-1 + 1e-6, (-1.0, 1.0), "<-0.9999"),
        (1e-6, (-math.inf, math.inf), "0.0000"),
        (math.inf, (0.0, math.inf), "-"),
        (math.nan, UNIT, "-"),
    ],
)
def test_a_bound_that_rounding_puts_at_the_end_of_the_range_is_not_printed_as_the_end(
    bound: float, limits: tuple[float, float], text: str
) -> None:
    assert bound_text(bound, MeanInterval(bound, bound, "t", limits)) == text


@pytest.mark.parametrize(
    ("one", "clause"),
    [
        (OF_NO_HIT, "; with 95 % confidence at most 0.0596 (60 users)"),
        (MeanInterval(0.9404, 1.0, "beta", UNIT), "; with 95 % confidence at least 0.9404 (60 users)"),
        (OF_FEW_HITS, ", between 0.0004 and 0.0894 with 95 % confidence (60 users)"),
        (UNBOUNDED, "; with 95 % confidence at least 0.2500 (60 users)"),
        (MeanInterval(0.0, math.inf, "bound", (0.0, math.inf)), ""),
        (MeanInterval(), ""),
    ],
)
def test_a_sentence_leaves_out_bounds_that_say_nothing(one: MeanInterval, clause: str) -> None:
    assert interval_clause(one, "95 %", "60 users") == clause


@pytest.mark.parametrize(
    ("is_open", "path"),
    [
        ((False, False), "M10 20m0 -4v8m0-4H50m0-4v8"),
        ((False, True), "M10 20m0 -4v8m0-4H50m-6 -4l6 4l-6 4"),
        ((True, False), "M10 20m6 -4l-6 4l6 4m-6 -4H50m0-4v8"),
    ],
)
def test_an_infinite_end_of_an_interval_is_an_arrow(is_open: tuple[bool, bool], path: str) -> None:
    assert f' d="{path}"' in interval(10, 50, 20, is_open=is_open)


@pytest.mark.parametrize(("anchor", "written"), [("start", None), ("middle", "middle"), ("end", "end")])
def test_a_text_of_a_picture_begins_at_its_point_unless_it_says_otherwise(anchor: str, written: str | None) -> None:
    text = fromstring(label((1.0, 2.0), "a & b", anchor))  # noqa: S314 - our own
    assert text.text == "a & b"
    assert text.get("text-anchor") == written
