"""What is stable in exactk, by the version that covers it: `tests/stable.json` has what was so when it was last generated.

``make generate`` writes it, but refuses to where something of a released version has changed and the version has not.
`docs/reference/stability.md` says what is promised.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import inspect
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import exactk
from exactk import results
from exactk._cli import command_parser
from exactk._html import method_sections
from exactk._plan.fields import FIELDS
from exactk._report import export_forms
from exactk._report.state import STATE_PREFIX
from exactk._report.state_shape import VERSION
from json_schemas import schemas

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "exactk"
PAGES = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
IN_PAGES = {
    name
    for names in re.findall(
        r"(?<=[\w)\]])\.([a-z]\w+)|`(to_\w+)", re.sub(r"\[\[\[cog.*?\]\]\]", "", PAGES, flags=re.DOTALL)
    )
    for name in names
}
RECORD = ROOT / "tests" / "stable.json"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

Version: TypeAlias = str | int


class Contract(NamedTuple):
    """What a version covers, as plain data, and where the version is raised."""

    version: Version
    content: Callable[[], Any]
    raised_in: str


def signature(call: Callable[..., Any]) -> str:
    """Return the parameters of a function with their defaults; types are the business of type checkers."""
    whole = inspect.signature(call)
    parameters = [
        one.replace(annotation=one.empty) for one in whole.parameters.values() if one.name not in {"self", "cls"}
    ]
    return str(whole.replace(parameters=parameters, return_annotation=whole.empty))


def members(kind: type) -> dict[str, str]:
    """Return how a class is made, if by its name, and the members that its docstring or a page names."""
    text = inspect.getdoc(kind) or ""
    made = {"": signature(kind)} if "\nParameters\n" in text else {}
    attributes = re.findall(r"^(\w+(?:, \w+)*) : ", text.partition("\nAttributes\n")[2], re.MULTILINE)
    named = IN_PAGES | {name for line in attributes for name in line.split(", ")}
    found = {}
    for owner in reversed(kind.__mro__):
        for name, value in vars(owner).items():
            if owner.__module__.startswith("exactk") and name in named:
                call = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                found[name] = signature(call) if inspect.isfunction(call) else ""
    return made | dict(sorted(found.items()))


def described(public: object) -> Any:
    """Return what is stable of a public name."""
    if isinstance(public, type):
        return members(public)
    return signature(public) if inspect.isfunction(public) else ""


def names_of_modules() -> dict[str, list[str]]:
    """Return the public names of the other modules, some of which need other libraries, from their source."""
    paths = [
        path
        for pattern in ("*.py", "*/__init__.py", "compat/*.py")
        for path in sorted(PACKAGE.glob(pattern))
        if not any(part.startswith("_") for part in path.relative_to(PACKAGE).with_suffix("").parts[:-1])
        and (not path.name.startswith("_") or path.parent != PACKAGE)
    ]
    names = {}
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                module = (
                    path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
                )
                listed = [
                    ast.literal_eval(one) for one in getattr(node.value, "elts", ()) if isinstance(one, ast.Constant)
                ]
                names[f"exactk.{module}"] = sorted(listed)
    return names


def commands() -> dict[str, list[str]]:
    """Return the options and arguments of each command."""
    (action,) = (one for one in command_parser()._actions if isinstance(one, argparse._SubParsersAction))
    return {
        name: sorted(text for one in parser._actions for text in one.option_strings or [one.dest])
        for name, parser in action.choices.items()
    }


def exit_codes() -> list[int]:
    """Return the exit codes that the page of the command line explains."""
    text = (ROOT / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
    return [int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)]


def package() -> dict[str, Any]:
    """Return what the version of the package covers."""
    presets = {
        name: {field: value for field, (_, value) in exactk.conventions["standard"].diff(one).items()}
        for name, one in exactk.conventions.items()
    }
    return {
        "names": {name: described(getattr(exactk, name)) for name in sorted(exactk.__all__)},
        "results": {name: described(getattr(results, name)) for name in sorted(results.__all__)},
        "modules": names_of_modules(),
        "metrics": {
            name: {"aliases": sorted(one.aliases), "parameter": one.parameter and one.parameter.name}
            for registry in (exactk.metrics, exactk.agreement_metrics)
            for name, one in registry.items()
        },
        "fields": {name: {"choices": list(one.choices), "standard": one.standard} for name, one in FIELDS.items()},
        "presets": presets,
        "commands": commands(),
        "exit codes": exit_codes(),
        "extras": sorted(PROJECT["optional-dependencies"]),
    }


def digest_of_schema(name: str) -> Callable[[], str]:
    """Return a function that returns the digest of a schema without the fields of conventions, which the package covers."""

    def digest() -> str:
        (text,) = (text for file, text in schemas().items() if file.startswith(f"{name}-"))
        plain = json.loads(text)
        del plain["$defs"]["convention"]
        if "state" in plain["$defs"]:  # which has a version of its own
            del plain["$defs"]["state"]
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    return digest


CONTRACTS = {
    "package": Contract(
        PROJECT["version"],
        package,
        "pyproject.toml: a major one if something went or changed, a minor one if it was added",
    ),
    "report": Contract(export_forms._VERSION, digest_of_schema("report"), "python/exactk/_report/export_forms.py"),
    "state": Contract(VERSION, digest_of_schema("state"), "python/exactk/_report/state_shape.py"),
    "bytes of a state": Contract(VERSION, STATE_PREFIX.decode, "python/exactk/_report/state_shape.py"),
    "page": Contract(method_sections._VERSION, digest_of_schema("page"), "python/exactk/_html/method_sections.py"),
}


def today() -> dict[str, Any]:
    """Return what is stable now, with the versions at the last release, after which a change needs another."""
    versions = {name: one.version for name, one in CONTRACTS.items()}
    contents = {name: json.loads(json.dumps(one.content())) for name, one in CONTRACTS.items()}
    return {"versions": versions, "contents": contents}


def last_release() -> str | None:
    """Return the newest version of the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## \[(\d[^\]]*)\]", text, re.MULTILINE)
    return found and found[1]


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Return where plain data differ, in words."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [*one, *(name for name in other if name not in one)]
        return [
            line
            for name in names
            for line in (
                [f"{at}{name}: went"]
                if name not in other
                else [f"{at}{name}: was added"]
                if name not in one
                else differences(one[name], other[name], f"{at}{name}: ")
            )
        ]
    return [] if one == other else [f"{at}was {json.dumps(one)}, is {json.dumps(other)}"]


def unversioned_changes(recorded: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return what has changed though its version is one that was released."""
    return [
        f"{name} has changed since version {version} was released: {'; '.join(changed)}; raise the version in "
        f"{CONTRACTS[name].raised_in}"
        for name, version in now["versions"].items()
        if (changed := differences(recorded["contents"].get(name), now["contents"][name]))
        and version == recorded["released"].get(name)
    ]


def record() -> str:
    """Return the text of the record; end if a version is to be raised first."""
    recorded, now = json.loads(RECORD.read_text(encoding="utf-8")), today()
    if changes := unversioned_changes(recorded, now):
        raise SystemExit("\n".join(changes))
    released = recorded["released"]
    if last_release() != released.get("package"):
        released = {**now["versions"], "package": last_release()}
    return json.dumps({"released": released, **now}, indent=1) + "\n"
