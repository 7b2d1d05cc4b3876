"""The command line: one module per command, whose `add_...` function adds its parser and the function that runs it."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from exactk import ExactkError, __version__
from exactk._cli.difference_options import CLAIMS, NOT_GIVEN, claim_option
from exactk._cli.evaluation_commands import add_compare, add_evaluate, add_explain, add_report
from exactk._cli.other_commands import OTHER_COMMANDS
from exactk._cli.shards import add_merge
from exactk._cli.streams import (
    StandardInput,
    as_command_option,
    flush_streams,
    print_message,
    print_text,
    print_to_stderr,
    warnings_as_lines,
)
from exactk._report.comparison_options import similar_choice
from exactk._runtime.texts import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _typeshed import SupportsWrite

    from exactk._cli.input_options import Commands

COMMANDS = (add_evaluate, add_compare, add_explain, add_report, add_merge, *OTHER_COMMANDS)

_OPTIONS: Mapping[str, str] = {
    "convention": "--set",
    "metrics": "--metric",
    "num_threads": "--threads",
    "k": "-k",
    **{name: f"--{name.replace('_', '-')}" for name in ("title", "note", "examples", "item_names", "tag")},
    **{name: f"--{name}" for name in NOT_GIVEN if name != "clusters"},  # a file, as other inputs are
    **{claim: claim_option(claim) for claim in CLAIMS},
}
"""The options that set an argument, for messages."""

_BUG = 70  # EX_SOFTWARE of sysexits.h


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 for success; 1 if a value is below ``--min`` or above ``--max``, or a gate fails; 2 if the input is invalid or an
    output cannot be written; 3 if a gate is undecided; 70 after an internal error; 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # escape names that the encoding lacks
    code = _exit_code(lambda: _run(argv))
    return _exit_code(flush_streams) or code


def _run(argv: Sequence[str] | None) -> int:
    parser = command_parser()
    words = sys.argv[1:] if argv is None else argv
    arguments, unrecognized = parser.parse_known_args(words)
    arguments.command_line = [parser.prog, *words]
    command: argparse.ArgumentParser = getattr(arguments, "parser", parser)
    if unrecognized:
        command.error(f"unrecognized arguments: {' '.join(unrecognized)}{_option_hint(unrecognized, command)}")
    if arguments.command is None:
        print_text(parser.format_help())
        return 0
    with warnings_as_lines(), StandardInput() as arguments.stdin:
        try:
            code: int = arguments.run(arguments)
        except Exception as error:
            if on_error := getattr(arguments, "on_error", None):
                on_error(arguments, _error_text(error))
            if not isinstance(error, ExactkError):
                raise
            if _argument_of(error).startswith("-") or _argument_of(error).isupper():  # an option or METAVAR
                command.error(_error_text(error))
            raise
    return code


def _option_hint(words: Sequence[str], command: argparse.ArgumentParser) -> str:
    """Return a hint with the option that is most similar to the first of these that looks like one."""
    first = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
    names = [name for action in command._actions for name in action.option_strings]  # noqa: SLF001 - argparse has no other way
    hint = did_you_mean(first, names) if first else ""
    return f"; {hint}" if hint else ""


def _exit_code(action: Callable[[], int | None]) -> int:
    """Return the exit code of an action, or of the error that it raised, which is printed."""
    try:
        return action() or 0
    except SystemExit as ended:  # argparse has already printed
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return 130
    except (ExactkError, OSError, ImportError, MemoryError) as error:
        with suppress(OSError):  # stderr is full
            print_message("error", _error_text(error))
        return error.exit_code if isinstance(error, ExactkError) else ExactkError.exit_code
    except Exception:  # noqa: BLE001 - whatever it is, its exit code is not that of --min
        with suppress(OSError):
            traceback.print_exc()
            print_message("error", "this is a bug in exactk: please report it with the output of exactk doctor")
        return _BUG


class _Parser(argparse.ArgumentParser):
    """A parser that prints as the commands do: argparse itself ignores errors when writing."""

    def error(self, message: str) -> NoReturn:
        print_message("error", f"{message.removeprefix('argument ')}; see {self.prog} --help")
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - of any type
        if action.choices is not None and value not in action.choices:
            names = list(map(str, action.choices))
            hint = similar_choice(action.dest, str(value), names)
            message = f"expected one of {', '.join(names)}, found {value!r}" + (f"; {hint}" if hint else "")
            raise argparse.ArgumentError(action, message)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is sys.stdout:
            print_text(message)
        else:
            print_to_stderr(message)


def command_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets `run`, a function from the arguments to the exit code."""
    parser = _Parser(prog="exactk", description="Ranking and recommendation metrics.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands: Commands = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser)
    for add in COMMANDS:
        add(commands)
    return parser


def _argument_of(error: ExactkError) -> str:
    """Return the invalid argument, as it is called on the command line."""
    argument = error.fault.argument
    return _OPTIONS.get(argument, argument)


def _error_text(error: BaseException) -> str:
    """Return the text of an error."""
    text = str(error)
    if isinstance(error, ExactkError):
        text = error.fault._replace(argument=_argument_of(error)).message(as_command_option)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    return text or "there is not enough memory"
