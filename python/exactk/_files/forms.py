"""Forms of files that are easily taken for another: what shows each, and the line that reads it.

Facts that the core gathers over every row tell TREC text from other text with as many fields. The first lines tell what a
file is that cannot be read in the format of its ending.
"""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from exactk._files.formats import COLUMN_SOURCES, JSON, TREC
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.paths import FilesOfSystems
from exactk._runtime.errors import ExactkError, warn
from exactk._runtime.faults import Option, Text, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exactk import _core
    from exactk._files.faults import File

_QRELS = ("query", "iteration", "document", "grade")
_RUN = ("query", "iteration", "document", "c4", "score", "c6")
_BY_RANK = ("query", "iteration", "document", "rank", "c5", "c6")
_ITERATION = re.compile(
    r"q?[0-9](\.[0-9]+)?|qo|iter(ation)?[0-9]*|[-_*.]|n/?a|nan|null|none|x+|dummy|unused", re.IGNORECASE
)
_TREC_LINE = re.compile(
    rf"\s*\S+\s+({_ITERATION.pattern})\s+\S+\s+([-+]?[0-9]+|\S+\s+[-+.0-9e]+\s+\S.*)\s*", re.IGNORECASE
)
_SUBTOPIC = re.compile(r"[0-9]{1,2}(\.[0-9]+)?")
_USUAL = frozenset({"0", "q0", "Q0"})  # all of them if files are joined
_SHARE_OF_TIMES = 0.99
_LOWEST_GRADE, _HIGHEST_GRADE = -1000, 10**6
_WITH_ORDER = frozenset({"predictions", "scores"})
_OF_ITEMS = _WITH_ORDER | {"truth", "exclude", "candidates"}


def _varies(facts: Any) -> bool:  # noqa: ANN401
    return len(facts.iterations) > 1 and not _USUAL.issuperset(facts.iterations)


def _has_other_iterations(facts: Any) -> bool:  # noqa: ANN401
    if not _varies(facts):
        return not all(map(_ITERATION.fullmatch, facts.iterations))
    is_other = facts.is_run or facts.documents_are_numbers
    return bool(is_other) or not all(map(_SUBTOPIC.fullmatch, facts.iterations))


def _has_other_grades(facts: Any) -> bool:  # noqa: ANN401
    return bool(((facts.numbers < _LOWEST_GRADE) | (facts.numbers >= _HIGHEST_GRADE)).any())


def _are_ratings(facts: Any) -> bool:  # noqa: ANN401
    return _has_other_grades(facts) and _has_other_iterations(facts)


def _has_score_first(facts: Any) -> bool:  # noqa: ANN401
    is_counted = 0 < facts.queries == facts.counted_scores and facts.counted_ranks == 0
    return is_counted or (facts.fraction_rank[0] > 0 and bool((facts.numbers % 1 == 0).all()))


def _has_other_fields(facts: Any) -> bool:  # noqa: ANN401
    least = max(facts.rows * _SHARE_OF_TIMES, 1)
    has_times = facts.times >= least or (facts.contradicted > 0 and facts.score_times >= least)
    has_other_tag = facts.tags_vary and facts.tags_are_numbers
    return bool(facts.rank_text[0] or facts.fraction_rank[0] or has_times or has_other_tag)


class Form(NamedTuple):
    """A form whose rows have as many fields as those of TREC."""

    is_shown: Callable[[Any], bool]
    found: str
    names: tuple[str, ...]  # of the fields, in this form
    sample: str  # the fact that has a line which shows it


_SECOND = "{} as second field"
_LARGE = f"grades beyond {_LOWEST_GRADE} to {_HIGHEST_GRADE}, as times are"
_FORMS_OF_QRELS = (
    Form(_are_ratings, _LARGE, ("user", "item", "rating", "time"), "other_iteration"),
    Form(_has_other_grades, _LARGE, ("user", "c2", "item", "c4"), "other_iteration"),
    Form(_has_other_iterations, _SECOND, ("user", "item", "rating", "c4"), "other_iteration"),
)
_FORMS_OF_RUNS = (
    Form(_has_other_iterations, _SECOND, ("user", "item", "c3", "c4", "score", "c6"), "other_iteration"),
    Form(_has_score_first, "scores before ranks", (*_RUN[:3], "score", "c5", "c6"), "fraction_rank"),
    Form(
        _has_other_fields,
        "other fields than rank, score, tag",
        ("user", "c2", "item", "c4", "score", "c6"),
        "rank_text",
    ),
)


