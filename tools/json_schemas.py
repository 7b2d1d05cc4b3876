"""The JSON schemas of the documents that exactk writes, from the shapes by which it reads them.

What a shape leaves to other code is said here: conventions, counts, and what follows from sums.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import singledispatch
from typing import Any

from exactk._html import method_sections
from exactk._plan.fields import FIELDS
from exactk._report import comparison_state, export_forms
from exactk._report.comparison_options import CHOICES, ComparisonOptions
from exactk._report.difference import Difference
from exactk._report.state_shape import STATE, VERSION, GroupLabel
from exactk._runtime import shapes

Schema = dict[str, Any]
NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}
LABEL: Schema = {"type": ["string", "integer"]}
NAMES: Schema = {"type": "array", "items": {"type": "string"}}
REF = "#/$defs/"


def mapping(of: Schema) -> Schema:
    """Return the schema of a mapping from names."""
    return {"type": "object", "additionalProperties": of}


def rows(**columns: Schema) -> Schema:
    """Return the schema of a list of mappings with these names."""
    return {"type": "array", "items": record(**columns)}


def record(**columns: Schema) -> Schema:
    """Return the schema of a mapping with these names and no others."""
    return {"type": "object", "properties": columns, "required": [*columns], "additionalProperties": False}


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may be missing."""
    return {"anyOf": [schema, {"type": "null"}]}


@singledispatch
def schema_of(shape: object) -> Schema:
    """Return the schema of a shape."""
    raise TypeError(shape)


@schema_of.register
def _(shape: shapes.Whole) -> Schema:
    return {"type": "integer", "minimum": shape.least, "maximum": shape.most}


@schema_of.register
def _(_: shapes.Exact) -> Schema:
    return {"type": "string", "pattern": "^-?0x[0-9a-f]+$"}


@schema_of.register
def _(_: shapes.Digest) -> Schema:
    return {"type": "string", "pattern": "^0x[0-9a-f]{32}$"}


@schema_of.register
def _(_: shapes.Binary) -> Schema:
    return {"type": "string", "contentEncoding": "base64"}


@schema_of.register
def _(_: shapes.Text) -> Schema:
    return {"type": "string"}


@schema_of.register
def _(shape: shapes.OneOf) -> Schema:
    return {"enum": [*shape.values]}


@schema_of.register
def _(shape: shapes.Maybe) -> Schema:
    return or_null(schema_of(shape.shape))


@schema_of.register
def _(shape: shapes.Many) -> Schema:
    return {"type": "array", "items": schema_of(shape.shape)}


@schema_of.register
def _(shape: shapes.Row) -> Schema:
    return {
        "type": "array",
        "prefixItems": [*map(schema_of, shape.shapes)],
        "minItems": len(shape.shapes),
        "items": False,
    }


@schema_of.register
def _(shape: shapes.Fields) -> Schema:
    properties = {name: schema_of(one) for name, one in shape.shapes.items()}
    required = [name for name in properties if name not in shape.optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": shape.has_others}


@schema_of.register
def _(shape: shapes.Pairs) -> Schema:
    return {"type": "array", "items": schema_of(shapes.Row(tuple, (shape.key, shape.shape)))}


@schema_of.register
def _(_: GroupLabel) -> Schema:
    return LABEL


@schema_of.register
def _(_: shapes.Anything | shapes.Through) -> Schema:
    return {}


def convention() -> Schema:
    """Return the schema of a convention."""
    by_annotation: dict[str, Schema] = {
        "float": {"type": "number"},
        "float | Literal['any'] | None": {"anyOf": [NUMBER_OR_NULL, {"const": "any"}]},
        "tuple[float, ...]": {"type": "array", "items": {"type": "number"}},
        "int | None": {"type": ["integer", "null"]},
    }
    of_fields: dict[str, Schema] = {
        name: {"enum": [*one.choices]} if one.choices else by_annotation[one.annotation] for name, one in FIELDS.items()
    }
    overrides = mapping({"type": "object", "properties": of_fields, "additionalProperties": False})
    return record(**of_fields, overrides=overrides, name={"type": "string"})


def state() -> Schema:
    """Return the schema of a state."""
    schema = schema_of(STATE)
    schema["properties"] |= {
        "convention": {"$ref": f"{REF}convention"},
        "counts": mapping({"type": "integer", "minimum": 0}),
        "unit_names": {"type": "array", "prefixItems": [{"type": "string"}] * 2, "minItems": 2, "items": False},
    }
    custom = schema["properties"]["custom_metrics"]["items"]["properties"]
    custom["range"] = or_null({"type": "array", "prefixItems": [NUMBER_OR_NULL] * 2, "minItems": 2, "items": False})
    return schema


COUNTS = {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, mapping(NUMBER_OR_NULL)]}}
INPUTS = rows(
    argument={"type": "string"},
    system={"type": ["string", "null"]},
    path={"type": "string"},
    sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
)


