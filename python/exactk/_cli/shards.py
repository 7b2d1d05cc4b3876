"""States of shards: evaluated one after another, read, and merged by a command."""

from __future__ import annotations

import argparse
import hashlib
import re
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import exactk
from exactk._cli.difference_options import add_bound_options, bound_cases, check_bounded, report_violations
from exactk._cli.input_options import (
    FORM_OPTIONS,
    Input,
    Provenance,
    add_command,
    add_format_option,
    add_state_option,
    check_inputs,
)
from exactk._cli.result import DATA_FORMATS, format_result
from exactk._cli.streams import STDIN, check_outputs, file_identities, input_path, path_text, print_message, print_text
from exactk._files.file_errors import File
from exactk._files.formats import format_of
from exactk._inputs.restrictions import Shard
from exactk._report.state import STATE_PREFIX, check_same_plan
from exactk._report.state_shape import MOST_SHARDS, MOST_SHOWN, ShardedRun, Shards, united_shards
from exactk._runtime.errors import EvaluationWarning, ExactkError, InputError, StateMismatchError, input_error
from exactk._runtime.faults import listed, plural
from exactk._runtime.written_files import replace_file, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from exactk._cli.input_options import Commands
    from exactk._cli.streams import Identity, StandardInput
    from exactk._plan.values import Value


_MAX_STATE = 1 << 28  # bytes; a state has a few hundred bytes per value, for any number of users


def find_states(paths: Iterable[Path]) -> list[Path]:
    """Return the files, and those of directories: all but hidden ones, which a killed run may leave, sorted by name.

    Raises
    ------
    InputError
        If a folder has no files, or something else, such as a pipe that nobody may write.
    """
    return [file for path in paths for file in (files_of_folder(path) if _is_folder(path) else [path])]


def _is_folder(path: Path) -> bool:
    return path != STDIN and path.is_dir()


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files of a folder but hidden ones, sorted by name; raise InputError if there are none."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not paths:
        raise input_error("states", "a folder with states", f"{str(folder)!r}, which has no files")
    for path in paths:
        File(path, "states").check_kind(pipes=False)
    return paths


def is_state(path: Path) -> bool:
    """Return whether a file begins as a state, which may be damaged."""
    with path.open("rb") as stream:
        return stream.read(len(STATE_PREFIX)) == STATE_PREFIX


def read_state(path: Path) -> exactk.State:
    """Return the state of a file. Raise InputError, which names the file, if it is damaged or of another kind."""
    file = File(path, "states")
    file.check_kind(pipes=True)
    with path.open("rb") as stream:
        data = stream.read(_MAX_STATE + 1)
    if len(data) > _MAX_STATE:
        raise file.fault(f"a state of at most {_MAX_STATE} bytes", "more")
    try:
        return exactk.State.from_bytes(data)
    except ExactkError as error:
        if not data.startswith(STATE_PREFIX):
            found = f"a file that begins with {data[:16]!r}" if data else "an empty file"
            raise file.fault("a state file", found, "exactk evaluate --state FILE writes one") from None
        hint = error.fault.hint or ("evaluate these users again, or copy the file again",)
        raise error.amended(source=str(path), hint=hint) from None


NO_SHARDS: Mapping[str, None] = dict.fromkeys(("shard", "shard_name", "shards", "shard_folder"))
"""The options, not given."""

READING_OPTIONS = (
    *("text_ids", "user", "item", "score", "rank", "grade"),
    *FORM_OPTIONS,
    *("item_group", "item_value", "item_feature"),
)  # fmt: skip
"""The options that say how files are read, on which values depend beside the files, the metrics and the convention."""

_TEMPORARY = ".exactk-shard-"  # begins the name of a file that is not whole
_MOST_CHARACTERS = 200  # of a name


def add_shard_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("shards of the users, for exactk merge")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--shard",
        type=_parse_shard,
        metavar="K/N",
        help="evaluate only the K-th of N shards of the users, which their keys decide, and write it with --state",
    )
    which.add_argument(
        "--shard-name",
        type=_parse_name,
        metavar="NAME",
        help="a name for the users of these files, in the file of --state: exactk merge refuses the same name twice",
    )
    which.add_argument(
        "--shards",
        type=_parse_shards,
        metavar="N",
        help="evaluate N shards, one after another, and keep each in --shard-folder: after a kill, the same command goes on",
    )
    group.add_argument(
        "--shard-folder",
        type=Path,
        metavar="DIR",
        help="the folder of the states of --shards, which is made if it does not exist; those that it has are used",
    )


