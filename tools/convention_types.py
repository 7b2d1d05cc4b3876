"""Generate ``_plan/literals.py``: the names of presets, and of the values of each field, as types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import exactk
from exactk._inputs.model.scores import SIMILARITIES
from exactk._plan.fields import FIELDS, STRICT_TIES, Field

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADER = '''"""The finite choices that arguments take, as types: generated from the presets and the fields of a convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from numpy.typing import NDArray

'''

CHANGES = '''
class FieldTypes(TypedDict, total=False):
    """The fields of a convention, as metrics and conventions take them."""

    {fields}


class FieldChanges(FieldTypes, total=False):
    """What `exactk.Convention.replace` changes."""

    overrides: Mapping[str, Mapping[str, Any]]
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
    names = sorted([*aliases, "FieldChanges", "FieldTypes"])
    lines = [f"{name}: TypeAlias = {literal}" for name, literal in aliases.items()]
    return HEADER + f"__all__ = {names!r}\n\n" + "\n".join(lines) + "\n\n" + CHANGES.format(fields=fields)


def type_name(field: Field) -> str:
    """Return the name of a field's type, such as ``EmptyTruth``."""
    return "".join(part.capitalize() for part in field.name.split("_"))


def _literal(names: Iterable[str]) -> str:
    return f"Literal[{', '.join(map(repr, names))}]"


def _taken_type(field: Field) -> str:
    """Return the type of the values that the field takes."""
    if field.choices:
        return type_name(field)
    is_sequence = field.annotation.startswith("tuple")
    return "list[float] | tuple[float, ...] | NDArray[Any]" if is_sequence else field.annotation
