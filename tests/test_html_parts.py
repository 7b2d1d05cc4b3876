"""What a page shows of a part at its limits."""

from __future__ import annotations

import math
from xml.etree.ElementTree import fromstring

import pytest

from exactk._figures.palette import system_styles
from exactk._html.charts.axes import scale_of
from exactk._html.charts.lines import Series, _steps
from exactk._html.charts.svg import label
from exactk._html.limits import limited_section
from exactk._html.parts import Bullets, Findings, Section
from exactk._html.source import Limits
from exactk._html.texts import with_interval
from exactk._inference.significance import Interval


@pytest.mark.parametrize("count", [4, 5, 6, 20])
def test_a_list_is_cut_at_the_limit_and_says_how_many_are_left_out(count: int) -> None:
    texts = [f"text {number}" for number in range(count)]
    section = Section("anchor", "title", "question", [Bullets(texts), Findings([("", one) for one in texts])])
    expected = texts[:5] + ([f"{count - 5} more"] if count > 5 else [])
    parts = limited_section(section, Limits(rows=5)).parts
    assert list(parts) == [Bullets(expected), Findings([("", one) for one in expected])]


def test_the_line_of_the_distribution_has_a_corner_at_zero_and_none_for_nan() -> None:
    x_scale, y_scale = scale_of([-1.0, 1.0], 0, 100), scale_of([0.0, 1.0], 0, 100)
    line = Series("a", system_styles("a")["a"], [-1.0, 0.0, math.nan, 1.0], [0.25, 0.5, 0.5, 1.0])
    corners = [(-1.0, 0.25), (0.0, 0.25), (0.0, 0.5), (1.0, 0.5), (1.0, 1.0)]
    assert _steps(line, x_scale, y_scale) == [(x_scale(x), y_scale(y)) for x, y in corners]


def test_a_value_off_the_middle_by_half_of_the_last_digit_has_one_width() -> None:
    assert with_interval(0.0, Interval(0.0, 1e-4)) == "0.0000 ± 0.0001"
    assert with_interval(0.0, Interval(0.0, 2e-4)) == "0.0000 (0.0000 to 0.0002)"


@pytest.mark.parametrize(("anchor", "written"), [("start", None), ("middle", "middle"), ("end", "end")])
def test_a_text_of_a_picture_begins_at_its_point_unless_it_says_otherwise(anchor: str, written: str | None) -> None:
    text = fromstring(label((1.0, 2.0), "a & b", anchor))  # noqa: S314 - our own
    assert text.text == "a & b"
    assert text.get("text-anchor") == written
