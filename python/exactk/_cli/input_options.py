"""Options that several commands share, the files that they name, and the form of every help text."""

from __future__ import annotations

import argparse
import hashlib
import re
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

import exactk
from exactk import _files as files
from exactk._cli.streams import STDIN, input_path, path_text
from exactk._engine.systems import in_system
from exactk._files import TextOptions
from exactk._files.file_arguments import read_argument, read_catalogue_columns
from exactk._files.file_errors import File
from exactk._files.formats import COLUMN_SOURCES
from exactk._files.forms import FORMS, NamedFormat
from exactk._files.separated import SEPARATORS
from exactk._inputs.alignment import naming_base
from exactk._inputs.item_parts import naming_interactions
from exactk._inputs.keys.column_roles import ROLES
from exactk._inputs.readings import check_not_truth
from exactk._plan.fields import FIELDS, field_name, within_spelling
from exactk._runtime.errors import ExactkError, input_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from exactk._cli.streams import StandardInput
    from exactk._files import Contents
    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._inputs.parents import ParentsLike
    from exactk._inputs.types import PredictionsLike
    from exactk._options import ValueOptions

    Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no other name


class Input(NamedTuple):
    """A file that a command reads."""

    argument: str
    path: Path
    system: str | None = None  # of predictions

    def to_dict(self, stdin: StandardInput) -> dict[str, Any]:
        """Return the file with its digest, None if it cannot be read again, such as a pipe."""
        digest = None
        if self.path == STDIN:
            digest = stdin.sha256
        elif self.path.is_file():
            with self.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return {"argument": self.argument, "system": self.system, "path": path_text(self.path), "sha256": digest}


class Provenance(NamedTuple):
    """A command line and its inputs."""

    command: Sequence[str]
    inputs: Sequence[Input]
    stdin: StandardInput


