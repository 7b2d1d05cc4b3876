"""What a state keeps of metrics of one's own: all but the function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exactk._plan.custom_metric import CustomInfo, check_name
from exactk._report.validation import checked_digest, checked_fields, checked_list, fail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exactk._plan.metric_strings import Customs
    from exactk._plan.values import Value


def by_name(customs: Iterable[CustomInfo]) -> Customs:
    """Return the descriptions by name."""
    return {one.name: one for one in customs}


def customs_of(values: Iterable[Value]) -> tuple[CustomInfo, ...]:
    """Return the description of each custom metric, in the order of the values."""
    return tuple({value.metric: value.custom for value in values if value.custom is not None}.values())


def custom_to_plain(info: CustomInfo) -> dict[str, Any]:
    """Return plain data for JSON."""
    return {
        "name": info.name,
        "of": info.of,
        "range": None if info.range is None else list(info.range),
        "direction": info.direction,
        "digest": f"{info.digest:#034x}",
    }


def checked_customs(data: Any) -> tuple[CustomInfo, ...]:  # noqa: ANN401 - what JSON holds
    """Return the descriptions that `custom_to_plain` wrote."""
    customs = tuple(map(_checked_custom, checked_list(data, "custom_metrics")))
    if len(by_name(customs)) < len(customs):
        raise fail("custom metrics of distinct names", [one.name for one in customs])
    return customs


def _checked_custom(data: Any) -> CustomInfo:  # noqa: ANN401 - what JSON holds
    checked = checked_fields(data, ("name", "of", "range", "direction", "digest"), "a custom metric")
    digest = checked_digest(checked["digest"], "custom_metrics.digest")
    if digest is None:
        raise fail("custom_metrics.digest", None)
    if checked["of"] not in ("judged", "lists") or checked["direction"] not in ("higher", "lower", "none"):
        raise fail("a custom metric of judged or lists, with a direction", [checked["of"], checked["direction"]])
    return CustomInfo(
        check_name(checked["name"]), checked["of"], _checked_range(checked["range"]), checked["direction"], digest
    )


def _checked_range(data: Any) -> tuple[float, float] | None:  # noqa: ANN401 - what JSON holds
    if data is None:
        return None
    low, high = checked_list(data, "the range of a custom metric", 2)
    if type(low) is not float or type(high) is not float or math.isnan(low + high) or not low <= high:
        raise fail("the range of a custom metric to be two numbers in order", data)
    return low, high
