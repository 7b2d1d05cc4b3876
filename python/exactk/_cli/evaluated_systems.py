"""The systems that a command evaluates: their files and names, their values, what is written of them."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from glob import escape
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import exactk
from exactk._cli import trec
from exactk._cli.difference_options import (
    bound_cases,
    check_bounded,
    check_claims,
    check_gates,
    check_margins,
    check_pairs,
    check_systems,
    claim_option,
    claimed_values,
    clusters_column,
    clusters_path,
    compared_systems,
    given_options,
    margins_of,
    report_gate,
    report_violations,
    values_of_bounds,
)
from exactk._cli.input_options import (
    Input,
    Provenance,
    changes_of,
    check_inputs,
    name_argument,
    naming_item_options,
    paths_of_options,
    read_file,
    read_option,
    read_system,
    read_value_options,
    user_column,
)
from exactk._cli.result import check_user_table_path, user_table_file
from exactk._cli.shards import FilesOfRun, Task, check_shard_options, evaluate_shards, sharded_run, shards_of_command
from exactk._cli.streams import STDIN, check_outputs, path_text
from exactk._engine.differing_users import CONCATENATE
from exactk._evaluate import DEFAULTS
from exactk._files import has_columns
from exactk._files.file_errors import COMPRESSIONS
from exactk._files.folders import files_of_pattern, files_of_text
from exactk._inputs.registry import FilesOfSystems
from exactk._inputs.restrictions import Shard, users_of_shard
from exactk._plan.conventions import as_convention
from exactk._plan.metric_strings import plan
from exactk._report.verdicts import Case, Gate, junit_cases, junit_report
from exactk._runtime import optional
from exactk._runtime.errors import EvaluationWarning, InUnits, input_error
from exactk._runtime.written_files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from exactk._cli.difference_options import ClaimedValue
    from exactk._cli.result import Result
    from exactk._options import Options


class _Argument(NamedTuple):
    """A system argument."""

    name: str  # empty if not given
    text: str  # a path or a pattern


def find_systems(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system by its name, from arguments such as ``runs/als-*.parquet`` or ``als=runs``."""
    parsed = [_parse(argument) for argument in arguments]
    files = [find_files(text) for _, text in parsed]
    if repeated := _first_repeated(path.absolute() for path in chain.from_iterable(files)):
        path = next(path for path in chain.from_iterable(files) if path.absolute() == repeated)
        raise input_error("predictions", "each file once", f"{path_text(path)!r} twice")
    given = [name for name, _ in parsed if name]
    if repeated := _first_repeated(given):
        raise input_error("predictions", "a distinct name for each system", f"{repeated!r} twice")
    derived = name_systems([Path(text) for name, text in parsed if not name], given)
    names = {path: name for name, path in derived.items()}
    return {name or names[Path(text)]: paths for (name, text), paths in zip(parsed, files, strict=True)}


def _parse(argument: str) -> _Argument:
    """Return the name, if any, and the path or pattern, choosing the reading that names existing files."""
    name, _, text = argument.partition("=")
    if not name or not text or "/" in name:
        return _Argument("", argument)
    if not _names_files(argument):
        return _Argument(_printable_name(name), text)
    if _names_files(text):
        hint = f"{shlex.quote(f'./{argument}')} selects the path, {shlex.quote(f'{name}=./{text}')} names the system"
        found = f"{argument!r} and {text!r}"
        raise input_error("predictions", "either a path or NAME=PATH, and both exist", found, hint=hint)
    return _Argument("", argument)


def _names_files(text: str) -> bool:
    return os.path.lexists(text) or bool(files_of_pattern(text))


def find_files(text: str) -> list[Path]:
    """Return the files that a path or a pattern names, or stdin."""
    return [STDIN] if text == "-" else files_of_text(text)


def _first_repeated(values: Iterable[Any]) -> Any:  # noqa: ANN401 - one of the values
    return next((value for value, count in Counter(values).items() if count > 1), None)