FORMATS = ("table", "json", "csv", "markdown", "latex", "trec")


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    example: str,
    details: str = "",
) -> argparse.ArgumentParser:
    """Add a command whose help ends with an example."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}".strip(),
        epilog=f"example: {example}",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_input_option(parser: argparse._ActionsContainer, name: str, text: str) -> None:
    """Add an option that names a file."""
    parser.add_argument(f"--{name}", type=input_path, metavar="FILE", help=text)


def add_column_options(
    parser: argparse.ArgumentParser,
    *,
    truth: bool,
    ranks: bool = True,
    of_user: str = "--user",
    exclude: bool = True,
    candidates: bool = False,
) -> argparse._ArgumentGroup:
    """Add the options that name columns, and return their group; common names are detected without them."""
    parser.add_argument(
        "--text-ids", action="store_true", help="treat ids as text even if they consist of digits, as in TREC files"
    )
    columns = parser.add_argument_group("column names (common names are detected)")
    columns.add_argument(
        of_user,
        dest="user",
        action="append",
        metavar="NAME",
        help="user or query column; repeat it for a key of several columns",
    )
    columns.add_argument("--item", metavar="NAME", help="item or document column")
    order = columns.add_mutually_exclusive_group()
    order.add_argument("--score", metavar="NAME", help="score column of predictions; the highest score is best")
    if ranks:
        order.add_argument("--rank", metavar="NAME", help="rank column of predictions; the lowest rank is best")
    if truth:
        columns.add_argument("--grade", metavar="NAME", help="grade column of the truth")
    fields = parser.add_argument_group(
        "forms and columns per file",
        "Options of predictions also apply to base predictions, and those of exclusions to training data. NAME: in front of a "
        "value of predictions makes it that of one system.",
    )
    separators = {separator.name: text for text, separator in SEPARATORS.items()}
    for role in [role for role, is_read in zip(_SUCH_AS, (truth, True, exclude, candidates), strict=True) if is_read]:
        names = {name: name for name, form in FORMS.items() if role in form.roles}
        options: dict[str, tuple[Callable[[str], Any], str, str]] = {
            "columns": (_parse_columns, "ROLES", f"{_ROLES_OR_NAMES} {_SUCH_AS[role]}; or columns by role"),
            "separator": (partial(_choose, separators), f"{{{','.join(separators)}}}", _SEPARATES),
            "form": (partial(_choose, names), f"{{{','.join(names)}}}", _IS_FORM),
        }
        for option, (parse, metavar, text) in options.items():
            read = partial(_of_system, parse, role)
            fields.add_argument(
                f"--{role}-{option}", type=read, action="append", default=[], metavar=metavar, help=text
            )
    return columns


_ROLES_OR_NAMES = "the role of each field, or -, such as"
_SEPARATES = "what separates fields, here or below a line of column names (default: what all rows show)"
_IS_FORM = "what the file is, whatever its ending is (default: what its ending and all rows show)"
_SUCH_AS = {
    "truth": "user,-,item,grade",
    "predictions": "user,item,rank",
    "exclude": "user,item,-,-",
    "candidates": "user,item,-",
}
FORM_OPTIONS = tuple(f"{role}_{option}" for role, option in product(_SUCH_AS, TextOptions.__annotations__))
"""The options for the forms and columns of files in a role, as arguments."""


def _of_system(parse: Callable[[str], Any], role: str, text: str) -> tuple[str, Any]:
    """Return the system whose name stands before a colon, empty if none does, and the value of an option."""
    name, colon, value = text.partition(":")
    has_name = role == "predictions" and colon and not {"=", ","} & {*name}
    return (name, parse(value)) if has_name else ("", parse(text))


def _parse_columns(text: str) -> list[str] | dict[str, Any]:
    """Return the roles of fields by position, or the names of columns by role."""
    parts = text.split(",")
    if "=" not in text:
        return parts
    columns: dict[str, Any] = {}
    for role, equals, name in (part.partition("=") for part in parts):
        if not equals or (role in columns and role != "user"):
            message = f"expected roles, or each role once with a column such as user=u,item=i, found {text!r}"
            raise argparse.ArgumentTypeError(message)
        columns[role] = [*columns[role], name] if role == "user" in columns else [name] if role == "user" else name
    return columns


def _choose(choices: Mapping[str, str], text: str) -> str:
    if text not in choices:
        message = f"expected one of {', '.join(choices)}, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return choices[text]


Role = Literal["truth", "predictions", "exclude"]
ArgumentRole = Literal["groups", "weights", "clusters", "candidates", "catalogue", "parents"]
_ROLE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    **ROLES,
    "base_predictions": ROLES["predictions"],
    "train": ROLES["exclude"],
    "catalogue": ("item",),
    "parents": (),
    "item_names": ("item",),
}
"""The options that name columns, by the role of the files that they apply to."""


def read_file(arguments: argparse.Namespace, path: Path, role: Role, system: str = "") -> Any:  # noqa: ANN401 - depends on the role
    """Read a file in the given role, with the columns that the arguments name."""
    if role != "predictions" and path.is_dir():
        raise input_error(role, "a file", f"the directory {str(path)!r}", hint="only predictions may be a directory")
    with arguments.stdin.opened(path) as content:
        options = {**_columns_of(arguments, path, role, system), **_fields_of(arguments, role, system)}
        return exactk.read(content, role=role, text_ids=arguments.text_ids, **options)


def read_system(arguments: argparse.Namespace, paths: Sequence[Path], system: str = "") -> Any:  # noqa: ANN401 - predictions
    """Read the files of a system as one set of predictions."""
    if len(paths) == 1:
        return read_file(arguments, paths[0], "predictions", system)
    return read_contents(arguments, paths, "predictions", system).container


def read_contents(
    arguments: argparse.Namespace, paths: Sequence[Path], role: Role | Literal["candidates"], system: str = ""
) -> Contents:
    """Return what files hold in the given role, and what they are taken for."""
    requested, options = _columns_of(arguments, paths[0], role, system), _fields_of(arguments, role, system)
    return files.read_files([File(path, role) for path in paths], requested, text_ids=arguments.text_ids, **options)


def read_option(arguments: argparse.Namespace, role: ArgumentRole, path: Path | None) -> Any:  # noqa: ANN401 - depends on the role
    """Read the file of an option, as the argument of that name reads it; return None without a file."""
    if path is None:
        return None
    columns: ColumnNames = {"user": user_column(arguments), "item": arguments.item}
    with arguments.stdin.opened(path) as content:
        if role == "candidates" and _said_of(arguments, role):
            return read_contents(arguments, [content], role).container
        return read_argument(content, role, columns, text_ids=arguments.text_ids)


def _columns_of(arguments: argparse.Namespace, path: Path, role: str, system: str) -> dict[str, Any]:
    """Return the columns that the arguments name; none for a file without column names."""
    if not _has_names(arguments, path, role, system):
        return {}
    columns = _said_of(arguments, role, system).get("columns") or {
        name: getattr(arguments, name, None) for name in _ROLE_COLUMNS[role]
    } | {"user": user_column(arguments)}
    return {name: column for name, column in columns.items() if column is not None}


def _has_names(arguments: argparse.Namespace, path: Path, argument: str, system: str) -> bool:
    """Return whether the file of an argument is read by columns, which have names."""
    said = _said_of(arguments, _READ_AS.get(argument, argument), system)
    if columns := said.get("columns"):
        return isinstance(columns, dict)
    if name := said.get("form"):
        return isinstance(form := FORMS[name], NamedFormat) and form.format_name in COLUMN_SOURCES
    return "separator" in said or files.has_columns(path, argument)


def _fields_of(arguments: argparse.Namespace, role: str, system: str) -> TextOptions:
    """Return what the arguments say of the text of files: its form, the roles of fields by position, their separator."""
    said = _said_of(arguments, role, system)
    return cast("TextOptions", {option: value for option, value in said.items() if not isinstance(value, dict)})


def _said_of(arguments: argparse.Namespace, role: str, system: str = "") -> dict[str, Any]:
    """Return the options of files in a role, those of the system if there are any."""
    said: dict[str, dict[str, Any]] = {}
    for option in TextOptions.__annotations__:
        for name, value in getattr(arguments, f"{role}_{option}", ()):
            said.setdefault(name, {})[option] = value
    return said.get(system) or said.get("", {})


def user_column(arguments: argparse.Namespace) -> str | list[str] | None:
    """Return the name of the user column, or of several, that the arguments give."""
    users: list[str] | None = arguments.user
    return users[0] if users and len(users) == 1 else users


def paths_of_options(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the path of each option that names an input, if it is given."""
    actions = [one for one in arguments.parser._actions if one.option_strings and one.type is input_path]  # noqa: SLF001 - argparse has no other way
    return {one.dest: path for one in actions if (path := getattr(arguments, one.dest))}