def check_trec(file: File, columns: _core.TrecColumns) -> None:
    """Raise InputError if the rows show another form than that of TREC, with a line for each reading."""
    facts = SimpleNamespace(**columns.facts, numbers=columns.numbers)
    expected = (
        "a run of TREC (query Q0 document rank score tag)" if facts.is_run else f"qrels of TREC ({' '.join(_QRELS)})"
    )
    line, text = next((one for one in (facts.shifted, facts.rank_text) if len(one[1].split()) > len(_RUN)), (0, b""))
    if line:
        raise file.line_fault(expected, "more fields", line, text, blanks_hint(file, text))
    form = next((form for form in (_FORMS_OF_RUNS if facts.is_run else _FORMS_OF_QRELS) if form.is_shown(facts)), None)
    if form is None:
        return
    found = form.found.format(_second(facts))
    separator = "," if all("," in text for text in facts.iterations) else None
    hint = (
        f"if the fields are {', '.join(form.names)}: ",
        _named(file, form.names, separator),
        "; if it is TREC: ",
        _named(file, _RUN if facts.is_run else _QRELS),
    )
    line, text = getattr(facts, form.sample)
    raise file.line_fault(expected, found, line, text, hint) if line else file.fault(expected, found, hint)


def _second(facts: Any) -> str:  # noqa: ANN401
    return " and ".join(map(repr, facts.iterations[:2]))


def blanks_hint(file: File, text: bytes) -> str:
    """Return what to do about a row that has too many fields; nothing for others."""
    most = len(_RUN if file.role in _WITH_ORDER else _QRELS)
    return "ids of TREC hold no blanks; those in TSV may" if len(text.split()) > most else ""


def warn_of_trec(files: Sequence[tuple[File, _core.TrecColumns]]) -> None:
    """Warn of second fields that may be subtopics, and of ranks that contradict scores, in the files of an argument."""
    file, facts = files[0][0], SimpleNamespace(**files[0][1].facts)
    if file.role == "truth" and _varies(facts) and all(map(str.isdigit, facts.iterations)):
        warn(
            f"{file.role}: the second field of {_path(file)}, {_second(facts)}, is taken for an iteration, as in qrels of "
            "TREC; if it is a subtopic, ",
            f"{_awk(file, f'$2 == {facts.iterations[0]}')}.qrels",
            " selects one; if not, ",
            _named(file, _QRELS),
            " says so",
        )
    if file.role in _WITH_ORDER:
        runs = [Run(file, SimpleNamespace(**columns.facts), _first_contradicted(columns)) for file, columns in files]
        pending = FilesOfSystems.pending.get()
        warn_of_ranks(runs) if pending is None else pending.extend(runs)


class Run(NamedTuple):
    """What the ranks of a file show."""

    file: File
    facts: Any
    first: str  # query whose ranks contradict its scores


def _first_contradicted(columns: _core.TrecColumns) -> str:
    row = columns.facts["first_contradicted"]
    begin, end = columns.query_offsets[row : row + 2].tolist() if row >= 0 else (0, 0)
    return columns.queries[begin:end].tobytes().decode()


def warn_of_ranks(runs: Sequence[Run]) -> None:
    """Warn once of ranks that contradict scores in any of the runs."""
    found = [run for run in runs if run.facts.contradicted]
    if not found:
        return
    file = found[0].file
    queries = f"{sum(run.facts.contradicted for run in found)} of {sum(run.facts.queries for run in runs)} queries"
    others = f" and {plural(len(found) - 1, 'other file')}" if len(found) > 1 else ""
    copied = ", as scores are ranks copied" if all(run.facts.copied_ranks == run.facts.rows for run in found) else ""
    warn(
        f"{file.role}: {queries} have ranks that contradict their scores in {_path(file)}{others}{copied}, first {found[0].first}; "
        "scores decide, as in trec_eval. ",
        _named(file, _BY_RANK),
        " orders by rank; ",
        _named(file, _RUN),
        " leaves out ranks",
    )


def _path(file: File) -> str:
    return "stdin" if str(file.path).startswith(("/dev/", "/proc/")) else shlex.quote(str(file.path))


def _awk(file: File, program: str, options: str = "") -> str:
    """Return the command that writes the output of a program; the ending is to be added."""
    command = f"awk {options}{shlex.quote(program)}"
    path = _path(file)
    return f"gunzip -c {path} | {command} > {path}" if file.is_compressed else f"{command} {path} > {path}"


