"""Generate ``_plan/literals.py``: the names of presets, and of the values of each field, as types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from exactk._inputs.model.scores import SIMILARITIES
from exactk._plan.fields import FIELDS, STRICT_TIES, Field

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADER = '''"""The finite choices that arguments take, as types: generated from the presets and the fields of a convention.

Names without an underscore are those of `exactk.typing`, which takes them all.
"""

import typing as _t
from collections.abc import Mapping as _Mapping

from numpy.typing import NDArray as _NDArray

'''

CLASSES = '''
class FieldTypes(_t.TypedDict, total=False):
    """The fields of a convention, as metrics and conventions take them."""

    {fields}


class FieldChanges(FieldTypes, total=False):
    """What `exactk.Convention.replace` changes."""

    overrides: _Mapping[str, _Mapping[str, _t.Any]]
    name: str
'''


def literals_module() -> str:
    """Return the module's text."""
    aliases = {
        "PresetName": _literal(exactk.conventions),
        "Similarity": _literal(SIMILARITIES),
        **{type_name(field): _literal(field.choices) for field in FIELDS.values() if field.choices},
        "RankingTies": _literal(name for name in FIELDS["ties"].choices if name in {*STRICT_TIES, "raise"}),
    }
    fields = "\n    ".join(f"{field.name}: {_taken_type(field)}" for field in FIELDS.values())
    lines = [f"{name}: _t.TypeAlias = {literal}" for name, literal in aliases.items()]
    return HEADER + "\n".join(lines) + "\n\n" + CLASSES.format(fields=fields)


def type_name(field: Field) -> str:
    """Return the name of a field's type, such as ``EmptyTruth``."""
    return "".join(part.capitalize() for part in field.name.split("_"))


def _literal(names: Iterable[str]) -> str:
    return f"_t.Literal[{', '.join(map(repr, names))}]"


def _taken_type(field: Field) -> str:
    """Return the type of the values that the field takes."""
    if field.choices:
        return type_name(field)
    is_sequence = field.annotation.startswith("tuple")
    one = "list[float] | tuple[float, ...] | _NDArray[_t.Any]" if is_sequence else field.annotation
    return one.replace("Literal", "_t.Literal")
