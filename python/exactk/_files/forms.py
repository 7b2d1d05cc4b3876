"""Forms of files that are easily taken for another: what shows each, and the line that reads it.

Facts that the core gathers over every row tell TREC text from other text with as many fields. The first lines tell what a
file is that cannot be read in the format of its ending; that of no other form can have them is examined in every row.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from exactk._files.formats import COLUMN_SOURCES, JSON, JSON_LINES, TREC
from exactk._files.lines import INTEGER_ID, ITERATIONS, LineForm, RatedDocuments, UsersWithItems, may_be_lists
from exactk._files.separated import SEPARATORS, Check, Fields, Separated, pandas_separator
from exactk._files.source import ROLES_OF_ITEMS, ColumnChoice, by_pandas, is_large, is_stdin
from exactk._files.text import DECOMPRESSION_ERRORS, open_bytes
from exactk._inputs.containers.tables import ColumnTable
from exactk._inputs.keys.column_roles import ROLES, usual_role
from exactk._inputs.keys.vocabulary import Vocabulary
from exactk._inputs.registry import FilesOfSystems
from exactk._runtime.errors import ExactkError, input_error, type_error, warn
from exactk._runtime.faults import Name, Option, Text, plural
from exactk._runtime.texts import parse_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from exactk import _core
    from exactk._files.file_errors import File

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
_SHARE_OF_TIMES = 0.99
_LOWEST_GRADE, _HIGHEST_GRADE = -1000, 10**6
_WITH_ORDER = frozenset({"predictions", "scores"})


def _varies(facts: Any) -> bool:  # noqa: ANN401 - as the core or files gather them
    return len(facts.iterations) > 1 and not ITERATIONS.issuperset(facts.iterations)


def _has_other_iterations(facts: Any) -> bool:  # noqa: ANN401 - as the core or files gather them
    if not _varies(facts):
        return not all(map(_ITERATION.fullmatch, facts.iterations))
    is_other = facts.is_run or facts.documents_are_numbers
    return bool(is_other) or not all(map(_SUBTOPIC.fullmatch, facts.iterations))


def _has_other_grades(facts: Any) -> bool:  # noqa: ANN401 - as the core or files gather them
    return bool(((facts.numbers < _LOWEST_GRADE) | (facts.numbers >= _HIGHEST_GRADE)).any())


def _has_score_first(facts: Any) -> bool:  # noqa: ANN401 - as the core or files gather them
    is_counted = 0 < facts.queries == facts.counted_scores and facts.counted_ranks == 0
    return is_counted or (facts.fraction_rank[0] > 0 and bool((facts.numbers % 1 == 0).all()))


def _has_other_fields(facts: Any) -> bool:  # noqa: ANN401 - as the core or files gather them
    least = max(facts.rows * _SHARE_OF_TIMES, 1)
    has_times = facts.times >= least or (facts.contradicted > 0 and facts.score_times >= least)
    has_other_tag = facts.tags_vary and facts.tags_are_numbers
    return bool(facts.rank_text[0] or facts.fraction_rank[0] or has_times or has_other_tag)


class TrecLike(NamedTuple):
    """A form whose rows have as many fields as those of TREC."""

    is_shown: Callable[[Any], bool]
    found: str
    sample: str  # the fact that has a line which shows it
    names: tuple[str, ...] = ()  # of the fields, if they do not depend on the rows


_SECOND = "{} as second field"
_FORMS_OF_QRELS = (
    TrecLike(_has_other_grades, f"grades beyond {_LOWEST_GRADE} to {_HIGHEST_GRADE}, as times are", "other_iteration"),
    TrecLike(_has_other_iterations, _SECOND, "other_iteration"),
)
_FORMS_OF_RUNS = (
    TrecLike(_has_other_iterations, _SECOND, "other_iteration"),
    TrecLike(_has_score_first, "scores before ranks", "fraction_rank", (*_RUN[:3], "score", "c5", "c6")),
    TrecLike(_has_other_fields, "other fields than rank, score, tag", "rank_text"),
)


def check_trec(file: File, columns: _core.TrecColumns, *, is_named: bool) -> None:
    """Raise InputError for ids with blanks, and, unless the form was named, for rows of another, with a line for each reading."""
    facts = SimpleNamespace(**columns.facts, numbers=columns.numbers)
    expected = (
        "a run of TREC (query Q0 document rank score tag)" if facts.is_run else f"qrels of TREC ({' '.join(_QRELS)})"
    )
    more = next((one for one in (facts.shifted, facts.rank_text) if len(one[1].split()) > len(_RUN)), None)
    if more is not None:
        line, text = more
        hint = _lists(file, _first_lines(file)) or blanks_hint(file, text)
        raise file.line_fault(expected, "more fields", line, text, hint)
    if is_named:
        return
    form = next((form for form in (_FORMS_OF_RUNS if facts.is_run else _FORMS_OF_QRELS) if form.is_shown(facts)), None)
    if form is None:
        return
    line, text = getattr(facts, form.sample)
    lines = _first_lines(file) or [text.decode(errors="replace")]
    hint = _negatives(file, lines) or _readings(file, form, lines, "run" if facts.is_run else "qrels")
    found = form.found.format(_second(facts))
    raise file.line_fault(expected, found, line, text, hint) if line else file.fault(expected, found, hint)


def _readings(file: File, form: TrecLike, lines: list[str], form_of_trec: str) -> Text:
    """Return the lines that read the rows as another form, if their fields show one, and as TREC, which has no dates."""
    separator = "," if _have_one_width(_rows(lines, ",")) else " "
    rows = _rows(lines, separator)
    names = form.names or (_names_of(file, rows, separator) if _have_one_width(rows) else ())
    if names in {_QRELS, _RUN}:
        names = ()
    fields = Name(", ".join(names))
    other: Text = ("if the fields are ", fields, ": ", _named(file, names, separator)) if names else ()
    if any(_KINDS["date"].fullmatch(field) for row in rows for field in row):
        return other or _name_them(file)
    lists = _lists(file, lines)
    trec: Text = ("if it is TREC: ", _line(file, form=form_of_trec))
    return _joined(other, lists, trec) if other else _joined(lists, trec, ("if not, ", *_name_them(file)))


def _joined(*texts: Text) -> Text:
    return tuple(chain.from_iterable(("; ", *text) for text in texts if text))[1:]


def _second(facts: Any) -> str:  # noqa: ANN401 - as the core or files gather them
    return " and ".join(map(repr, facts.iterations[:2]))


def blanks_hint(file: File, text: bytes) -> str:
    """Return what to do about a row that has too many fields; nothing for others."""
    most = len(_RUN if file.role in _WITH_ORDER else _QRELS)
    return "ids of TREC hold no blanks; those in TSV may" if len(text.split()) > most else ""


def warn_of_trec(files: Sequence[tuple[File, _core.TrecColumns]]) -> None:
    """Warn of second fields that may be subtopics, and of ranks that contradict scores, in the files of an argument."""
    file, facts = files[0][0], SimpleNamespace(**files[0][1].facts)
    read = "" if is_stdin(file) else f"{f'{file.program} -dc' if file.is_compressed else 'cat'} -- {_path(file)} | "
    if file.role == "truth" and _varies(facts) and all(map(str.isdigit, facts.iterations)):
        warn(
            f"{file.role}: the second field of {_path(file)}, {_second(facts)}, is taken for an iteration, as in qrels of "
            "TREC; if it is a subtopic, ",
            f"{read}awk '$2 == {facts.iterations[0]}' > {_path(file)}.qrels",
            " selects one; if not, ",
            _line(file, form="qrels"),
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
        f"{file.role}: {queries} have ranks that contradict their scores in {_path(file)}{others}{copied}, first ",
        Name(found[0].first),
        "; scores decide, as in trec_eval. ",
        _named(file, _BY_RANK),
        " orders by rank; ",
        _line(file, form="run"),
        " says that scores do",
    )


def _path(file: File) -> str:
    return "stdin" if is_stdin(file) else shlex.quote(str(file.path))


def _named(file: File, names: Sequence[str], separator: str = " ") -> Option:
    """Return how to read the file with these names unless it has its own: by pandas where `exactk.read` does not."""
    lines = _first_lines(file)
    rows = _rows(lines, separator)
    width = len(names or rows[0])
    columns = list(zip(names or rows.pop(0), *rows, strict=False))
    has_commas = separator != "," and any(map(_DECIMAL_COMMA.fullmatch, chain.from_iterable(rows)))
    has_blanks = separator != " " and any(f"{separator} " in line or f" {separator}" in line for line in lines)
    is_plain = not has_commas and not has_blanks and all(len(row) == width for row in rows)
    if file.path.is_file() and is_plain:
        are_text = any(
            name in {"query", "document"} and all(map(INTEGER_ID.fullmatch, ids)) for name, *ids in columns if names
        )
        is_clear = bool(names) and separators_of(lines, width) in ([separator], ["\t"] * (separator == " "))
        columns_read = [name if usual_role(name) in ROLES[file.role] else _UNREAD for name in names]
        return _line(file, columns=columns_read, separator="" if is_clear else separator, text_ids=are_text)
    options = f"sep={pandas_separator(separator)}"
    options += ", index_col=False" if separator == " " else ""  # which shifts no longer row
    options += f", names={list(names)!r}" if names else ""
    texts = {"query", "document"} | {name for name, *ids in columns if not all(map(INTEGER_ID.fullmatch, ids))}
    keys = [
        f"{name!r}: str"
        for name, *ids in columns
        if (name in texts and usual_role(name) in {"user", "item"}) or any(map(_PADDED.fullmatch, ids))
    ]
    options += f", dtype={{{', '.join(keys)}}}" if keys else ""
    options += ", decimal=','" if has_commas else ""
    return by_pandas(file, f"pandas.read_csv({str(file.path)!r}, {options}, {SEPARATORS[separator].pandas})")


_UNREAD = "-"
_PADDED = re.compile("0[0-9]+")  # an id that is no number


def _line(file: File, **options: Any) -> Option:  # noqa: ANN401 - of `exactk.read`
    """Return how to read the file with those of these options that have a value."""
    options = {name: value for name, value in options.items() if value}
    role = {"scores": "predictions", "candidates": "exclude"}.get(file.role, file.role)  # of the same containers
    code = "".join(f", {name}={value!r}" for name, value in options.items())
    call = f"{file.role}=exactk.read({str(file.whole or file.path)!r}, {role!r}{code})"
    named = "candidates" if file.role == "candidates" else role
    shell = [
        "--text-ids" if name == "text_ids" else f"--{named}-{name} {_WRITTEN.get(name, str)(value)}"
        for name, value in options.items()
    ]
    return Option(file.role, "", call.replace("{", "{{").replace("}", "}}"), " ".join(shell))


_WRITTEN: Mapping[str, Callable[[Any], str]] = {"columns": ",".join, "separator": lambda text: SEPARATORS[text].name}
"""What the command line writes for values of options."""


def _name_them(file: File) -> Text:
    """Return how to give fields a role where their values do not show it."""
    code = "exactk.read(path, role, columns=['user', '-', 'item', ...])"
    return ("name the fields, as in ", Option("columns", "", code, f"--{file.role}-columns user,-,item,..."))


def separators_of(lines: Sequence[str], width: int) -> list[str]:
    """Return the separators by which all lines, or else the first, have so many fields.

    Blanks separate only where there are no tabs, between which a field may be empty.
    """
    candidates = [one for one in SEPARATORS if one != " " or not any("\t" in line for line in lines)]
    for part in (lines, lines[:1]):
        fits = [one for one in candidates if {*map(len, _rows(part, one))} == {width}]
        if fits:
            return fits
    return []


def by_position(file: File, columns: object, separator: object) -> tuple[Separated, dict[str, Any]]:
    """Return the file as rows whose fields have these roles, or else names in the first row, and the columns to request."""
    if separator is not None and separator not in [*SEPARATORS]:
        raise input_error("separator", f"one of {', '.join(map(repr, SEPARATORS))}, or None", repr(separator))
    if columns is None:
        return Separated(file, str(separator)), {}
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise type_error("columns", "the role of each field, as in ['user', '-', 'item']", repr(columns))
    roles = [usual_role(name) if isinstance(name, str) else None for name in columns]
    for name, role in zip(columns, roles, strict=True):
        if name != _UNREAD and (role is None or role not in ROLES[file.role]):
            raise input_error(
                "columns", f"{', '.join(ROLES[file.role])}, or - for a field that is not read", repr(name)
            )
        if role not in {"user", None} and roles.count(role) > 1:
            hint = (_joined_items(file, columns, separator), " joins them") if role == "item" else ()
            raise input_error("columns", f"one field as {role}", str(roles.count(role)), hint=hint)
    if not {"user", "item"} <= {*roles} or (file.role == "predictions" and len({"score", "rank"} & {*roles}) != 1):
        expected = "user, item, and score or rank" if file.role == "predictions" else "user and item"
        raise input_error("columns", expected, ", ".join(columns) or "none")
    users = [f"user {number}" for number in range(1, roles.count("user") + 1)] if roles.count("user") > 1 else []
    left = iter(users)
    names = [
        f"c{number}" if role is None else next(left, name) if role == "user" else name
        for number, (name, role) in enumerate(zip(columns, roles, strict=True), 1)
    ]
    fields = Fields(tuple(names))
    return Separated(file, str(separator or _one_separator(file, len(names))), fields), {"user": users} if users else {}


def _joined_items(file: File, columns: Sequence[str], separator: object) -> Option:
    """Return how to read several fields as one item."""
    names = [f"c{number}" if name == _UNREAD else name for number, name in enumerate(columns, 1)]
    items = [at for at, name in enumerate(names) if usual_role(name) == "item"]
    for at in items:
        names[at] = f"part {at + 1}"
    parts = [names[at] for at in items]
    text = str(separator or _one_separator(file, len(names)))
    joined = " + '/' + ".join(f"rows[{part!r}]" for part in parts)
    options = (
        f"sep={pandas_separator(text)}, names={names}, dtype={dict.fromkeys(parts, 'str')}, {SEPARATORS[text].pandas}"
    )
    return by_pandas(file, f"pandas.read_csv({str(file.path)!r}, {options}).assign(item=lambda rows: {joined})")


def _one_separator(file: File, width: int) -> str:
    lines = _first_lines(file)
    if not lines:
        raise file.fault(f"rows of {width} fields", "none")
    separators = separators_of(lines, width)
    if len(separators) == 1:
        return separators[0]
    found = " and ".join(SEPARATORS[one].name for one in separators) or f"no separator of {width} fields"
    choices: list[str | Option] = [
        Option("separator", one, "{}", f"--{file.role}-separator {SEPARATORS[one].name}")
        for one in separators or SEPARATORS
    ]
    hint: Text = ("write ", *chain.from_iterable((one, " or ") for one in choices[:-1]), choices[-1])
    if not separators:
        raise file.line_fault(f"rows of {width} fields", found, 1, lines[0].encode(), hint)
    raise file.fault(f"one separator of {width} fields", found, hint)


def _integers(low: float = -np.inf, high: float = np.inf) -> Any:  # noqa: ANN401 - a function of arrays
    return lambda numbers: (numbers % 1 == 0) & (numbers >= low) & (numbers < high)


_ID = Check("an integer", _integers())
_TIME = Check("a time in seconds or milliseconds", _integers(10**8, 10**14))
_HIGHEST_STARS = 10


class NamedFormat(NamedTuple):
    """All files of a format, whatever their ending is."""

    roles: frozenset[str]  # of arguments
    format_name: str


class RowForm(NamedTuple):
    """A form of rows without a line of column names, that no row of another form can have."""

    roles: frozenset[str]  # of arguments
    separators: tuple[str, ...]
    fields: Fields
    contradicts: Callable[[list[list[str]]], bool] = lambda rows: False  # noqa: ARG005 - nothing does
    counts_ranks: bool = False  # unless it is named, those of each user are 1 to n, and some n is not 1
    text_ids: bool = False  # as in TREC files

    def fits(self, lines: list[str]) -> bool:
        """Return whether these lines are of the form."""
        return any(self._holds(_rows(lines, separator)) for separator in self._separators(lines))

    def source(self, file: File) -> Separated:
        """Return the file as rows of the form."""
        separator, *_ = [*self._separators(_first_lines(file)), *self.separators]
        return Separated(file, separator, self.fields)

    def _separators(self, lines: list[str]) -> list[str]:
        return [one for one in separators_of(lines, len(self.fields.names)) if one in self.separators]

    def _holds(self, rows: list[list[str]]) -> bool:
        names, checks = self.fields
        if not rows or {*map(len, rows)} != {len(names)} or self.contradicts(rows):
            return False
        numbers = {name: list(map(parse_number, texts)) for name, *texts in zip(names, *rows, strict=True)}
        return all(
            None not in numbers[name] and check.holds(np.array(numbers[name])).all() for name, check in checks.items()
        )


_RATED = Fields(
    ("user", "item", "rating", "time"),
    {
        "user": _ID,
        "item": _ID,
        "rating": Check(f"a rating from 0 to {_HIGHEST_STARS}", lambda rated: (rated >= 0) & (rated <= _HIGHEST_STARS)),
        "time": _TIME,
    },
)
_JUDGED, _ORDERED = frozenset({"truth", "exclude"}), frozenset({"predictions"})
_ML_100K = RowForm(_JUDGED, ("\t", " "), _RATED, lambda rows: {row[1] for row in rows} <= ITERATIONS)
FORMS: Mapping[str, NamedFormat | RowForm | LineForm] = {
    "qrels": NamedFormat(ROLES_OF_ITEMS - _WITH_ORDER, TREC),
    "run": NamedFormat(ROLES_OF_ITEMS - {"truth"}, TREC),
    "msmarco-qrels": RowForm(
        _JUDGED,
        ("\t",),
        Fields(
            _QRELS,
            {
                "query": _ID,
                "iteration": Check("0", _integers(0, 1)),
                "document": _ID,
                "grade": Check("a grade", _integers(_LOWEST_GRADE, _HIGHEST_GRADE)),
            },
        ),
        text_ids=True,
    ),
    "msmarco-run": RowForm(
        _ORDERED,
        ("\t",),
        Fields(("query", "document", "rank"), {"query": _ID, "document": _ID, "rank": Check("a rank", _integers(1))}),
        counts_ranks=True,
        text_ids=True,
    ),
    "ml-100k": _ML_100K,
    "double-colon": _ML_100K._replace(separators=("::",)),
    "adjacency": LineForm(ROLES_OF_ITEMS - {"scores"}, UsersWithItems),
    "svmlight": LineForm(frozenset({"truth"}), RatedDocuments),
    "json": NamedFormat(ROLES_OF_ITEMS, JSON),
    "jsonl": NamedFormat(ROLES_OF_ITEMS, JSON_LINES),
}
"""The forms that have a name. Those of rows and lines are read without being asked: of two, no file can be both."""
UNNAMED = frozenset({TREC, "TSV"})
"""The formats whose files are so read."""


def _forms_of(file: File) -> dict[str, NamedFormat | RowForm | LineForm]:
    return {name: form for name, form in FORMS.items() if file.role in form.roles}


def form_of(name: object, file: File) -> NamedFormat | RowForm | LineForm:
    """Return the form of that name. Raise InputError if there is none in the role of the file."""
    forms = _forms_of(file)
    if not isinstance(name, str) or name not in forms:
        raise input_error("form", f"a form of {file.role}: {', '.join(forms)}", repr(name))
    return forms[name]


def recognized(files: Sequence[File]) -> str | None:
    """Return the name of the one form of rows or lines that the first lines of all files have; None if they have none."""
    lines = [_first_lines(file) for file in files]
    of_role = {name: form for name, form in _forms_of(files[0]).items() if not isinstance(form, NamedFormat)}
    fits = [name for name, form in of_role.items() if all(map(form.fits, lines))]
    if len(fits) != 1:
        return None
    (name,) = fits
    form = of_role[name]
    if isinstance(form, RowForm) and form.counts_ranks:
        sources = list(map(form.source, files))
        if is_large(sources) or not _count_ranks(sources, *form.fields.names[::2]):
            return None
    return name


def _count_ranks(sources: Sequence[Separated], user: str, rank: str) -> bool:
    """Return whether the ranks of each user are 1 to n, in any order, and some n is not 1."""
    choice = ColumnChoice((user,), {rank: rank})
    table = ColumnTable.concatenate([part for source in sources for part in source.plain_parts(choice)])
    users = Vocabulary.of_kinds(["str"]).encode([table[user]], user)
    ranks = np.asarray(table.values_of(rank, rank))
    order = np.lexsort((ranks, users))
    counts = np.bincount(users)
    expected = np.arange(len(ranks)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return bool((ranks[order] == expected).all()) and counts.max() > 1


_NO_NAMES = "if no line has column names: "
_HEAD_LINES, _HEAD_SIZE = 100, 1 << 16  # bytes of a line
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
_NAMES_OF_SEPARATORS = {",": "CSV", "\t": "TSV"}
_KINDS = {
    "date": re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}.*|[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}.*"),
    "time": re.compile(r"[0-9]{9,10}|[0-9]{13}"),
    "integer": re.compile(r"[-+]?[0-9]+"),
    "fraction": re.compile(r"[-+]?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?", re.IGNORECASE),
    "text": re.compile(r"(?!q0$)[^:()]+", re.IGNORECASE),
}
"""The kinds of fields that have names, each for values that are of none before it."""
_NUMBERS = {"integer", "fraction"}
_MOST_FIELDS, _HIGHEST_RATING = 8, 100


def _first_lines(file: File) -> list[str]:
    """Return the first lines of a regular file; nothing of what cannot be read twice, or is no text."""
    with suppress(OSError, ExactkError, UnicodeError, *DECOMPRESSION_ERRORS):
        if file.path.is_file():
            with open_bytes(file) as stream:
                lines = [stream.readline(_HEAD_SIZE).decode("utf-8-sig") for _ in range(_HEAD_LINES)]
            return [line.strip("\r\n") for line in lines if line.strip()]
    return []


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of lines."""
    if SEPARATORS[separator].pattern is not None:
        return [line.split(separator.strip() or None) for line in lines]
    with suppress(csv.Error):
        if separator == "\t":
            return [*csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)]
        return [*csv.reader(lines, delimiter=separator, skipinitialspace=True)]
    return []