def name_systems(paths: Sequence[Path], reserved: Collection[str] = ()) -> dict[str, Path]:
    """Return the paths by their shortest unique names: the stem, or as much of the path as needed."""
    candidate_names = {path: list(dict.fromkeys(_candidate_names(path))) for path in paths}
    name_counts = Counter([*reserved, *(name for names in candidate_names.values() for name in names)])
    return {
        next((name for name in names if name_counts[name] == 1), str(path)): path
        for path, names in candidate_names.items()
    }


def _candidate_names(path: Path) -> Iterator[str]:
    """Yield the possible names of a file's system, the shortest first."""
    parts = Path(os.path.abspath(path)).parts  # noqa: PTH100 - resolves "." and ".."
    for last in (_stem(parts[-1]), parts[-1]):
        for depth in range(len(parts) - 1):
            name = "/".join([*parts[len(parts) - 1 - depth : -1], last])
            yield _printable_name(name)


def _printable_name(name: str) -> str:
    """Return a file name as text, with invalid bytes escaped."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _stem(name: str) -> str:
    path = Path(name)
    name = path.stem if path.suffix.lower() in COMPRESSIONS else name
    return name.rpartition(".")[0] or name


@contextmanager
def advising_on_shards(systems: Mapping[str, Sequence[Path]]) -> Iterator[None]:
    """Add a hint to the warning about systems that look like shards of one."""
    pattern = _common_pattern(list(chain.from_iterable(systems.values())))
    advice = f"write {shlex.quote(pattern)}" if pattern else "write a quoted pattern, or NAME=PATTERN"
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_with_advice(message: Warning | str, category: type[Warning], *where: Any, **lines: Any) -> None:  # noqa: ANN401
            if isinstance(message, EvaluationWarning):
                parts = message.args
                message = EvaluationWarning(
                    *(part.replace(CONCATENATE, advice) if isinstance(part, str) else part for part in parts)
                )
            show(message, category, *where, **lines)

        warnings.showwarning = show_with_advice
        yield


def _common_pattern(paths: Sequence[Path]) -> str | None:
    """Return a pattern that matches exactly these files, if there is one."""
    components = list(zip(*(path.parts for path in paths), strict=False))
    pattern = str(Path(*(_pattern_of_names(names) for names in components)))
    return pattern if len(paths) > 1 and files_of_pattern(pattern) == sorted(paths) else None


def _pattern_of_names(names: Sequence[str]) -> str:
    if len(set(names)) == 1:
        return escape(names[0])
    prefix = _common_begin(names)
    suffix = _common_begin([name[len(prefix) :][::-1] for name in names])[::-1]
    return f"{escape(prefix)}*{escape(suffix)}"


def _common_begin(names: Sequence[str]) -> str:
    characters = zip(*names, strict=False)
    return "".join(same[0] for same in takewhile(lambda same: len(set(same)) == 1, characters))


def check_comparison(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> None:
    """Raise InputError for bounds, gates and options of differences that the systems do not have; ImportError without SciPy."""
    check_systems(arguments.bounds, systems)
    compared = compared_systems(arguments, list(systems))
    check_gates(arguments, compared)
    if option := asked_differences(arguments):
        check_pairs(arguments, compared)
        optional.require("scipy", option)


class EvaluationRequest(NamedTuple):
    """What a command computes, known before any file is read."""

    base: str  # the preset
    convention: exactk.Convention
    metrics: Sequence[str]
    trec: trec.Request | None  # for the output of trec_eval
    margins: Mapping[str, str]
    claims: Sequence[ClaimedValue]


class Data(NamedTuple):
    """What the files of a command hold."""

    truth: Any
    predictions: Mapping[str, Any]  # by system
    options: Options


class Evaluated(NamedTuple):
    """What a command has evaluated; the files of values are written."""

    request: EvaluationRequest
    data: Data | None  # None for shards
    result: Result
    gate: Gate
    bounded: Sequence[Case]
    provenance: Provenance


def exit_code(evaluated: Evaluated) -> int:
    """Print which values are beyond their bounds and which claims do not hold, and return the exit code."""
    has_violation = report_violations(evaluated.bounded)
    code = report_gate(evaluated.gate)
    return 1 if has_violation else code


def evaluate_systems(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> Evaluated:
    """Evaluate the files of each system by its name; the only system of `exactk evaluate` has none."""
    with advising_on_shards(systems), InUnits(arguments.unit_names):
        return _evaluate_systems(arguments, systems)


def _evaluate_systems(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> Evaluated:
    inputs = _inputs(arguments, systems)
    _check_options(arguments, inputs)
    request = _request(arguments)
    files = FilesOfRun(inputs)
    shards = shards_of_command(arguments, inputs)
    result: Result
    if arguments.shards:
        data, result = None, _evaluate_shards(arguments, systems, inputs, request, files)
    else:
        data = _read(arguments, systems, request)
        if arguments.shard:
            data = _of_shard(data, arguments.shard)
        result = _evaluate(arguments, request, data)
    if shards and isinstance(result, exactk.Report):
        files.check()
        result = result._of_shards(shards)
    with InUnits(result.unit_names):
        if request.trec and data:
            trec.check_complete(request.base, data.truth, data.predictions, result)
            trec.check_evaluated(result)
        check_bounded(result, arguments.bounds)
    gate = (
        check_claims(result, request.claims, arguments.gate_group)
        if isinstance(result, exactk.Comparison)
        else Gate(())
    )
    bounded = list(bound_cases(result, arguments.bounds))
    _write_files(arguments, result, [*junit_cases(gate), *bounded])
    provenance = Provenance(arguments.command_line, inputs, arguments.stdin)
    return Evaluated(request, data, result, gate, bounded, provenance)


def _read(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]], request: EvaluationRequest) -> Data:
    truth = read_file(arguments, arguments.truth, "truth")
    options: Options = {
        "convention": request.convention,
        **read_value_options(arguments),
        **_user_values(arguments),
        "per_user": bool(arguments.users or arguments.per_user or _page_path(arguments)),
        "progress": _has_progress_bar(arguments),
    }
    with FilesOfSystems():
        return Data(
            truth, {system: read_system(arguments, paths, system) for system, paths in systems.items()}, options
        )


def _of_shard(data: Data, shard: Shard) -> Data:
    """Return the data of the users of a shard; the other inputs may have more users."""
    truth, predictions = users_of_shard(data.truth, data.predictions[""], shard)
    return data._replace(truth=truth, predictions={"": predictions})


def _evaluate(arguments: argparse.Namespace, request: EvaluationRequest, data: Data) -> Result:
    with naming_item_options():
        if "" in data.predictions:
            return exactk.evaluate(data.truth, data.predictions[""], request.metrics, **data.options)
        how = _comparison_options(arguments, request)
        return exactk.compare(data.truth, data.predictions, request.metrics, **data.options, **how)


def _evaluate_shards(
    arguments: argparse.Namespace,
    systems: Mapping[str, Sequence[Path]],
    inputs: Sequence[Input],
    request: EvaluationRequest,
    files: FilesOfRun,
) -> exactk.Report:
    """Evaluate the shards that the folder lacks; the files are read once, and not at all if it has all."""
    read: list[Data] = []

    def evaluate(shard: Shard) -> exactk.Report:
        if not read:
            read.append(_read(arguments, systems, request))
        report = _evaluate(arguments, request, _of_shard(read[0], shard))
        assert isinstance(report, exactk.Report)  # noqa: S101 - of `exactk evaluate`
        return report

    run = sharded_run(arguments, inputs, arguments.shards)
    task = Task(run, plan(request.metrics, request.convention), request.convention, evaluate, files)
    return evaluate_shards(task, arguments.shard_folder)


def _check_options(arguments: argparse.Namespace, inputs: Sequence[Input]) -> None:
    """Raise InputError, or end the program, for options that do not go together, and for files that are not as asked."""
    as_trec = arguments.format == "trec"
    if arguments.users and not as_trec:
        arguments.parser.error("-q goes with --format trec; --per-user writes each user's values to a file")
    if arguments.complete and not as_trec:
        arguments.parser.error(
            "-c goes with --format trec; --set missing_list=... says what users without a list count"
        )
    if arguments.documents and not as_trec:
        arguments.parser.error("-N goes with --format trec, whose utility counts documents outside of both files")
    if arguments.groups and as_trec:
        arguments.parser.error("--groups goes with any format but trec, which has no values of groups")
    option = asked_differences(arguments)
    if option and as_trec and not arguments.gates:
        arguments.parser.error(f"{option} goes with any format but trec, which has no differences, or with a gate")
    check_shard_options(arguments)
    if arguments.per_user:
        check_user_table_path(arguments.per_user)
    outputs = {"--per-user": arguments.per_user, "--state": _state_path(arguments), "--junit": arguments.junit}
    page = _page_path(arguments)
    check_outputs({**outputs, "-o": page}, [one.path for one in inputs], prints=page is None)
    check_inputs(arguments, inputs)


def _request(arguments: argparse.Namespace) -> EvaluationRequest:
    """Return what to compute. Raise InputError for invalid names of metrics and of the convention, and for claims."""
    as_trec = arguments.format == "trec"
    with name_argument("--convention"):
        base = as_convention(arguments.convention or (trec.CONVENTION if as_trec else DEFAULTS["convention"])).name
    base = trec.complete_base(base) if arguments.complete else base
    convention = as_convention({"base": base, **changes_of(arguments)})
    of_trec = None
    if as_trec:
        measures = arguments.metrics or trec.DEFAULT_MEASURES
        of_trec = trec.parse_measures(measures, base, convention.min_grade, arguments.documents)
    requested = of_trec.metrics if of_trec else arguments.metrics or list(arguments.default_metrics)
    margins = margins_of(arguments, convention)
    claims = claimed_values(arguments.gates, convention, margins)
    of_bounds = values_of_bounds(arguments.bounds, convention)
    values = [*plan(requested, convention), *of_bounds, *(one.value for one in claims)]
    check_margins(margins, values)
    return EvaluationRequest(base, convention, [value.spelling for value in values], of_trec, margins, claims)


def _comparison_options(arguments: argparse.Namespace, request: EvaluationRequest) -> dict[str, Any]:
    """Return the options of `exactk.compare` that were given."""
    return {
        **given_options(arguments),
        "margin": request.margins.get("", request.margins or None),
        "clusters": clusters_column(arguments) or read_option(arguments, "clusters", clusters_path(arguments)),
    }


def _write_files(arguments: argparse.Namespace, result: Result, cases: Sequence[Case]) -> None:
    if arguments.per_user:
        write_file(arguments.per_user, user_table_file(result, arguments.per_user))
    state_path = _state_path(arguments)
    if state_path and isinstance(result, exactk.Report):
        write_file(state_path, result.state.to_bytes())
    if arguments.junit:
        write_file(arguments.junit, junit_report(cases).encode(errors="backslashreplace"))


def _state_path(arguments: argparse.Namespace) -> Path | None:
    return getattr(arguments, "state", None)  # of `exactk evaluate`


def _page_path(arguments: argparse.Namespace) -> Path | None:
    return getattr(arguments, "output", None)  # of `exactk report`


def asked_differences(arguments: argparse.Namespace) -> str:
    """Return the first option that asks for differences; empty if there is none."""
    options = [
        *(f"--{name}" for name in given_options(arguments)),
        *(claim_option(gate.claim) for gate in arguments.gates),
    ]
    return next(iter(options), "")


def _inputs(arguments: argparse.Namespace, systems: Mapping[str, Sequence[Path]]) -> list[Input]:
    """Return the files that the command reads."""
    predictions = [Input("predictions", path, system or None) for system, paths in systems.items() for path in paths]
    others = {**paths_of_options(arguments), "clusters": clusters_path(arguments)}
    return [
        Input("truth", arguments.truth),
        *predictions,
        *(Input(name, path) for name, path in others.items() if path),
    ]


def _user_values(arguments: argparse.Namespace) -> Options:
    """Return the groups and weights, and, if their files or that of clusters have columns, the name of the user column."""
    values: Options = {
        "groups": read_option(arguments, "groups", arguments.groups),
        "weights": read_option(arguments, "weights", arguments.weights),
    }
    paths = {"groups": arguments.groups, "weights": arguments.weights, "clusters": clusters_path(arguments)}
    if any(path and has_columns(path, name) for name, path in paths.items()):
        values["user"] = user_column(arguments)
    return values


def _has_progress_bar(arguments: argparse.Namespace) -> bool:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return not arguments.no_progress and is_terminal and optional.has("rich")