def check_inputs(arguments: argparse.Namespace, inputs: Sequence[Input]) -> None:
    """Raise InputError for two inputs from stdin, the truth in another input, or an option of columns that no input has."""
    from_stdin = [one.argument for one in inputs if one.path == STDIN]
    if len(from_stdin) > 1:
        raise input_error("stdin", "one input that is -", f"{len(from_stdin)}: {', '.join(from_stdin)}")
    if from_stdin and from_stdin[0] in {"groups", "weights", "clusters", "catalogue", "parents"}:
        raise input_error(from_stdin[0], "a file of columns", "stdin, which is read as TREC text")
    for one in inputs:
        if inputs[0].argument == "truth" and one.argument in {"predictions", "exclude", "base_predictions"}:
            columns: Any = {role: getattr(arguments, role, None) for role in ("item", "grade", "score", "rank")}
            items: dict[str, str] = {}
            for role in ("truth", "predictions"):
                named = _said_of(arguments, role, one.system or "").get("columns")
                if isinstance(named, dict):
                    columns |= {name: column for name, column in named.items() if name != "item"}
                    items |= {role: named["item"]} if "item" in named else {}
            with in_system(one.system or ""):
                check_not_truth(inputs[0].path, [(one.argument, one.path)], columns, items)
    _check_forms(arguments, inputs)
    for name in dict.fromkeys(chain.from_iterable(_ROLE_COLUMNS.values())):
        if getattr(arguments, name, None) is None:
            continue
        of_option = [one for one in inputs if name in _ROLE_COLUMNS[one.argument]]
        if not any(_has_names(arguments, one.path, one.argument, one.system or "") for one in of_option):
            without = " and ".join(dict.fromkeys(str(one.path) for one in of_option))
            raise input_error(f"--{name}", "a file with names of columns", f"none in {without}")