def _have_one_width(rows: list[list[str]]) -> bool:
    return len(set(map(len, rows))) == 1 < len(rows[0])


def advice(file: File, format_name: str) -> Text:
    """Return what a file is that cannot be read in its format, and the line that reads it; nothing if that is unclear."""
    lines = _first_lines(file)
    if shown := _shown_format(file, lines, format_name):
        name, form = shown
        is_list = re.match(r"\[\s*(\{|$)", lines[0])
        is_right = format_name == name or (format_name == JSON_LINES and name == JSON and not is_list)
        return () if is_right else (f"it is {name}: ", _line(file, form=form))
    if text := _negatives(file, lines) or _logged(file, lines):
        return text
    lists = _lists(file, lines)
    for separator in SEPARATORS:
        rows = _rows(lines, separator)
        if not _have_one_width(rows):
            continue
        is_header = any(map(usual_role, rows[0])) or _are_above_numbers(rows)
        if not is_header or any(map(_KINDS["fraction"].fullmatch, rows[0])):
            return _joined(_unnamed(file, rows, separator), lists)
        is_right = _NAMES_OF_SEPARATORS.get(separator) == format_name
        return () if is_right else (f"its separator is {separator!r}: ", _named(file, (), separator))
    return lists


def _are_above_numbers(rows: list[list[str]]) -> bool:
    """Return whether the first row has a text where all others, at least two, have numbers."""
    are_numbers = [[_NUMERAL.fullmatch(text) is not None for text in column] for column in zip(*rows, strict=True)]
    return len(rows) > _LEAST_ROWS and any(not first and all(others) for first, *others in are_numbers)


