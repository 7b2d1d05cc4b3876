"""The colours, markers and dashes of systems, in one order for every picture of a comparison.

Contrast against the page is at least 3:1, that of text at least 4.5:1. The systems' colours differ by at least 10 (CIE76) for
readers with protanopia, deuteranopia and tritanopia. They repeat from the seventh system on, with another marker and dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Marker = Literal["circle", "square", "triangle", "diamond", "cross"]

MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond", "cross")
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))
"""Lengths of dashes and gaps, in widths of a thin line; a solid line has none."""


@dataclass(frozen=True)
class Palette:
    """The colours of one mode."""

    page: str
    text: str
    muted: str
    systems: tuple[str, ...]
    better: str
    worse: str


LIGHT = Palette(
    page="#ffffff",
    text="#1a1c20",
    muted="#5a6069",
    systems=("#0072B2", "#D55E00", "#117733", "#CC79A7", "#332288", "#4D4D4D"),
    better="#0072B2",
    worse="#D55E00",
)
DARK = Palette(
    page="#16181d",
    text="#e6e8ec",
    muted="#a3aab5",
    systems=("#56B4E9", "#E8743B", "#2FBF93", "#E59AC8", "#F0E442", "#FFFFFF"),
    better="#56B4E9",
    worse="#E8743B",
)


class SystemStyle(NamedTuple):
    """How a system is drawn."""

    color: int  # index of the palette's colours of systems
    marker: Marker
    dash: tuple[int, ...]


def system_styles(systems: Iterable[str]) -> dict[str, SystemStyle]:
    """Return the style of each system, by its position in the comparison."""
    colors = len(LIGHT.systems)
    return {
        system: SystemStyle(
            index % colors,
            MARKERS[(index + index // colors) % len(MARKERS)],
            DASHES[(index // colors) % len(DASHES)],
        )
        for index, system in enumerate(systems)
    }