def report() -> Schema:
    """Return the schema of a report among others."""
    kept = record(
        rows=mapping(
            {"type": "array", "items": {"type": "array", "items": NUMBER_OR_NULL}, "minItems": 2, "maxItems": 2}
        ),
        weights=or_null({"type": "array", "items": NUMBER_OR_NULL}),
        groups=or_null({"type": "array", "items": {"type": "integer", "minimum": -1}}),
    )
    shared = {"group": LABEL, "metric": {"type": "string"}, "value": NUMBER_OR_NULL}
    return record(
        system={"type": ["string", "null"]},
        values=mapping(NUMBER_OR_NULL),
        standard_deviation=mapping(NUMBER_OR_NULL),
        counts=COUNTS,
        by_group=rows(**shared, standard_deviation=NUMBER_OR_NULL, evaluated={"type": "integer"}),
        by_item_group=rows(
            **{**shared, "group": or_null(LABEL)},
            evaluated={"type": ["integer", "null"]},
            items={"type": ["integer", "null"]},
        ),
        convention={"$ref": f"{REF}convention"},
        users=or_null(
            {
                "type": "array",
                "prefixItems": [{"type": ["string", "array"]}, {"type": "array"}],
                "minItems": 2,
                "items": False,
            }
        ),
        per_user=mapping({"type": "array", "items": NUMBER_OR_NULL}),
        kept=or_null(kept),
        state={"$ref": f"{REF}state"},
    )


def comparison() -> Schema:
    """Return the schema of how systems are compared."""
    integer: Schema = {"type": "integer", "minimum": 0}
    of_options: dict[str, Schema] = {
        **{name: {"enum": [*choices]} for name, choices in CHOICES.items()},
        "baseline": {"type": ["string", "null"]},
        "confidence": {"type": "number"},
        "margin": {"type": ["number", "string", "object", "null"]},
        "runs": or_null(mapping(NAMES)),
        **dict.fromkeys(("permutations", "resamples", "seed"), integer),
    }
    options = record(**{one.name: of_options[one.name] for one in fields(ComparisonOptions)})
    clusters = {"type": "array", "items": integer}
    return record(options=options, paired=or_null(schema_of(comparison_state._PAIRED)), clusters=or_null(clusters))


def written_by(version: int, name: str) -> dict[str, Schema]:
    """Return what documents begin with."""
    return {
        "format": {"const": name},
        "version": {"const": version},
        "exactk": {"type": "string"},
        "command": or_null(NAMES),
        "inputs": or_null(INPUTS),
    }


def page() -> Schema:
    """Return the schema of the numbers of a page, where those that would be too long are null."""
    table = or_null(
        record(columns={"const": [*Difference._fields]}, rows={"type": "array", "items": {"type": "array"}})
    )
    interval = record(low=NUMBER_OR_NULL, high=NUMBER_OR_NULL, confidence={"type": "number"}, method={"type": "string"})
    text, integer = Schema(type="string"), Schema(type="integer")
    optional: dict[str, Schema] = {
        "metrics": rows(metric=text, name=text, better=text),
        "values": mapping(mapping(NUMBER_OR_NULL)),
        "standard_deviation": mapping(mapping(NUMBER_OR_NULL)),
        "intervals": mapping(mapping(interval)),
        "counts": mapping(COUNTS),
        "by_group": mapping({"type": "array", "items": {"type": "array", "minItems": 4, "maxItems": 4}}),
        "by_item_group": mapping({"type": "array", "items": {"type": "object", "required": ["group"]}}),
        "popularity": rows(
            part=text, items={"type": "integer"}, train={"type": "number"}, shares=mapping({"type": "number"})
        ),
        "drift": mapping(
            record(
                **dict.fromkeys(("k", "users", "changed_users", "new_items", "lost_items"), integer),
                **dict.fromkeys(("changed", "new_share", "lost_share", "exposure_shift", "overlap"), NUMBER_OR_NULL),
            )
        ),
        "differences": table,
        "differences_by_group": table,
        "heterogeneity": rows(
            **dict.fromkeys(("metric", "system", "baseline"), text),
            **dict.fromkeys(("p", "p_adjusted", "i_squared"), NUMBER_OR_NULL),
        ),
    }
    assert {*optional} == {*method_sections._OPTIONAL}
    return record(
        **written_by(method_sections._VERSION, method_sections._FORMAT),
        convention={"$ref": f"{REF}convention"},
        confidence={"type": "number"},
        **{name: or_null(schema) for name, schema in optional.items()},
        test={"type": ["string", "null"]},
        left_out=NAMES,
    )


def report_document() -> Schema:
    """Return the schema of the JSON of reports."""
    return record(
        **written_by(export_forms._VERSION, export_forms._FORMAT),
        reports={"type": "array", "items": report(), "minItems": 1},
        comparison=or_null(comparison()),
    )


def document(name: str, version: int, title: str, schema: Schema, **definitions: Schema) -> tuple[str, str]:
    """Return the name of a schema's file, and its text."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:exactk:{name}:{version}",
        "title": title,
    }
    whole = {**head, **schema, "$defs": definitions}
    return f"{name}-{version}.json", json.dumps(whole, indent=1) + "\n"


def schemas() -> dict[str, str]:
    """Return the text of each schema by the name of its file."""
    return dict(
        [
            document(
                "report",
                export_forms._VERSION,
                "Reports of systems, and how they are compared",
                report_document(),
                convention=convention(),
                state=state(),
            ),
            document("state", VERSION, "The exact sums of an evaluation", state(), convention=convention()),
            document("page", method_sections._VERSION, "The numbers of an HTML page", page(), convention=convention()),
        ]
    )
