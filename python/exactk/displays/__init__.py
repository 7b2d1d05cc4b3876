"""Pictures of reports and comparisons with matplotlib, in the convention of scikit-learn's displays.

Needs matplotlib when it draws: ``pip install 'exactk[plots]'``. `Report.plot` and `Comparison.plot` make displays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactk._report.comparison import Comparison
from exactk._runtime.errors import check_among, input_error
from exactk.displays.drawing import Display
from exactk.displays.pictures import (
    CurvesDisplay,
    DifferencesDisplay,
    DistributionDisplay,
    GroupsDisplay,
    TradeOffDisplay,
    ValuesDisplay,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._report.exports import Exports

__all__ = [
    "CurvesDisplay",
    "DifferencesDisplay",
    "Display",
    "DistributionDisplay",
    "GroupsDisplay",
    "TradeOffDisplay",
    "ValuesDisplay",
]

for _name in __all__:
    globals()[_name].__module__ = __name__

_OF_REPORTS: Mapping[str, Any] = {
    "values": ValuesDisplay,
    "curves": CurvesDisplay,
    "distribution": DistributionDisplay,
}
_OF_COMPARISONS: Mapping[str, Any] = {
    "values": ValuesDisplay,
    "differences": DifferencesDisplay,
    "curves": CurvesDisplay,
    "groups": GroupsDisplay,
    "distribution": DistributionDisplay,
    "trade_off": TradeOffDisplay,
}
_OPTIONS = {"groups": ("system", "baseline"), "distribution": ("system", "baseline"), "trade_off": ("against",)}


def draw(result: Exports, kind: str, metric: str | None, ax: Any, **options: str | None) -> Display:  # noqa: ANN401 - axes of matplotlib, which may be absent
    """Return the display of a kind, drawn."""
    kinds = _OF_COMPARISONS if isinstance(result, Comparison) else _OF_REPORTS
    check_among("kind", kind, kinds)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in _OPTIONS.get(kind, ()):
            of_kinds = " and ".join(repr(one) for one, names in _OPTIONS.items() if name in names)
            raise input_error(name, f"None with kind={kind!r}, as it is for {of_kinds}", repr(value))
    display: Display = kinds[kind].from_result(result, metric, **given)
    return display.plot(ax)