_LEAST_ROWS = 2
_NUMERAL = re.compile(rf"{_KINDS['fraction'].pattern}|{_DECIMAL_COMMA.pattern}", re.IGNORECASE)


def _shown_format(file: File, lines: list[str], format_name: str) -> tuple[str, str] | None:
    """Return the format or form that the first lines show, and the name of the form that reads it."""
    if not lines:
        return None
    if lines[0][0] in "{[":
        are_rows = all(line[0] + line[-1] == "{}" for line in lines) and (len(lines) > 1 or _is_row(lines[0]))
        return (JSON_LINES, "jsonl") if are_rows else (JSON, "json")
    form = "qrels" if len(lines[0].split()) == len(_QRELS) else "run"
    if form in _forms_of(file) and all(map(_TREC_LINE.fullmatch, lines)):
        return TREC, form
    name = None if format_name in UNNAMED else recognized([file])
    return None if name is None else (name, name)


def _is_row(line: str) -> bool:
    """Return whether an object is a row, with a user, rather than all columns or all users."""
    with suppress(ValueError, RecursionError):
        users = [value for name, value in json.loads(line).items() if usual_role(name) == "user"]
        return bool(users) and not isinstance(users[0], (list, dict))
    return False


_NEGATIVE = re.compile(r"\([0-9]+,[0-9]+\)(\s+[0-9]+)+\s*")


