"""Values of the relevant items of a group: how metric strings name the group, and which metrics have such values."""

from __future__ import annotations

import json
import re
from numbers import Integral
from typing import TYPE_CHECKING, Any

from exactk._plan.metrics import INFOS_OF_GROUPS, METRICS_OF_GROUPS, METRICS_OF_SHARES, metrics
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import listed, quote
from exactk._runtime.records import NamedTuple
from exactk._runtime.texts import fold, similar_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ITEM_GROUP = "item_group"
"""The setting of a metric that names the group."""

MOST_ITEM_GROUPS = 64
"""Groups of items that the values of a call may be of."""


class ItemGroup(NamedTuple):
    """A group of items, or every one."""

    label: int | str | None  # None: items without a group
    is_every: bool = False

    @property
    def text(self) -> str:
        """How metric strings have it."""
        if self.is_every or self.label is None:
            return "every" if self.is_every else "none"
        if isinstance(self.label, int):
            return str(self.label)
        is_plain = _PLAIN.fullmatch(self.label) and self.label not in _RESERVED
        return self.label if is_plain else json.dumps(self.label, ensure_ascii=False)


EVERY = ItemGroup(None, is_every=True)

_RESERVED = {"every": EVERY, "none": ItemGroup(None)}
_PLAIN = re.compile(r"[^\W\d](?:[\w .&/+-]*\w)?")
_SETTING = re.compile(
    r"""(?P<before>[(,]\s*)(?P<name>[A-Za-z_ -]+?)\s*=\s*(?P<label>"(?:[^"\\]|\\.)*"|'[^']*'|[^,()]*)(?P<after>\s*[,)])"""
)
"""A setting of a metric string. Labels with other characters than words have are in quotation marks."""


def item_group_of_text(text: str, spelling: str) -> ItemGroup:
    """Return the group that a metric string names."""
    if text in _RESERVED:
        return _RESERVED[text]
    if re.fullmatch(r"-?[0-9]{1,19}", text):
        return ItemGroup(int(text))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return ItemGroup(text[1:-1])
    if text.startswith('"'):
        try:
            label = json.loads(text)
        except ValueError:
            label = None
        if isinstance(label, str):
            return ItemGroup(label)
    elif text and not set("\"'[]") & set(text):
        return ItemGroup(text)
    hint = 'labels with other characters than words have are in quotation marks: item_group="a, b"'
    raise input_error("metrics", f"{ITEM_GROUP}=label, none or every", f"{quote(text)} in {quote(spelling)}", hint=hint)


def item_group_of_setting(value: object) -> ItemGroup:
    """Return the group that a value of Python names, as in ``metric.with_(item_group="tail")``."""
    if isinstance(value, str) and (value in _RESERVED or value.startswith('"')):
        return item_group_of_text(value, value)
    if value is None or isinstance(value, str):
        return ItemGroup(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise type_error(ITEM_GROUP, "the label of a group, None or 'every'", repr(value))
    return ItemGroup(int(value))


def with_item_group(text: str, group: ItemGroup) -> str:
    """Return a metric string with another group."""
    return _replaced(text, lambda match: f"{match['before']}{match['name']}={group.text}{match['after']}")


def without_item_group(text: str) -> str:
    """Return a metric string without its group."""

    def rest(match: re.Match[str]) -> str:
        if match["after"].strip() == ",":
            return match["before"]
        return ")" if match["before"].strip() == "," else "()"

    return _replaced(text, rest).replace("()", "")


def check_is_group(group: ItemGroup, labels: Sequence[int | str | None], spelling: str) -> None:
    """Raise InputError unless there is one such group."""
    names = [ItemGroup(label).text for label in labels if label is not None]
    if group.label is None and "none" in labels:
        expected = 'item_group="none" for the group of this label, or every, which has items without a group too'
        raise input_error("metrics", expected, quote(spelling))
    if group.label in (*labels, None):
        return
    similar = similar_name(group.text, [*names, *_RESERVED])
    expected = f"item_group of {listed(names, 20)}, none or every"
    hint = "" if similar is None else f"did you mean item_group={similar}?"
    raise input_error("metrics", expected, quote(spelling), hint=hint)


def _replaced(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    position = 0
    while match := _SETTING.search(text, position):
        if fold(match["name"]) == fold(ITEM_GROUP):
            return f"{text[: match.start()]}{replacement(match)}{text[match.end() :]}"
        position = match.end("label")
    return text


def check_has_groups(metric: str, rules: Mapping[str, Any], spelling: str) -> None:
    """Raise InputError if the metric has no value of a group of items, or not this one."""
    if metric not in METRICS_OF_GROUPS:
        hint = f"it is for {', '.join(METRICS_OF_GROUPS)}"
        raise input_error("metrics", f"{metric} without {ITEM_GROUP}=", quote(spelling), hint=hint)
    is_restricted = rules["item_group_value"] == "restricted"
    if (
        rules["weight"] != "one"
        and "weight" in metrics[metric].own_fields
        and (not is_restricted or metric in INFOS_OF_GROUPS)
    ):
        expected = f"{metric} of a group with weight='one'" + ("" if is_restricted else ", of which there are shares")
        raise input_error("metrics", expected, f"weight={rules['weight']!r} in {quote(spelling)}")
    if is_restricted:
        if rules["empty_truth"] == "error":
            expected = f"{metric} of a group with empty_truth of 'skip', 'zero', 'one' or 'compute'"
            found = "'error', and a user may have no relevant item of a group"
            raise input_error("metrics", expected, found)
    elif metric not in METRICS_OF_SHARES:
        expected = f"{metric} of a group with item_group_value='restricted'"
        found = f"'share' in {quote(spelling)}, and the parts that groups have in a {metric} do not add up to it"
        raise input_error("metrics", expected, found)
