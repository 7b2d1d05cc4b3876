"""What the extension returns, as plain data that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactk import _core


def plain_result(result: _core.Result) -> tuple[dict[str, Any], dict[str, Any], bytes | None]:
    """Return the sums, the tally and the bits of each user's values."""
    table = None if result.per_user is None else result.per_user.tobytes()
    return _attributes(result.sums), _attributes(result.tally), table


def _attributes(bound: object) -> dict[str, Any]:
    names = [name for name in vars(type(bound)) if not name.startswith("_")]
    return {name: getattr(bound, name) for name in names}