def _named(file: File, names: Sequence[str], separator: str | None = None) -> Option:
    """Return how to read the file by pandas, or on the command line as TSV, with these names unless it has its own."""
    options = f"sep={separator!r}" if separator else r"sep=r'\s+', index_col=False"  # which shifts no longer row
    if names:
        options += f", names={list(names)!r}"
    if "query" in names:  # ids of TREC are text
        options += ", dtype={'query': str, 'document': str}"
    if separator == "::":
        options += ", engine='python'"
    code = f"{file.role}=pandas.read_csv({str(file.path)!r}, {options})"
    header = ", ".join(f'"{name}"' for name in names)
    program = f"BEGIN {{print {header}}} {{$1 = $1}} 1" if names else "{$1 = $1} 1"
    command = _awk(file, program, f"-F {separator!r} -v OFS='\\t' " if separator else "-v OFS='\\t' ")
    return Option(file.role, "", code.replace("{", "{{").replace("}", "}}"), f"{command}.tsv")


_NO_NAMES = "if no line has column names: "
_HEAD_LINES, _HEAD_SIZE = 20, 1 << 16  # bytes of a line
_SEPARATORS = {"::": "", ",": "CSV", "\t": "TSV", ";": "", "|": "", None: ""}
"""Separators, the last of which is blanks, and the formats that have them."""


def _first_lines(file: File) -> list[str]:
    """Return the first lines of a regular file; nothing of what cannot be read twice, or is no text."""
    with suppress(OSError, ExactkError, UnicodeError, *DECOMPRESSION_ERRORS):
        if file.path.is_file():
            with open_bytes(file) as stream:
                lines = [stream.readline(_HEAD_SIZE).decode("utf-8-sig") for _ in range(_HEAD_LINES)]
            return [line.strip("\r\n") for line in lines if line.strip()]
    return []


def advice(file: File, format_name: str) -> Text:
    """Return what a file is that cannot be read in its format, and the line that reads it; nothing if that is unclear."""
    lines = _first_lines(file)
    if not lines:
        return ()
    if lines[0][0] in "{[":
        are_rows = len(lines) > 1 and all(line[0] + line[-1] == "{}" for line in lines)
        name, ending = ("JSON lines", ".jsonl") if are_rows else (JSON, ".json")
        return () if format_name in {name, "JSON lines"} else _copied(file, name, ending)
    if file.role in _OF_ITEMS and all(map(_TREC_LINE.fullmatch, lines)):
        ending = ".qrels" if len(lines[0].split()) == len(_QRELS) else ".run"
        return () if format_name == TREC else _copied(file, TREC, ending)
    for separator, name in _SEPARATORS.items():
        rows = [[field.strip() for field in line.split(separator)] for line in lines]
        if len(rows[0]) == 1 or len({*map(len, rows)}) > 1:
            continue
        if not any(usual_role(field.removesuffix(":token")) for field in rows[0]):
            return _unnamed(file, rows, separator)
        return () if name == format_name else (f"its separator is {separator or ' '!r}: ", _named(file, (), separator))
    return ()


def _copied(file: File, name: str, ending: str) -> Text:
    return (f"it is {name}: ", f"cp {_path(file)} {_path(file)}{ending}{'.gz' if file.is_compressed else ''}")


def _unnamed(file: File, rows: list[list[str]], separator: str | None) -> Text:
    """Return how to read rows without a line of column names; integers of predictions may be ranks or scores."""
    width = len(rows[0])
    others = tuple(f"c{i}" for i in range(4, width + 1))
    if width in {len(_QRELS), len(_RUN) - 1} and all(_ITERATION.fullmatch(row[1]) for row in rows):
        return (_NO_NAMES, _named(file, (_QRELS if width == len(_QRELS) else _RUN)[:width], separator))
    value = "score" if file.role in _WITH_ORDER else "rating"
    line = _named(file, ("user", "item", value, *others)[:width], separator)
    if value == "rating" or width == 2 or not all(row[2].isdigit() for row in rows):
        return (_NO_NAMES, line)
    return (_NO_NAMES, line, "; or, by rank: ", _named(file, ("user", "item", "rank", *others), separator))


@contextmanager
def advising(file: File, format_name: str) -> Iterator[None]:
    """Say in errors about the file, unless it is read as TREC text, of what other form it is, if that explains them."""
    try:
        yield
    except ExactkError as error:
        hint = () if format_name == TREC else advice(file, format_name)
        is_unnamed = hint[:1] == (_NO_NAMES,) and format_name in COLUMN_SOURCES  # it may have unusual names
        if not hint or (is_unnamed and not error.fault.hint):
            raise
        raise error.amended(hint=(*error.fault.hint, "; ", *hint) if is_unnamed else hint) from error.__cause__
