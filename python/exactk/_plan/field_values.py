"""The fields of a convention as attributes, which the generated stub lists for type checkers."""

from __future__ import annotations

from dataclasses import make_dataclass

from exactk._plan.fields import FIELDS

FieldValues = make_dataclass(
    "FieldValues", [(f.name, f.annotation, f.standard) for f in FIELDS.values()], frozen=True, kw_only=True
)