def _parse_shard(text: str) -> Shard:
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
        message = (
            f"expected K/N such as 3/8, with K from 1 to N, found {text!r}; --shard-name names a shard of your own"
        )
        raise argparse.ArgumentTypeError(message)
    return Shard(int(match[1]), int(match[2]))


def _parse_name(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= _MOST_CHARACTERS:
        message = f"expected a name of 1 to {_MOST_CHARACTERS} printable characters, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return text


def _parse_shards(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MOST_SHARDS:
        message = f"expected an integer from 1 to {MOST_SHARDS}, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def check_shard_options(arguments: argparse.Namespace) -> None:
    """End the program for options that do not go together."""
    error = arguments.parser.error
    for option, value in (("--shard", arguments.shard), ("--shard-name", arguments.shard_name)):
        if value and not arguments.state:
            error(f"{option} goes with --state FILE, which exactk merge reads")
    if bool(arguments.shards) != bool(arguments.shard_folder):
        given, needed = ("--shards", "--shard-folder DIR") if arguments.shards else ("--shard-folder", "--shards N")
        error(f"{given} goes with {needed}")
    if arguments.shards and arguments.per_user:
        error("--per-user goes with --shard K/N, or without shards: states have no values of users")
    if arguments.shard_folder and arguments.state and _is_in(arguments.state, arguments.shard_folder):
        error("--state FILE goes into another folder than --shard-folder, which has the states of shards alone")
    if (arguments.shards or arguments.shard) and arguments.format == "trec":
        error("--format trec goes without shards; exactk merge --format trec prints their states")


def _is_in(path: Path, folder: Path) -> bool:
    return path.resolve().parent == folder.resolve()


def sharded_run(arguments: argparse.Namespace, inputs: Sequence[Input], shards: int) -> ShardedRun:
    """Return what says that shards belong together. Raise InputError for an input that can be read only once."""
    by_argument: dict[str, list[Input]] = {}
    for one in inputs:
        by_argument.setdefault(one.argument, []).append(one)
    digests = [_digests(argument, files, arguments.stdin) for argument, files in by_argument.items()]
    options = [(f"--{name.replace('_', '-')}", getattr(arguments, name)) for name in READING_OPTIONS]
    given = tuple((name, str(value)) for name, value in options if value)
    return ShardedRun(shards, exactk.__version__, tuple(digests), given)


def _digests(argument: str, files: Sequence[Input], stdin: StandardInput) -> tuple[str, str]:
    """Return an argument with the format of its files, and the SHA-256 of the file, or of those of several files."""
    digests = [_digest(argument, one.path, stdin) for one in files]
    format_name = format_of(File(files[0].path, argument))
    if len(digests) == 1:
        return f"{argument} ({format_name})", digests[0]
    return f"{argument} ({len(files)} files, {format_name})", hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(argument: str, path: Path, stdin: StandardInput) -> str:
    with stdin.opened(path) as content:
        file = File(content, argument)
        file.check_kind(pipes=False)
        with file.translate_errors("a file"), content.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


class FilesOfRun:
    """The input files of a command as they were when it began: a state says which content it is of."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = inputs
        self._before = [_version(one.path) for one in inputs]

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [one.path for one in self._inputs]

    def check(self) -> None:
        """Raise InputError if a file was changed since, so that what was read may not be what was hashed."""
        for one, before in zip(self._inputs, self._before, strict=True):
            if _version(one.path) != before:
                expected = "a file that nothing changes while it is read"
                found = f"{str(one.path)!r}, which was changed"
                raise input_error(one.argument, expected, found, hint="run the command again")


def _version(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:  # stdin; or a file that is missing, about which reading it raises
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class Task(NamedTuple):
    """An evaluation in shards."""

    run: ShardedRun
    plan: Sequence[Value]
    convention: exactk.Convention
    evaluate: Callable[[Shard], exactk.Report]
    files: FilesOfRun

    def difference(self, state: exactk.State) -> str:
        """Return how the evaluation that a state is of differs from this one; empty if it is one of its shards."""
        if state.shards is None or state.shards.run is None:
            return "it is no shard of --shard or --shards"
        differences = [state.shards.run.describe_difference(self.run)]
        spellings = tuple(value.spelling for value in self.plan)
        if state.spellings != spellings:
            differences.append(f"metrics {', '.join(state.spellings)} and {', '.join(spellings)}")
        convention = state.convention.diff(self.convention)
        differences += [f"{name} {one!r} and {other!r}" for name, (one, other) in convention.items()]
        return "; ".join(filter(None, differences))


def evaluate_shards(task: Task, folder: Path) -> exactk.Report:
    """Return the report of all shards, after evaluating those that the folder lacks, each into a file of its own."""
    folder.mkdir(exist_ok=True)
    states = _states_of_folder(task, folder)
    missing = _missing_shards(task.run, states)
    for shard in missing:
        _check_replaced(task, shard, folder)
    if states:
        kept = f"kept {plural(task.run.shards - len(missing), 'shard')} of {folder}"
        print_message("note", f"{kept}; warnings about their users were printed when they were evaluated")
    of_shards = _Warnings()
    for shard in missing:
        with of_shards.of(shard):
            report = task.evaluate(shard)
        task.files.check()
        path = _check_replaced(task, shard, folder)
        states[path] = report._of_shards(Shards((str(shard),), task.run)).state
        replace_file(path, states[path].to_bytes(), _TEMPORARY)
    _remove_leftovers(folder)
    of_shards.tell_others()
    return exactk.merge(list(states.values()))


def _states_of_folder(task: Task, folder: Path) -> dict[Path, exactk.State]:
    """Return the states that the folder has. Raise InputError for any file that is not of this evaluation."""
    states = {}
    own_names = {_file_name(Shard(number, task.run.shards)) for number in range(1, task.run.shards + 1)}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):  # left by a kill
            continue
        File(path, "--shard-folder").check_kind(pipes=False)
        try:
            state = read_state(path)
        except InputError as error:
            if path.name not in own_names or not is_state(path):
                raise
            print_message("warning", f"{error}; exactk evaluates this shard again")
            continue
        if difference := task.difference(state):
            found = f"{str(path)!r} of another: {difference}"
            hint = "name another folder, or remove the file"
            raise input_error("--shard-folder", "shards of this evaluation alone", found, hint=hint)
        states[path] = state
    return states


def _check_replaced(task: Task, shard: Shard, folder: Path) -> Path:
    """Return the file of a shard. Raise InputError if it has anything but a state of this shard, whole or damaged."""
    path, found = folder / _file_name(shard), "which is none of it"
    if path.is_symlink():
        found = "which is a link"
    elif not path.exists():
        return path
    elif is_state(path):
        check_outputs({"--shard-folder": path}, task.files.paths)
        try:
            state = read_state(path)
        except InputError:  # damaged
            return path
        if state.shards == Shards((str(shard),), task.run) and not task.difference(state):
            return path
    hint = "name another folder, or remove the file"
    raise input_error("--shard-folder", f"shard {shard} or no file", f"{str(path)!r}, {found}", hint=hint)


def _missing_shards(run: ShardedRun, states: Mapping[Path, exactk.State]) -> list[Shard]:
    """Return the shards that no state has. Raise StateMismatchError if several have one."""
    of_files = {repr(str(path)): state.shards for path, state in states.items()}
    united_shards(of_files, "--shard-folder")
    names = {name for shards in of_files.values() if shards is not None for name in shards.names}
    shards = (Shard(number, run.shards) for number in range(1, run.shards + 1))
    return [shard for shard in shards if str(shard) not in names]


def _file_name(shard: Shard) -> str:
    return f"shard-{shard.number}-of-{shard.shards}.state"


def _remove_leftovers(folder: Path) -> None:
    """Remove the files that killed runs began to write, once the folder has all shards: nobody else writes them then."""
    for leftover in folder.glob(f"{_TEMPORARY}*.tmp"):
        leftover.unlink(missing_ok=True)


class _Warnings:
    """The warnings of all shards: the first of each kind is shown at once, with its shard, and the others are counted."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._others = 0

    @contextmanager
    def of(self, shard: Shard) -> Iterator[None]:
        """Show the warnings of this block as those of the shard."""
        with warnings.catch_warnings():
            show = warnings.showwarning

            def show_first(message: Warning | str, category: type[Warning], *where: Any, **lines: Any) -> None:  # noqa: ANN401 - of showwarning
                kind = re.sub("[0-9.]+", "0", str(message))
                if kind in self._kinds:
                    self._others += 1
                    return
                self._kinds.add(kind)
                if isinstance(message, EvaluationWarning):
                    message = EvaluationWarning(f"shard {shard}: ", *message.args)
                show(message, category, *where, **lines)

            warnings.showwarning = show_first
            yield

    def tell_others(self) -> None:
        """Say how many warnings were not shown."""
        if self._others:
            print_message("note", f"{plural(self._others, 'more warning')} of these kinds, of other shards")


def shards_of_command(arguments: argparse.Namespace, inputs: Sequence[Input]) -> Shards | None:
    """Return the shard that the command evaluates, by its number or its name; None without one."""
    if arguments.shard_name:
        return Shards((arguments.shard_name,))
    if arguments.shard:
        return Shards((str(arguments.shard),), sharded_run(arguments, inputs, arguments.shard.shards))
    return None


def check_shards(states: Mapping[str, exactk.State], *, may_miss: bool) -> None:
    """Raise an error if a shard is in several of the states, by file, they are of several runs, or shards are missing."""
    shards = united_shards({name: state.shards for name, state in states.items()}, "states")
    missing = () if shards is None else shards.missing
    if not missing or shards is None:
        return
    are_missing = f"{listed(missing, MOST_SHOWN)} {'is' if len(missing) == 1 else 'are'} missing"
    if may_miss:
        print_message("warning", f"states: {are_missing}")
        return
    hint = f"exactk evaluate --shard {missing[0]} --state FILE makes one; --incomplete merges the others"
    found = f"{len(shards.names)}: {are_missing}"
    raise input_error("states", f"all {len(shards.names) + len(missing)} shards", found, hint=hint)


def add_merge(commands: Commands) -> None:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "merge",
        run_merge,
        "merge states of different users into one report",
        "exactk merge monday.state tuesday.state --state week.state",
        "The result equals one evaluation of all users, bit for bit.",
    )
    parser.add_argument(
        "states",
        type=input_path,
        nargs="+",
        metavar="STATE",
        help="file written by --state, a folder of them, or - for stdin; files must not share users: a state has no keys, "
        "so this is checked only of those with --shard or --shard-name",
    )
    parser.add_argument(
        "--incomplete",
        action="store_true",
        help="merge some of the shards of --shard K/N, although others are missing: the report says which it has",
    )
    add_format_option(parser)
    add_bound_options(parser)
    add_state_option(parser)


def run_merge(arguments: argparse.Namespace) -> int:
    paths = find_states(arguments.states)
    inputs = [Input("states", path) for path in paths]
    check_outputs({"--state": arguments.state}, paths)
    check_inputs(arguments, inputs)
    states = _read_states(arguments, paths)
    _check_same_plan(states)
    check_shards(states, may_miss=arguments.incomplete)
    report = exactk.merge(list(states.values()))
    check_bounded(report, arguments.bounds)
    if arguments.state:
        write_file(arguments.state, report.state.to_bytes())
    provenance = Provenance(arguments.command_line, inputs, arguments.stdin)
    print_text(format_result(report, arguments.format, provenance), is_data=arguments.format in DATA_FORMATS)
    return int(report_violations(bound_cases(report, arguments.bounds)))


def _read_states(arguments: argparse.Namespace, paths: Sequence[Path]) -> dict[str, exactk.State]:
    """Return the states by file. Raise InputError if a file is named twice."""
    seen: set[Identity] = set()
    states = {}
    for path in paths:
        identities = set(file_identities(path))
        if identities & seen:
            raise input_error(
                "states", "each file once, because users in several files count several times", f"{str(path)!r} again"
            )
        seen |= identities
        with arguments.stdin.opened(path) as content:
            states[repr(path_text(path))] = read_state(content)
    return states


def _check_same_plan(states: Mapping[str, exactk.State]) -> None:
    """Raise StateMismatchError, which names two files, if they differ in what they evaluate."""
    (first, state), *others = states.items()
    for name, other in others:
        try:
            check_same_plan(state, other, "states")
        except StateMismatchError as error:
            message = f"{error} (in {first} and {name})"
            raise StateMismatchError(message, "states") from None