def _check_forms(arguments: argparse.Namespace, inputs: Sequence[Input]) -> None:
    """Raise InputError for an option of a form or of columns per file that is for no input."""
    roles = {_READ_AS.get(one.argument, one.argument) for one in inputs}
    systems = dict.fromkeys(one.system or "" for one in inputs if one.argument == "predictions")
    for option in FORM_OPTIONS:
        for name, _ in getattr(arguments, option, ()):
            if option.split("_")[0] not in roles:
                raise input_error(
                    f"--{option.replace('_', '-')}", "a file that it is for, such as --exclude FILE", "none"
                )
            if name not in {"", *systems}:
                expected = f"the name of a system: {', '.join(filter(None, systems)) or 'there is one, without a name'}"
                raise input_error(f"--{option.replace('_', '-')}", expected, repr(name))


_READ_AS = {"train": "exclude", "base_predictions": "predictions"}
"""The roles of files that options of other names have."""


def output_path(text: str) -> Path:
    """Return the path of an output file; unwritable paths are refused before anything is computed."""
    path = Path(text)
    with suppress(RuntimeError):  # circular links; newer versions of Python return them unresolved
        target = path.resolve()
        if text != "-" and not path.is_dir() and not target.is_symlink() and target.parent.is_dir():
            return path
    message = f"expected the path of a file, in a folder that exists, found {text!r}"
    message += "; /dev/stdout is stdout, and ./- a file of that name" if text == "-" else ""
    raise argparse.ArgumentTypeError(message)


def add_format_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the format of a report."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        help="output format: json and csv have full precision (csv puts ' before text that a spreadsheet would run "
        "as a formula); trec is the output of trec_eval, with its measure names (default: table)",
    )


def add_state_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that writes the state of a report."""
    parser.add_argument(
        "--state", type=output_path, metavar="FILE", help="write the exact sums to FILE, for exactk merge"
    )


def parse_count(text: str) -> int:
    """Return an integer written only in digits."""
    if not re.fullmatch(r"[0-9]{1,10}", text):
        message = f"expected an integer such as 10, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def add_set_option(parser: argparse.ArgumentParser, fields: str) -> None:
    """Add the option that changes fields of the convention; `fields` is its help text."""
    parser.add_argument(
        "--set", type=_parse_change, action="append", default=[], dest="changes", metavar="FIELD=VALUE", help=fields
    )


# Keys of a mapping of changes that are not fields, and hints for them.
_NOT_SET = {
    "base": "--convention names the preset",
    "name": "that of a changed convention says what was changed",
    "overrides": "METRIC.FIELD=VALUE changes a field for one metric",
}


def _parse_change(text: str) -> tuple[str, object]:
    field, _, value = text.partition("=")
    if not field or not value:
        message = f"expected FIELD=VALUE such as nan=last, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    if field in _NOT_SET:
        message = f"expected a field of the convention, found {text!r}; {_NOT_SET[field]}"
        raise argparse.ArgumentTypeError(message)
    metric, dot, spelling = field.rpartition(".")
    with refusing_text():
        name = field_name(spelling)
        if name is None:
            return field, value
        with within_spelling(text):
            return f"{metric}{dot}{name}", FIELDS[name].parse(value, "--set")


@contextmanager
def refusing_text() -> Iterator[None]:
    """Raise errors of this block as those of the text of an option, which argparse names."""
    try:
        yield
    except exactk.InputError as error:
        raise argparse.ArgumentTypeError(str(error.amended(argument=""))) from error


@contextmanager
def name_argument(option: str) -> Iterator[None]:
    """Name an option in the errors raised in this block."""
    try:
        yield
    except ExactkError as error:
        raise error.amended(argument=option) from None


def changes_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the changes of --set. Raise InputError if a field is set to two values."""
    changes: dict[str, object] = {}
    for field, value in arguments.changes:
        if changes.get(field, value) != value:
            raise input_error("--set", f"one value of {field}", f"{changes[field]} and {value}")
        changes[field] = value
    return changes


