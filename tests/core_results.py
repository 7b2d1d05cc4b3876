"""What the extension returns, as plain data that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactk import _core


def plain_result(result: _core.Result) -> tuple[dict[str, Any], dict[str, Any], bytes | None]:
    """Return the sums, the tally and the bits of each user's values."""
    table = None if result.per_user is None else result.per_user.tobytes()
    counts = {**_attributes(result.tally), "item_tallies": list(map(_plain_item_tally, result.item_tallies))}
    counts["group_tallies"] = [(lists, *(one.tolist() for one in arrays)) for lists, *arrays in result.group_tallies]
    return _attributes(result.sums), counts, table


def _plain_item_tally(tally: Any) -> list[Any]:
    counts, foreign, tied_lists, lengths, short_lists = tally
    return [
        counts.tolist(),
        foreign.tolist(),
        tied_lists,
        [rows.tolist() for rows in lengths],
        [sorted(rows.tolist()) for rows in short_lists],
    ]


def _attributes(bound: object) -> dict[str, Any]:
    names = [name for name, one in vars(type(bound)).items() if not (name.startswith("_") or callable(one))]
    return {name: getattr(bound, name) for name in names}