def _negatives(file: File, lines: list[str]) -> Text:
    """Return how to read lines of a user with an item in brackets, and the items among which it is ranked."""
    if lines and all(map(_NEGATIVE.fullmatch, lines)):
        file = file._replace(role="candidates")
        code = (
            "pandas.DataFrame([(int(user), [*map(int, items)]) for user, *items in map(str.split, pandas.read_csv("
            f"{str(file.path)!r}, sep=';', names=['line'])['line'].str.replace('[(),]', ' ', regex=True))], "
            "columns=['user', 'items'])"
        )
        write = f"to_json({f'{file.path}.jsonl'!r}, orient='records', lines=True)"
        return ("each line is a user, an item, and others to rank it among: ", by_pandas(file, code, write))
    return ()


_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"
_LOGS = (
    (
        "check-ins, as of Gowalla",
        re.compile(rf"\S+\t{_DATE}(\t-?[0-9.]+){{2}}\t\S+"),
        "\t",
        ("user", "-", "-", "-", "item"),
    ),
    ("clicks, as of Yoochoose", re.compile(rf"[0-9]+,{_DATE},[0-9]+,[^,]*"), ",", ("user", "-", "item", "-")),
)


def _logged(file: File, lines: list[str]) -> Text:
    """Return how to read the rows of data sets whose second field is a date."""
    for what, line, separator, names in _LOGS if file.role in _JUDGED and lines else ():
        if all(map(line.fullmatch, lines)):
            return (f"if these are {what}: ", _line(file, columns=[*names], separator=separator))
    return ()