def add_item_columns(columns: argparse._ArgumentGroup) -> None:
    """Add the options that name columns of the catalogue; no name of theirs is common."""
    columns.add_argument(
        "--item-group",
        metavar="NAME",
        help="column of --catalogue with the group of each item, for item_group=, exposure, rsp and reo",
    )
    columns.add_argument(
        "--item-value",
        metavar="NAME",
        help="column of --catalogue with the value of each item, for recall(weight=values)",
    )
    columns.add_argument(
        "--item-feature",
        action="append",
        metavar="NAME",
        help="column of --catalogue with a number, or a list of numbers or tags, of each item, for ild, serendipity and "
        "calibration; repeat it for several numbers",
    )


def read_items(arguments: argparse.Namespace) -> exactk.Items | None:
    """Return the items that could be recommended, and what is known of them; None if no option names them."""
    of_columns = _read_columns(arguments)
    if arguments.train is None and arguments.catalogue is None:
        return None
    catalogue = read_option(arguments, "catalogue", arguments.catalogue)
    train = None
    if arguments.train is not None:
        with naming_interactions("train"):
            train = read_file(arguments, arguments.train, "exclude")
    return exactk.Items(catalogue, train=train, **of_columns)


def _read_columns(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the columns of the catalogue say of its items."""
    group, value, features = (getattr(arguments, name) for name in _COLUMN_OPTIONS)
    if arguments.catalogue is None:
        for name in _COLUMN_OPTIONS:
            if getattr(arguments, name):
                option = f"--{name.replace('_', '-')}"
                raise input_error(option, "--catalogue FILE, which has the column", "none")
        return {}
    columns: ColumnNames = {"item": arguments.item}
    read: dict[str, Any] = {}
    if group:
        (read["item_groups"],) = read_catalogue_columns(arguments.catalogue, [group], columns, are_numbers=False)
    if value:
        (read["values"],) = read_catalogue_columns(arguments.catalogue, [value], columns, are_numbers=True)
    if features:
        parts = read_catalogue_columns(arguments.catalogue, features, columns, are_numbers=True)
        has_lists = any(isinstance(part, list) for part in parts)
        if has_lists and len(parts) > 1:
            raise input_error("--item-feature", "columns of numbers, or one column of lists", "several with lists")
        read["features"] = parts[0] if has_lists else np.column_stack(parts)
    return read


_COLUMN_OPTIONS = ("item_group", "item_value", "item_feature")


def read_base(arguments: argparse.Namespace) -> PredictionsLike | None:
    """Return the base predictions; None if no option names them."""
    if arguments.base_predictions is None:
        return None
    with naming_base():
        base: PredictionsLike = read_file(arguments, arguments.base_predictions, "predictions")
    return base


def read_value_options(arguments: argparse.Namespace) -> ValueOptions:
    """Return the options that say of what the values are, except the convention."""
    return {
        "exclude": arguments.exclude and read_file(arguments, arguments.exclude, "exclude"),
        "candidates": read_option(arguments, "candidates", arguments.candidates),
        "items": read_items(arguments),
        "base_predictions": read_base(arguments),
        "parents": _read_parents_option(arguments),
        "num_threads": arguments.threads,
        "unit_names": arguments.unit_names,
    }


def _read_parents_option(arguments: argparse.Namespace) -> ParentsLike | None:
    """Return the documents of chunks, or the rule for their ids; None if no option names them."""
    if arguments.parents_split is None:
        parents: ParentsLike | None = read_option(arguments, "parents", arguments.parents)
        return parents
    if arguments.parents is not None:
        raise input_error("--parents-split", "it or --parents", "both")
    with name_argument("--parents-split"):
        return exactk.Parents(arguments.parents_split)


@contextmanager
def naming_item_options() -> Iterator[None]:
    """Name the option in errors about what a metric needs to know of the items."""
    try:
        yield
    except exactk.ExactkError as error:
        hint = next((_HINTS[part] for part in _HINTS if any(part in str(one) for one in error.fault.hint)), None)
        if hint is None or error.argument not in {"items", "base_predictions"}:
            raise
        raise error.amended(hint=(hint,)) from error


_HINTS = {
    "item_groups=": "--catalogue FILE --item-group NAME names a column of groups",
    "values=": "--catalogue FILE --item-value NAME names a column of values",
    "features=": "--catalogue FILE --item-feature NAME names a column of features",
    "base_predictions=": "--base-predictions FILE names them",
    "exactk.Items(": "--train FILE names the training data",
}
"""What a hint says in Python, and on the command line."""
