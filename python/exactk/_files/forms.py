"""Forms of files that are easily taken for another, as rows of tables: what shows each, and the line that reads it.

Facts that the core gathers over every row tell TREC text from other text with as many fields. The first lines tell what a
file is that cannot be read in the format of its ending.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exactk._files.formats import COLUMN_SOURCES, TREC, ending_hint
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes
from exactk._inputs.keys.column_roles import usual_role
from exactk._inputs.paths import FilesOfSystems
from exactk._runtime.errors import ExactkError, InputError, warn
from exactk._runtime.faults import Option, Text, as_text, plural
from exactk._runtime.numbers import parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from exactk import _core
    from exactk._files.faults import File

Rewriting: TypeAlias = "str | tuple[str, ...]"
"""A program of awk that writes the rows anew, or the names of their columns."""

_ITERATION = re.compile(
    r"q?[0-9](\.[0-9]+)?|qo|iter(ation)?[0-9]*|[-_*.]|n/?a|nan|null|none|x+|dummy|unused", re.IGNORECASE
)
_SUBTOPIC = re.compile(r"[0-9]{1,2}(\.[0-9]+)?")
_USUAL = frozenset({"0", "q0", "Q0"})  # all of them if files are joined
_SHARE_OF_TIMES, _TIME_DIGITS = 0.99, 9
_LOWEST_GRADE, _HIGHEST_GRADE = -1000, 10**6
_WITH_ORDER = frozenset({"predictions", "scores"})
_OF_ITEMS = _WITH_ORDER | {"truth", "exclude", "candidates"}

_DEVICES = ("/dev/", "/proc/")
_BLANKS_TO_TABS = "awk -v OFS='\\t' '{$1 = $1} 1'"
_QRELS = ("query", "iteration", "document", "grade")
_RATINGS = ("user", "item", "rating", "time")
_OTHER = ("user", "c2", "item")
_COUNTS = ("user", "item", "rating", "count")
_WORDS = ("user", "item", "c3", "count")
_LOG = ("user", "item", "c3", "c4", "score", "c6")
_LISTS = (
    r"""{printf "{\"user\": %s, \"items\": [%s", $1, $2; for (i = 3; i <= NF; i++) printf ", %s", $i; print "]}"}"""
)
_JOINED_QRELS = '{d = $3; for (i = 4; i < NF; i++) d = d "_" $i; print $1, $2, d, $NF}'
_AS_RUN = '{print $1, "Q0", $3, 0, $5, "tag"}'
_ONE_SUBTOPIC = "NR == 1 {first = $2} $2 == first {$2 = 0; print}"
_JOINED_RUN = '{d = $3; for (i = 4; i <= NF - 3; i++) d = d "_" $i; print $1, $2, d, $(NF - 2), $(NF - 1), $NF}'


class Shape:
    """What the rows of a TREC file show; most of it is asked only of files whose facts are unusual."""

    def __init__(self, columns: _core.TrecColumns) -> None:
        self._columns = columns
        self.facts: Any = SimpleNamespace(**columns.facts)
        facts = self.facts
        texts = facts.iterations
        self.varies = len(texts) > 1 and not _USUAL.issuperset(texts)
        is_word = len(texts) == 1 and not _ITERATION.fullmatch(texts[0])
        self.is_other = self.varies or (is_word and (facts.is_run or facts.documents_are_numbers or ":" in texts[0]))
        self.second = f"{' and '.join(map(repr, texts[:2]))} as second field"
        self.may_be_subtopics = not facts.documents_are_numbers and all(map(_SUBTOPIC.fullmatch, texts))
        self.has_times = 0 < facts.rows * _SHARE_OF_TIMES <= facts.times
        self.has_blanks = facts.shifted[0] > 0 or len(facts.rank_text[1].split()) > len(_LOG)
        is_counted = 0 < facts.queries == facts.counted_scores and facts.counted_ranks == 0
        has_fraction = facts.fraction_rank[0] > 0
        self.has_score_first = is_counted or (has_fraction and bool((columns.numbers % 1 == 0).all()))
        has_score_times = facts.contradicted > 0 and facts.rows * _SHARE_OF_TIMES <= facts.score_times
        has_other_tag = facts.tags_vary and facts.tags_are_numbers
        has_other_rank = facts.rank_text[0] > 0 or has_fraction or self.has_times
        self.has_other_fields = has_other_rank or has_score_times or has_other_tag
        numbers = columns.numbers
        self.has_other_grades = (
            len(numbers) > 0 and not _LOWEST_GRADE <= numbers.min() <= numbers.max() < _HIGHEST_GRADE
        )

    @cached_property
    def _queries(self) -> list[bytes]:
        return _texts(self._columns.query_offsets, self._columns.queries)

    @cached_property
    def _documents(self) -> list[bytes]:
        return _texts(self._columns.document_offsets, self._columns.documents)

    @property
    def has_iteration_third(self) -> bool:
        """Whether the third field is what the second usually is."""
        return self.varies and all(text.decode() in _USUAL for text in self._documents)

    @property
    def may_be_lists(self) -> bool:
        """Whether each row may be a user and items: numbers, and no user twice."""
        numbers = self.facts.documents_are_numbers and all(map(str.isdigit, self.facts.iterations))
        return self.varies and numbers and 1 < len(set(self._queries)) == len(self._queries)

    @property
    def has_times_third(self) -> bool:
        """Whether the second field varies, and the third is times."""
        return self.is_other and all(len(text) >= _TIME_DIGITS and text.isdigit() for text in self._documents)

    @property
    def has_subtopics(self) -> bool:
        """Whether the second field varies, as subtopics do, beside the same query and document."""
        if not (self.varies and self.may_be_subtopics):
            return False
        return len(set(zip(self._queries, self._documents, strict=True))) < len(self._queries)

    @property
    def first_contradicted(self) -> str:
        """The first query whose ranks contradict its scores; empty if there is none."""
        row = self.facts.first_contradicted
        begin, end = self._columns.query_offsets[row : row + 2].tolist() if row >= 0 else (0, 0)
        return self._columns.queries[begin:end].tobytes().decode()


def _texts(offsets: NDArray[Any], data: NDArray[Any]) -> list[bytes]:
    text = data.tobytes()
    return [text[begin:end] for begin, end in pairwise(offsets.tolist())]


class Form(NamedTuple):
    """A form whose rows have as many fields as those of TREC."""

    is_shown: Callable[[Shape], bool]
    found: Callable[[Shape], str]
    name: str
    read: Rewriting  # in this form
    keep: Rewriting  # as TREC
    ending: str = ""
    sample: Callable[[Shape], tuple[int, bytes]] = lambda shape: shape.facts.other_iteration


_FORMS_OF_QRELS = (
    Form(
        lambda s: s.has_times and s.is_other, lambda _: "times as grades", "user, item, rating, time", _RATINGS, _QRELS
    ),
    Form(lambda s: s.has_times, lambda _: "times as grades", "user, another, item, time", (*_OTHER, "time"), _QRELS),
    Form(
        lambda s: s.has_iteration_third, lambda s: s.second, "query, document, iteration, grade",
        "{print $1, $3, $2, $4}", "{$2 = 0} 1", ".qrels",
    ),
    Form(
        lambda s: s.has_times_third, lambda s: s.second, "user, item, time, rating", ("user", "item", "time", "rating"),
        "{$2 = 0} 1",
    ),
    Form(lambda s: s.may_be_lists, lambda s: s.second, "a user and items", _LISTS, "{$2 = 0} 1", ".jsonl"),
    Form(
        lambda s: s.has_subtopics, lambda s: f"{s.second}, for one query and document", "query, subtopic, document, grade",
        _ONE_SUBTOPIC, "!seen[$1, $3]++ {$2 = 0; print}", ".qrels",
    ),
    Form(
        lambda s: s.is_other and s.facts.documents_are_numbers, lambda s: s.second, "user, item, rating, count",
        _COUNTS, "{$2 = 0} 1",
    ),
    Form(
        lambda s: s.is_other and not s.may_be_subtopics, lambda s: s.second, "user, item, another, count",
        _WORDS, "{$2 = 0} 1",
    ),
    Form(
        lambda s: s.has_other_grades, lambda _: f"grades beyond {_LOWEST_GRADE} to {_HIGHEST_GRADE}",
        "user, another, item, count", (*_OTHER, "count"), _QRELS,
    ),
)  # fmt: skip
_FORMS_OF_RUNS = (
    Form(
        lambda s: s.has_blanks, lambda _: "more fields", "query, Q0, document of several words, rank, score, tag",
        _JOINED_RUN, _AS_RUN, ".run", lambda s: s.facts.shifted if s.facts.shifted[0] else s.facts.rank_text,
    ),
    Form(
        lambda s: s.has_iteration_third, lambda s: s.second, "query, document, Q0, rank, score, tag",
        "{print $1, $3, $2, $4, $5, $6}", _AS_RUN, ".run",
    ),
    Form(lambda s: s.may_be_lists, lambda s: s.second, "a user and items", _LISTS, _AS_RUN, ".jsonl"),
    Form(lambda s: s.is_other, lambda s: s.second, "user, item, others, score, another", _LOG, _AS_RUN),
    Form(
        lambda s: s.has_score_first, lambda _: "scores before ranks", "query, Q0, document, score, rank, tag",
        "{print $1, $2, $3, $5, $4, $6}", _AS_RUN, ".run", lambda s: s.facts.fraction_rank,
    ),
    Form(
        lambda s: s.has_other_fields, lambda _: "other fields than rank, score, tag", "user, another, item, another, score",
        (*_OTHER, "c4", "score", "c6"), _AS_RUN, "", lambda s: s.facts.rank_text,
    ),
)  # fmt: skip


def check_trec(file: File, columns: _core.TrecColumns) -> None:
    """Raise InputError if the rows show another form than that of TREC, with a line for each."""
    shape = Shape(columns)
    is_run = shape.facts.is_run
    form = next((form for form in (_FORMS_OF_RUNS if is_run else _FORMS_OF_QRELS) if form.is_shown(shape)), None)
    if form is None:
        return
    expected = "a run of TREC (query Q0 document rank score tag)" if is_run else f"qrels of TREC ({' '.join(_QRELS)})"
    if all("," in text for text in shape.facts.iterations) and (hint := advice(file, TREC)):
        raise file.fault(expected, "commas", hint)
    as_trec = _line(file, form.keep, ".run" if is_run else ".qrels")
    hint = (f"if the fields are {form.name}: ", _line(file, form.read, form.ending), "; if it is TREC: ", as_trec)
    line, text = form.sample(shape)
    if line:
        raise file.line_fault(expected, form.found(shape), line, text, hint)
    raise file.fault(expected, form.found(shape), hint)


def warn_of_trec(files: Sequence[tuple[File, _core.TrecColumns]]) -> None:
    """Warn of second fields that may be subtopics, and of ranks that contradict scores, in the files of an argument."""
    file = files[0][0]
    if file.role == "truth" and (shape := Shape(files[0][1])).varies and all(map(str.isdigit, shape.facts.iterations)):
        warn(
            f"{file.role}: the second field of {_shown(file)}, {' and '.join(map(repr, shape.facts.iterations[:2]))}, is taken "
            "for an iteration, as in qrels of TREC; if it is a subtopic, ",
            _edited(file, _ONE_SUBTOPIC, ".qrels"),
            " selects one; if not, ",
            _edited(file, "{$2 = 0} 1", ".qrels"),
            " says so",
        )
    if file.role not in _WITH_ORDER:
        return
    runs: list[Run] = [(one, (shape := Shape(columns)).facts, shape.first_contradicted) for one, columns in files]
    if (pending := FilesOfSystems.pending.get()) is None:
        warn_of_ranks(runs)
    else:
        pending += runs


Run: TypeAlias = "tuple[File, Any, str]"
"""A file, its facts, and the first query whose ranks contradict its scores."""


def warn_of_ranks(runs: Sequence[Run]) -> None:
    """Warn once of ranks that contradict scores in any of the runs."""
    if not (found := [run for run in runs if run[1].contradicted]):
        return
    file, _, first = found[0]
    queries = (
        f"{sum(facts.contradicted for _, facts, _ in found)} of {sum(facts.queries for _, facts, _ in runs)} queries"
    )
    others = f" and {plural(len(found) - 1, 'other file')}" if len(found) > 1 else ""
    copied = ", as scores are ranks copied" if all(facts.copied_ranks == facts.rows for _, facts, _ in found) else ""
    warn(
        f"{file.role}: {queries} have ranks that contradict their scores in {_shown(file)}{others}{copied}, first {first}; "
        "scores decide, as in trec_eval. ",
        _edited(file, "{$5 = -$4} 1", ".run"),
        " orders by rank; ",
        _edited(file, "{$4 = 0} 1", ".run"),
        " leaves out ranks",
    )


def _shown(file: File) -> str:
    return "stdin" if str(file.path).startswith(_DEVICES) else str(file.path)


def _path(file: File) -> str:
    return "FILE" if _shown(file) == "stdin" else shlex.quote(str(file.path))


def _pipe(file: File, command: str) -> tuple[str, str]:
    """Return the command on the text of the file, and the path to name another file after."""
    if file.is_compressed:
        return f"gunzip -c {_path(file)} | {command}", shlex.quote(str(file.path)[: -len(".gz")])
    return f"{command} {_path(file)}", _path(file)


def _edited(file: File, program: str, ending: str) -> str:
    command, target = _pipe(file, f"awk {shlex.quote(program)}")
    return f"{command} > {target}{ending}"


def _named(file: File, names: Sequence[str], separator: str = r"\s+", split: str = _BLANKS_TO_TABS) -> Option:
    """Return how to read the file by pandas, or on the command line as TSV, with these names unless it has its own."""
    command, target = _pipe(file, split)
    options = f"sep={separator!r}" if separator != r"\s+" else rf"sep=r'{separator}'"
    if names:
        options += f", names={list(names)!r}"
        header = "\\t".join(names) + "\\n"
        command = f"(printf {shlex.quote(header)}; {command})"
    if names == _QRELS:
        options += ", dtype={'query': str, 'document': str}"
    if separator == "::":
        options += ", engine='python'"
    code = f"{file.role}=pandas.read_csv({str(file.path)!r}, {options})"
    return Option(file.role, "", code.replace("{", "{{").replace("}", "}}"), f"{command} > {target}.tsv")


def _line(file: File, rewriting: Rewriting, ending: str) -> str | Option:
    return _edited(file, rewriting, ending) if isinstance(rewriting, str) else _named(file, rewriting)


_SIGNATURES = {
    b"PAR1": ("Parquet", ".parquet"),
    b"ARROW1": ("Arrow IPC", ".arrow"),
    b"\xff\xff\xff\xff": ("Arrow IPC", ".arrow"),
    b"PK\x03\x04": (".npz", ".npz"),
    b"\x1f\x8b": ("gzip", ".gz"),
}
_NO_NAMES = "if no line has column names: "
_HEAD_SIZE = 1 << 16  # bytes
_HEAD_LINES = 20
_SEPARATORS = {",": ("CSV", ".csv"), "\t": ("TSV", ".tsv"), ";": ("", ""), "|": ("", "")}
_LIBSVM = re.compile(r"\S+(\s+qid:\S+)?(\s+[0-9]+:\S+)+\s*(#.*)?")


def _unnamed(file: File, rows: list[list[str]], separator: str = r"\s+", split: str = _BLANKS_TO_TABS) -> Text:
    """Return how to read rows without a line of column names; integers of predictions may be ranks or scores."""
    width = len(rows[0])
    is_iteration = width > 1 and all(_ITERATION.fullmatch(row[1]) for row in rows)
    if width == len(_QRELS):
        return (_NO_NAMES, _named(file, _QRELS if is_iteration else _RATINGS, separator, split))
    if width == len(_LOG) - 1 and is_iteration and separator in {r"\s+", "\t"}:
        return ("if only the tag is missing: ", _edited(file, '{$6 = "tag"} 1', ".run"))
    others = tuple(f"c{i}" for i in range(4, width + 1))
    if file.role not in _WITH_ORDER:
        return (_NO_NAMES, _named(file, ("user", "item", "rating", *others)[:width], separator, split))
    by_score = _named(file, ("user", "item", "score", *others)[:width], separator, split)
    if width < 3 or not all(row[2].isdigit() for row in rows):
        return (_NO_NAMES, by_score)
    return (_NO_NAMES, by_score, "; or, by rank: ", _named(file, ("user", "item", "rank", *others), separator, split))


def _is_trec(row: list[str]) -> bool:
    if len(row) == len(_QRELS):
        return bool(_ITERATION.fullmatch(row[1])) and re.fullmatch(r"[-+]?[0-9]+", row[3]) is not None
    return len(row) >= len(_LOG) and bool(_ITERATION.fullmatch(row[1])) and parse_number(row[4]) is not None


def _head(file: File) -> bytes:
    """Return the beginning of a regular file; nothing of what cannot be read twice."""
    with suppress(OSError, InputError, *DECOMPRESSION_ERRORS):
        if file.path.is_file():
            with open_bytes(file) as stream:
                return stream.read(_HEAD_SIZE)
    return b""


def _copied(file: File, name: str, ending: str) -> Text:
    _, target = _pipe(file, "")
    packed = ".gz" if file.is_compressed and ending != ".gz" else ""
    return (
        f"it is {name}: ",
        f"cp {_path(file)} {target}{ending}{packed}",
    )


def advice(file: File, format_name: str) -> Text:
    """Return what a file is that cannot be read in its format, and the line that reads it; nothing if that is unclear."""
    head = _head(file)
    for signature, (name, ending) in _SIGNATURES.items():
        if head.startswith(signature):
            return _copied(file, name, ending) if name != format_name else ()
    text = head.decode("utf-8-sig", "replace")
    lines = [line for line in text.splitlines()[: None if len(head) < _HEAD_SIZE else -1] if line.strip()][:_HEAD_LINES]
    if not lines or "\0" in text or "\ufffd" in text:
        return ()
    for advise in (_json_advice, _row_advice, _separated_advice, _blank_advice):
        found = advise(file, format_name, lines)
        if found is not None:
            return found
    return ()


def _json_advice(file: File, format_name: str, lines: list[str]) -> Text | None:
    if lines[0].lstrip()[:1] not in {"{", "["}:
        return None
    rows = [_parsed(line) for line in lines[:2]]
    if len(rows) > 1 and all(isinstance(row, dict) for row in rows):
        return () if format_name == "JSON lines" else _copied(file, "JSON lines", ".jsonl")
    if format_name == "JSON lines":
        whole = rows[0] if len(rows) == 1 else _parsed(_head(file))
        is_map = isinstance(whole, dict) and all(isinstance(one, (dict, list)) for one in whole.values())
        if not is_map or any(map(usual_role, whole)):
            return ()
    return () if format_name == "JSON" else _copied(file, "JSON", ".json")


def _parsed(text: str | bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(text)
    except ValueError:
        return None


def _row_advice(file: File, format_name: str, lines: list[str]) -> Text | None:
    rows = [line.split() for line in lines if not line.startswith("#")]
    if all(line.count("::") > 1 for line in lines):
        names = (*_RATINGS, "c5", "c6")[: lines[0].count("::") + 1]
        return ("its fields are separated by ::, without names: ", _named(file, names, "::", "sed 's/::/\\t/g'"))
    if all(map(_LIBSVM.fullmatch, lines)):
        text = "it is LIBSVM's format of features, not of items: "
        program = '{split($2, q, ":"); print q[2], 0, NR, $1}'
        return (text, _edited(file, program, ".qrels"), " takes the numbers of lines as documents")
    if rows and all(map(_is_trec, rows)):
        kind = ".qrels" if len(rows[0]) == len(_QRELS) else ".run"
        return () if format_name == TREC or file.role not in _OF_ITEMS else _copied(file, TREC, kind)
    return None


def _separated_advice(file: File, format_name: str, lines: list[str]) -> Text | None:
    for separator, (name, ending) in _SEPARATORS.items():
        rows = [[field.strip() for field in line.split(separator)] for line in lines]
        split = "cat" if separator == "\t" else f"sed 's/{separator}/\\t/g'"
        if len(rows[0]) < 2 or len({*map(len, rows)}) > 1:
            if name == format_name and len(rows[0]) > 1:
                return ()  # with quotes
            continue
        if not any(usual_role(field.partition(":")[0]) for field in rows[0]):
            return _unnamed(file, rows, separator, split)
        if name:
            return () if name == format_name else _copied(file, name, ending)
        return (f"its separator is {separator!r}: ", _named(file, (), separator, split))
    return None


def _blank_advice(file: File, _format_name: str, lines: list[str]) -> Text | None:
    rows = [line.split() for line in lines]
    if len(rows) < 2 or len({*map(len, rows)}) > 1 or len(rows[0]) < 2:
        return None
    if any(map(usual_role, rows[0])):
        return ("its first line has column names, separated by blanks: ", _named(file, ()))
    return _unnamed(file, rows)


@contextmanager
def advising(file: File, format_name: str) -> Iterator[None]:
    """Say in errors about the file of what other form it is, if that explains them."""
    try:
        yield
    except ExactkError as error:
        fault = error.fault
        if format_name == TREC and fault.hint:
            raise
        hint = advice(file, format_name)
        if not hint and format_name == TREC and fault.line and fault.line[0] == 1:
            hint = as_text(ending_hint(file))
        if not hint:
            raise
        is_doubtful = hint[0] == _NO_NAMES and format_name in COLUMN_SOURCES  # it may have unusual names
        if is_doubtful and not fault.hint:
            raise
        raise error.amended(hint=(*fault.hint, "; ", *hint) if is_doubtful else hint) from error.__cause__


def blanks_hint(file: File, text: bytes) -> Text:
    """Return how to write ids with blanks, if a row of too many fields may have some."""
    fields = text.decode("utf-8", "replace").split()
    if len(fields) > len(_LOG) and all(parse_number(field) is not None for field in fields[-3:-1]):
        return ("ids hold no blanks: ", _edited(file, _JOINED_RUN, ".run"), " joins them by _")
    if file.role not in _WITH_ORDER and len(fields) > len(_QRELS) and _is_trec([*fields[:3], fields[-1]]):
        return ("ids hold no blanks: ", _edited(file, _JOINED_QRELS, ".qrels"), " joins them by _")
    return ()