def _lists(file: File, lines: list[str]) -> Text:
    """Return how to read lines of a user and any number of items, all of them integers, as which rows could be meant."""
    if "adjacency" in _forms_of(file) and may_be_lists(lines) and not any(map(_LARGE_NUMBER.search, lines)):
        return ("if each line is a user and items: ", _line(file, form="adjacency"))
    return ()


_LARGE_NUMBER = re.compile(r"[0-9]{9}")  # such as a time


def _names_of(file: File, rows: list[list[str]], separator: str) -> tuple[str, ...]:
    """Return the names of fields whose values show what they are, in rows of one width; nothing if they do not."""
    width, second = len(rows[0]), {row[1] for row in rows}
    kinds = [
        next((kind for kind, values in _KINDS.items() if all(map(values.fullmatch, column))), "")
        for column in zip(*rows, strict=True)
    ]
    has_time, has_order = [kind in {"date", "time"} for kind in kinds], file.role in _WITH_ORDER
    if width >= len(_QRELS) and (second <= ITERATIONS or (len(second) == 1 and _ITERATION.fullmatch(rows[0][1]))):
        if width == len(_QRELS) and not has_order and kinds[3] in _NUMBERS:
            return _QRELS
        if width == len(_RUN) - 1 and has_order and kinds[3] == "integer" and kinds[4] in _NUMBERS:
            return _RUN[:-1]
        if second <= ITERATIONS or not has_time[3]:
            return ()
    is_unclear = separator == " " and "text" in kinds[2:]  # ids may hold blanks
    if width > _MOST_FIELDS or is_unclear or "" in kinds or {"date", "fraction"} & {*kinds[:2]}:
        return ()
    values = [
        i for i in range(2, width) if kinds[i] == "fraction" or (kinds[i] in _NUMBERS and (width == 3 or not has_order))
    ]
    is_value = len(values) == 1 and (has_order or all(0 <= float(row[values[0]]) <= _HIGHEST_RATING for row in rows))
    if has_order and not is_value:
        return ()
    names = {i: f"c{i + 1}" for i in range(width)} | {0: "user", 1: "item"}
    if True in has_time[2:]:
        names[has_time.index(True, 2)] = "time"
    if is_value:
        names[values[0]] = "score" if has_order else "rating"
    return tuple(names.values())


_KEYS = ("user", "item")


def _unnamed(file: File, rows: list[list[str]], separator: str) -> Text:
    """Return how to read rows without a line of column names; texts may be in any order, and integers ranks or scores."""
    names = _names_of(file, rows, separator)
    if not names:
        return () if separator == " " or len(rows[0]) > _MOST_FIELDS else (_NO_NAMES, *_name_them(file))
    text: Text = (_NO_NAMES, _named(file, names, separator))
    are_integers = [all(map(INTEGER_ID.fullmatch, column)) for column in zip(*rows, strict=True)]
    if names[:2] == _KEYS and not any(are_integers[:2]):
        text = (*text, "; if items come first: ", _named(file, (*_KEYS[::-1], *names[2:]), separator))
    if file.role != "predictions" or len(names) != len(_RUN) // 2 or not all(row[2].isdigit() for row in rows):
        return text
    return (*text, "; or, by rank: ", _named(file, ("user", "item", "rank"), separator))


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
