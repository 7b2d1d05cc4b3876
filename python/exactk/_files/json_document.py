"""JSON: one object from user to items, as pytrec_eval, BEIR and ranx write it, or one list of candidates."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from exactk._files.text import DECOMPRESSION_ERRORS, is_utf8, open_bytes
from exactk._inputs.keys import column_roles
from exactk._runtime.errors import InputError
from exactk._runtime.numbers import parse_number

if TYPE_CHECKING:
    from exactk._files.faults import File

_EXPECTED = {"weights": "an object from user to weight", "groups": "an object from user to group"}
_MOST_COLUMNS = 64  # looked at for the names of columns


def read_object(file: File, *, text_ids: bool = False) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the mapping of the file; for candidates and the catalogue also a list of items."""
    value = _parse(file)
    if isinstance(value, dict):
        _check_keys_are_users(value, file)
        return {user: _as_text(content) for user, content in value.items()} if text_ids else value
    if file.role in {"candidates", "catalogue"} and isinstance(value, list):
        return _as_text(value) if text_ids else value
    hint = "rows are read from .jsonl or .ndjson, one object per line" if isinstance(value, list) else ""
    raise file.fault(_EXPECTED.get(file.role, "an object from user to items"), _NAMES[type(value)], hint)


_NAMES = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a bool", type(None): "null"}


def _parse(file: File) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of the whole file. Raise InputError for what json.load would change or read in part."""
    with file.translate_errors("JSON", *DECOMPRESSION_ERRORS), open_bytes(file) as stream:
        text = stream.read()
    if not is_utf8(text):
        raise file.fault("UTF-8", "invalid bytes")

    def parse_float(digits: str) -> float:
        if (number := parse_number(digits)) is None:
            raise file.fault("numbers that float64 holds", digits[:32])
        return number

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise file.fault("each key once in an object", f"{twice!r} twice")
        return mapping

    try:
        return json.loads(text.decode("utf-8-sig"), parse_float=parse_float, object_pairs_hook=unique)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _syntax_error(file, error) from None


def _syntax_error(file: File, error: Exception) -> InputError:
    if isinstance(error, json.JSONDecodeError) and error.doc.strip():
        line = error.doc.splitlines()[error.lineno - 1 : error.lineno] or [""]
        return file.line_fault("JSON", _FOUND.get(error.msg, error.msg), error.lineno, line[0].encode())
    if isinstance(error, json.JSONDecodeError):
        return file.fault("JSON", "no text")
    is_deep = isinstance(error, RecursionError)
    return file.fault(
        "JSON", "too many lists or objects within each other" if is_deep else "an integer with too many digits"
    )


_FOUND = {
    "Expecting value": "no value",
    "Expecting property name enclosed in double quotes": "no key in double quotes",
    "Expecting ',' delimiter": "no comma",
    "Expecting ':' delimiter": "no colon",
    "Extra data": "more after its end",
}
"""What is found, by messages of the standard library."""


def _check_keys_are_users(value: dict[str, Any], file: File) -> None:
    """Raise InputError if the keys are names of columns, as pandas writes them."""
    names = list(islice(value, _MOST_COLUMNS))
    if column_roles.name_columns(names):
        hint = f"{file.role}=pandas.read_json({str(file.path)!r}) reads them"
        raise file.fault(_EXPECTED.get(file.role, "an object from user to items"), f"columns {', '.join(names)}", hint)


def _as_text(content: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a user's items with integers as strings; the keys of objects are strings."""
    if isinstance(content, list):
        return [_as_text(item) for item in content]
    return str(content) if isinstance(content, int) and not isinstance(content, bool) else content
