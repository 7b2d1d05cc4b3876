"""Arrow schemas of Spark's, from the JSON that describes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from exactk._runtime import optional

_ARROW_TYPES = {
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "boolean": "bool_",
    "date": "date32",
    "binary": "binary",
}
_TEXT = re.compile(r"(string|(var)?char)\b.*")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")


def arrow_schema(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema for ``StructType.jsonValue()``."""
    pa = optional.arrow("exactk.spark")
    return pa.schema([(field["name"], _arrow_type(field["type"])) for field in schema["fields"]])


def _arrow_type(dtype: Any) -> Any:  # noqa: ANN401 - JSON; pyarrow has no types
    """Return the type; null for those that can be neither keys nor numbers."""
    pa = optional.arrow("exactk.spark")
    if isinstance(dtype, Mapping):
        return _nested_type(dtype)
    if decimal := _DECIMAL.fullmatch(dtype):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    name = "string" if _TEXT.fullmatch(dtype) else _ARROW_TYPES.get(dtype, "null")
    return pa.timestamp("us") if dtype.startswith("timestamp") else getattr(pa, name)()


def _nested_type(dtype: Mapping[str, Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    pa = optional.arrow("exactk.spark")
    if dtype["type"] == "array":
        return pa.list_(_arrow_type(dtype["elementType"]))
    if dtype["type"] == "struct":
        return pa.struct([(field["name"], _arrow_type(field["type"])) for field in dtype["fields"]])
    return pa.null()
