"""What else is compiled into a release, in the form of CycloneDX.

Wheels have it as PEP 770 says. What auditwheel or delvewheel put beside the core, such as the standard library of C++ in wheels
for musl, they list in a file of their own.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))


def sbom() -> str:
    """Return the document, without a time, so that it changes with the versions alone."""
    project = PYPROJECT["project"]
    (requirement,) = (
        one
        for override in PYPROJECT["tool"]["scikit-build"]["overrides"]
        for one in override.get("build", {}).get("requires", ())
    )
    exactk = _component(project["name"], project["version"], project["license"], project["description"])
    pybind11, _, version = requirement.partition("==")
    headers = _component(pybind11, version, "BSD-3-Clause", "headers, compiled into exactk._core")
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": exactk},
        "components": [headers],
        "dependencies": [{"ref": exactk["bom-ref"], "dependsOn": [headers["bom-ref"]]}, {"ref": headers["bom-ref"]}],
    }
    return json.dumps(document, indent=2) + "\n"


def _component(name: str, version: str, license_id: str, description: str) -> dict[str, Any]:
    url = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "description": description,
        "licenses": [{"license": {"id": license_id}}],
        "purl": url,
    }
