"""Roles of data frame columns, by the names that the caller passes or else by common names; columns without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypedDict

from exactk._runtime.errors import InputError, input_error, type_error, warn
from exactk._runtime.faults import Fault, Name, Option, Text, as_text
from exactk._runtime.records import NamedTuple
from exactk._runtime.unit_names import note_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

USUAL_NAMES = {
    "user": (
        "user", "userid", "uid", "user_idx", "visitor_id", "query", "query_id", "qid", "topic", "topic_id", "customer_id",
    ),
    "item": (
        "item", "item_id", "iid", "item_idx", "doc", "doc_id", "docno", "document", "document_id", "corpus_id", "movie_id",
        "product_id", "article_id",
    ),
    "score": ("score", "prediction", "predicted", "est", "probability"),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel", "label", "rating", "target", "gain", "star"),
}  # fmt: skip
"""Common column names. Case and underscores are ignored; plurals such as ``items`` name columns of lists."""


ROLES = {
    "truth": ("user", "item", "grade"),
    "predictions": ("user", "item", "score", "rank"),
    "scores": ("user", "item", "score"),
    "exclude": ("user", "item"),
    "candidates": ("user", "item"),
    "items": ("user", "item"),
    "weights": ("user",),
    "groups": ("user",),
    "clusters": ("user",),
}
"""The roles of the columns that each argument may have."""

_NAMING_UNITS = frozenset({"truth", "predictions", "scores"})
"""Those whose columns say what users and items are called."""

VALUE_ROLES = {argument: roles[2:] for argument, roles in ROLES.items()}
"""Those of values: grades, scores and ranks."""


class ColumnNames(TypedDict, total=False):
    """Column names by role; None detects a common name. Columns without a role are not read."""

    user: str | Sequence[str] | None
    item: str | None
    score: str | None
    rank: str | None
    grade: str | None


def _normalize(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


_ROLES = {
    variant: role
    for role, names in USUAL_NAMES.items()
    for name in map(_normalize, names)
    for variant in (name, name + "s")
}

HIT = "[]."
"""What is between the name of a column of lists of records, as hits are, and the name of a field: ``results[].score``."""

_ROLES_IN_HITS = {name: role for name, role in _ROLES.items() if role != "user"} | {
    **dict.fromkeys(("id", "key", "pid", "aid"), "item"),
    **dict.fromkeys(("similarity", "relevancescore"), "score"),
}


@lru_cache(maxsize=1024)
def usual_role(name: str) -> str | None:
    """Return the role that a column name implies, without its type in files of RecBole; None if it implies none."""
    if HIT in name:
        return _ROLES_IN_HITS.get(_normalize(name.rpartition(HIT)[2]))
    return _ROLES.get(_normalize(name.removesuffix(":token").removesuffix(":float")))


_WORD = r"[A-Z]*[a-z]+|[A-Z]+"
_SCORE_WORDS = frozenset({
    "confidence", "confidences", "distance", "distances", "logit", "logits", "pred", "predicted", "prediction", "predictions",
    "prob", "probabilities", "probability", "probs", "ratings", "score", "scores", "similarity", "similarities",
})  # fmt: skip
_ASCENDING_WORDS = frozenset({
    "cost", "dissimilarity", "dist", "distance", "distances", "divergence", "err", "error", "errors", "loss", "losses",
    "nll", "order", "perplexity", "pos", "position", "positions", "rank", "ranking", "ranks", "rmse",
})  # fmt: skip
"""Words for values of which the lowest is best."""
_HIGHEST_WORDS = _SCORE_WORDS | frozenset({
    "inv", "inverse", "minus", "neg", "negated", "negative", "not", "page", "pct", "percentile", "reciprocal", "reversed",
    "rrf",
})  # fmt: skip
"""Words that make the highest of them best: a negative distance, PageRank."""
_RATING_WORDS = frozenset({"rating", "ratings", "star", "stars"})
_TIME_WORDS = frozenset({
    "at", "created", "date", "dates", "datetime", "day", "epoch", "hour", "minute", "month", "second", "seconds", "time", "times",
    "timestamp", "timestamps", "ts", "updated", "week", "weekday", "when", "year",
})  # fmt: skip
_TEXT_WORDS = frozenset({"comment", "description", "name", "note", "review", "summary", "text", "title"})
_KEY_WORDS = {
    "user": frozenset(
        {"account", "client", "customer", "guest", "member", "person", "player", "reader", "session", "visitor"}
    ),
    "item": frozenset(
        {"article", "asin", "book", "film", "isbn", "movie", "product", "sku", "song", "track", "url", "video"}
    ),
}
"""Words in the names of keys; ids have others too."""
_OTHER_NUMBERS = frozenset({
    "age", "code", "codes", "fold", "iteration", "lat", "latitude", "lng", "lon", "longitude", "postcode", "price", "split",
    "zip", "zipcode",
})  # fmt: skip
_ROW_NAMES = r"|t|index|level_\d+|__index_level_\d+__|Unnamed: \d+|(?i:(event|order|product|session|transaction|user|visitor)ids?)"
"""The names of columns that were an index, and of ids in one word."""


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lowercase."""
    return [word.lower() for word in re.findall(_WORD, name)]


def names_ratings(name: str) -> bool:
    """Return whether the name suggests ratings, where low values are not recommendations, unlike those of Elasticsearch and OpenSearch."""
    hits, _, field = name.rpartition(HIT)
    return hits != "ratings" and not _RATING_WORDS.isdisjoint(words_of(field))


def may_be_grades(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of numeric columns that are not times, ids, row numbers or the like."""
    others = (name for name in names if _OTHER_NUMBERS.isdisjoint(words_of(name)))
    return tuple(name for name in others if not _names_times(name) and not _names_rows_or_ids(name))


def names_lowest_as_best(name: str) -> bool:
    """Return whether the name of a column of scores says that the lowest is best."""
    words, is_negated = {*words_of(name)}, name.lstrip(" 01").startswith("-")
    return bool(words & _ASCENDING_WORDS) and not words & (_HIGHEST_WORDS - _ASCENDING_WORDS) and not is_negated


def warn_of_order(name: str, argument: str, *, takes_ranks: bool) -> None:
    """Warn of a column of scores by whose name the lowest is best."""
    warn(
        f"{argument}: the item of the highest {name!r} comes first, though the name says that the lowest is best; ",
        Option("rank", name) if takes_ranks else "its negative",
        " puts the lowest first, and a column that is named 'score' keeps the order",
    )


def warn_of_fractions(name: str, argument: str) -> None:
    """Warn of ranks with fractions."""
    start = f"{argument}: the item of the lowest {name!r} comes first, though it has fractions, as scores have; "
    warn(start, Option("score", name), " if the highest is best, ", Option("rank", name), " keeps the order")


def warn_of_other_scores(
    unused: Iterable[str], chosen: Mapping[str, str], argument: str, *, takes_scores: bool = True
) -> None:
    """Warn of numeric columns whose names suggest scores, if the caller named no column.

    The chosen columns are by role.
    """
    others = [name for name in unused if not _SCORE_WORDS.isdisjoint(words_of(name))]
    if not others:
        return
    role, column = next(iter(chosen.items()), ("", ""))
    reason = f"ordered by {column!r}" if chosen else "best first"
    unused_names = f"{' and '.join(map(repr, others))} {'is' if len(others) == 1 else 'are'} not used"
    confirmation: Text = (", ", Option(role, column), " keeps that order") if chosen else ()
    by = "rank" if names_lowest_as_best(others[0]) else "score"
    orders = Option(by, others[0]) if takes_scores else "exactk.as_predictions"
    warn(f"{argument}: the items are {reason}, and {unused_names}; ", orders, " orders by it", *confirmation)


def _names_times(name: str) -> bool:
    return not _TIME_WORDS.isdisjoint(words_of(name)) or _normalize(name).endswith(("time", "date", "timestamp"))


def _names_rows_or_ids(name: str) -> bool:
    return bool(re.fullmatch(_ROW_NAMES, name)) or words_of(name)[-1:] in (["id"], ["ids"])


class Columns(NamedTuple):
    """The columns of a frame or file, from which those of each role are chosen."""

    names: Sequence[str]
    named: frozenset[str] = frozenset()  # by the caller, for a role of the argument: they have no role by their names
    hint: Callable[[], str] = str  # what to write if no column can be keys
    lists: Callable[[], Sequence[str]] = list  # those that hold lists

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        requested: ColumnNames,
        argument: str,
        hint: Callable[[], str] = str,
        lists: Callable[[], Sequence[str]] = list,
    ) -> Columns:
        """Return the columns for an argument, some of which the caller named."""
        named: list[Any] = [requested.get(role) for role in ROLES.get(argument, ("user", "item"))]
        flat = chain.from_iterable(name if isinstance(name, (list, tuple)) else [name] for name in named)
        return cls(names, frozenset(_full_name(names, name) for name in flat if isinstance(name, str)), hint, lists)

    @property
    def free(self) -> list[str]:
        """The columns that have a role by their names alone."""
        return [name for name in self.names if name not in self.named] if self.named else [*self.names]


def user_columns(columns: Columns, requested: object, argument: str) -> list[str]:
    """Return the columns that together identify a user."""
    if requested is None:
        name = value_column(columns, "user", None, argument)
        if name is None:
            raise _absence_error(columns, "user", argument)
        return [name]
    user_names = [requested] if isinstance(requested, str) else requested
    if not isinstance(user_names, Sequence) or not user_names or not all(isinstance(name, str) for name in user_names):
        raise type_error("user", "a column name or a sequence of column names", repr(requested))
    if len(set(user_names)) < len(user_names):
        raise input_error("user", "distinct columns", repr(requested))
    return [_existing_column(columns.names, name, "user", argument) for name in user_names]


def item_column(columns: Columns, requested: object, argument: str) -> str:
    """Return the item column."""
    name = value_column(columns, "item", requested, argument)
    if name is None:
        raise _absence_error(columns, "item", argument)
    return name


def value_column(columns: Columns, role: str, requested: object, argument: str) -> str | None:
    """Return the column of a role, if there is one."""
    if requested is not None:
        return _existing_column(columns.names, requested, role, argument)
    others = {"truth": "predictions", "predictions": "truth"}.get(argument)
    matching = [
        name for name in columns.free if usual_role(name) == role and not (HIT in name and _side_of(name) == others)
    ]
    if len(matching) != 1:
        matching = _likeliest(columns, role, argument, matching) or matching
    if len(matching) > 1:
        unique = [name for name in matching if matching.count(name) == 1]
        hint: Text = (Option(role, unique[0]), " selects it") if unique else ()
        raise input_error(argument, f"one column for the {role}", Name(" and ".join(matching)), hint=hint)
    return matching[0] if matching else None


_FIRST_WORDS = {
    "truth": frozenset({"expected", "gold", "ground", "groundtruth", "reference", "references", "relevant"}),
    "predictions": frozenset({"context", "contexts", "predicted", "retrieved"}),
}
"""What the names of lists of items begin with where one row has both those of the truth and those of the predictions."""
_USERS_OF_LISTS = ("id", "session", "question", "userinput")
"""Names that are those of users beside lists, in which the items are."""
_BEIR = frozenset({"queryid", "corpusid", "score"})


def _likeliest(columns: Columns, role: str, argument: str, matching: Sequence[str]) -> list[str]:
    """Return the columns of a role that none or several have by their names alone, by what the others are."""
    free = columns.free
    if role == "user" and len(matching) > 1:  # the text of a query, beside its id
        others = [name for name in matching if _normalize(name) != "query"]
        return others if {*map(_normalize, others)} <= {"queryid", "qid"} else []
    if role == "user":
        users = [name for name in free if HIT not in name and _normalize(name) in _USERS_OF_LISTS]
        return users if users and _are_lists_of_items(columns, argument) else []
    if role == "item":
        named = lists_of(argument, columns)
        of_side = [name for name in matching if name in named or (HIT in name and _side_of(name) == argument)]
        return of_side or named or _beside_values(columns, argument)
    if role == "grade" and not matching:
        is_beir = {*map(_normalize, columns.names)} >= _BEIR
        return [name for name in free if usual_role(name) == "score" and (HIT in name or is_beir)]
    if role == "score" and not matching:
        return [name for name in free if HIT in name and names_ratings(name)]
    return []


def _are_lists_of_items(columns: Columns, argument: str) -> bool:
    """Return whether each row holds a list of items, in which no item has a user."""
    lists = {*columns.lists()}
    if columns.named.isdisjoint(lists):
        with suppress(InputError):
            return item_column(columns, None, argument) in lists and not any(map(names_user, columns.names))
        return False
    return True


def lists_of(argument: str, columns: Columns) -> list[str]:
    """Return the lists of items of one side in rows with both, by their names."""
    named = [name for name in columns.free if HIT not in name and _side_of(name) == argument]
    lists = columns.lists() if named else ()
    return [name for name in named if name in lists and _SCORE_WORDS.isdisjoint(words_of(name)[1:])]


def _side_of(name: str) -> str:
    """Return the argument that a list is for in rows with both sides, by its name; empty if that says nothing."""
    first = words_of(name)[:1]
    return next((side for side, words in _FIRST_WORDS.items() if not words.isdisjoint(first)), "")


def names_user(name: str) -> bool:
    """Return whether a field of hits is a user: then these are rows, whatever is beside them."""
    return HIT in name and _ROLES.get(_normalize(name.rpartition(HIT)[2])) == "user"


def beside(item: str, names: Iterable[str]) -> list[str]:
    """Return the names of columns that may belong to the items: not those of other hits, or of the other side of a row with both."""
    hits, side = item.rpartition(HIT)[0], _side_of(item)
    return [
        name for name in names if name.rpartition(HIT)[0] in {"", hits} and (not side or _side_of(name) in {"", side})
    ]


def _beside_values(columns: Columns, argument: str) -> list[str]:
    """Return the one field of hits beside one of scores or grades, which ALS calls as the column of items was called."""
    fields = [name for name in columns.names if HIT in name]
    others = [name for name in fields if usual_role(name) not in {"score", "rank", "grade"}]
    return others if len(fields) == 2 and len(others) == 1 and argument in _NAMING_UNITS else []


class ChosenColumns(NamedTuple):
    """The columns of a frame or file that are read."""

    users: list[str]
    item: str
    values: dict[str, str]  # of grades, scores or ranks, by role
    names: list[str]  # of all of them

    @classmethod
    def of(cls, users: list[str], item: str, values: dict[str, str]) -> ChosenColumns:
        """Return the columns of these names."""
        return cls(users, item, values, [*users, item, *values.values()])


def choose_columns(columns: Columns, requested: ColumnNames, argument: str, roles: Iterable[str]) -> ChosenColumns:
    """Return the columns of users, of items, and of values with these roles, by requested names or else common ones."""
    users = user_columns(columns, requested.get("user"), argument)
    item, values = choose_items(columns, requested, argument, roles)
    chosen = ChosenColumns.of(users, item, values)
    check_distinct(chosen.names, argument)
    if argument in _NAMING_UNITS:
        for name in (*users, item):
            note_column(name, usual_role(name))
    return chosen


def choose_items(
    columns: Columns, requested: ColumnNames, argument: str, roles: Iterable[str]
) -> tuple[str, dict[str, str]]:
    """Return the column of items and, by role, those of values: of hits, fields of the same list."""
    item = item_column(columns, requested.get("item"), argument)
    hits = item.rpartition(HIT)[0]
    of_items = columns._replace(names=[name for name in columns.names if name.rpartition(HIT)[0] == hits])
    values = {
        role: value_column(columns if requested.get(role) else of_items, role, requested.get(role), argument)
        for role in roles
    }
    return item, {role: name for role, name in values.items() if name is not None}


MOST_COLUMNS = 100  # a mapping with more keys does not have column names
_MOST_SAMPLES = 1000  # rows, until each list has been seen with something in it
_FIELDS_OF_RECORDS = ("_fields", "__dataclass_fields__", "model_fields", "__fields__")


def name_columns(names: Iterable[object]) -> bool:
    """Return whether these are column names, including a user and an item column."""
    return {"user", "item"} <= set(map(usual_role, [name for name in names if isinstance(name, str)]))


def names_of_record(value: object) -> list[str]:
    """Return the names of the fields of a record with a user and an item, or of a mapping with a user and a list; of others none.

    Records are mappings, and instances of named tuples, data classes and models of pydantic.
    """
    fields: Any = value if isinstance(value, Mapping) else ()
    for attribute in () if isinstance(value, Mapping) else _FIELDS_OF_RECORDS:
        fields = fields or getattr(type(value), attribute, ())
    names = list(islice(fields, MOST_COLUMNS))
    if isinstance(value, Mapping) and any(isinstance(value[name], list) for name in names):
        has_user = any(usual_role(name) == "user" or _normalize(name) in _USERS_OF_LISTS for name in map(str, names))
        return names if has_user else []
    return names if name_columns(names) else []


def sample_of_rows(rows: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Return the first row, by column: a column of hits is one per field, and values are those of the first row where they are not empty or null."""
    left = iter(rows)
    sample = dict(next(left, {}))
    for row in islice(left, _MOST_SAMPLES):
        empty = [name for name, value in sample.items() if value is None or value == []]
        if not empty:
            break
        sample |= {name: row[name] for name in empty if row.get(name)}
    split: dict[Any, Any] = {}
    for name, value in sample.items():
        hit = value[0] if isinstance(value, list) and value else None
        fields = hit.items() if isinstance(hit, Mapping) else ()
        plain = {f"{name}{HIT}{field}": [one] for field, one in fields if not isinstance(one, (list, Mapping))}
        split |= plain or {name: value}
    return split


def all_columns(row: Mapping[Any, Any]) -> set[Any]:
    """Return the names of a row's columns, with those of the plain fields of all hits."""
    lists = [(name, value) for name, value in row.items() if isinstance(value, list)]
    hits = ((name, hit) for name, value in lists for hit in value if isinstance(hit, Mapping))
    return {
        *row,
        *(
            f"{name}{HIT}{field}"
            for name, hit in hits
            for field, one in hit.items()
            if not isinstance(one, (list, Mapping))
        ),
    }


def value_of(row: Mapping[Any, Any], name: str) -> Any:  # noqa: ANN401 - whatever rows hold
    """Return what a row has in a column, which may be a field of its hits. Raise KeyError or TypeError if it has none."""
    parent, _, field = name.rpartition(HIT)
    if name in row or not parent:
        return row[name]
    hits = row[parent]
    if isinstance(hits, (str, Mapping)):
        raise TypeError(name)
    return [hit[field] for hit in hits]


def check_distinct(names: Sequence[str], argument: str) -> None:
    """Raise InputError if a column has two roles."""
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise input_error(
            argument, "distinct columns for the user, the item and each value", f"{twice!r} for two of them"
        )


def _existing_column(existing: Sequence[str], name: object, role: str, argument: str) -> str:
    if not isinstance(name, str):
        parts = name if role == "item" and isinstance(name, (list, tuple)) else ()
        joined = " + '/' + ".join(f"frame[{part!r}].astype(str)" for part in parts)
        hint: Text = (
            (Name(f"frame.assign(joined={joined})"), " and ", Option(role, "joined"), " join them") if parts else ()
        )
        raise type_error(role, "a column name", repr(name), hint=hint)
    if (name := _full_name(existing, name)) not in existing:
        raise input_error(argument, f"the {role} column {name!r}", Name(f"the columns {_list_in_brief(existing)}"))
    if list(existing).count(name) > 1:
        raise input_error(argument, f"one column {name!r}", f"{list(existing).count(name)}")
    return name


def _full_name(existing: Sequence[str], name: str) -> str:
    """Return the name of the column; of hits, a field may be named alone if no other has the name."""
    fields = [] if name in existing else [one for one in existing if one.endswith(f"{HIT}{name}")]
    return fields[0] if len(fields) == 1 else name


def _absence_error(columns: Columns, role: str, argument: str) -> Exception:
    existing = columns.names
    found = f"the columns {_list_in_brief(existing)}" if existing else "no column with a string as its name"
    value = {name for name in existing if name.lower().rstrip("s") == argument.rstrip("s")}  # the weight or group
    others = columns._replace(named=columns.named | value)
    by_name = naming_hint(others, role) if existing else f"{argument}.columns = [{role!r}, ...] names them"
    texts = "_id and text are those of a corpus or of queries, and judgments are in the qrels beside them"
    hint = columns.hint() or _header_hint(existing) or (texts if {"_id", "text"} <= {*existing} else by_name)
    parts = Fault(
        argument=argument,
        expected=f"a column for the {role}",
        such_as=", ".join(USUAL_NAMES[role][:3]),
        found=Name(found),
        hint=as_text(hint),
    )
    return InputError.of_fault(parts)


_OTHER_SEPARATOR = r"[;|\t]"
_NUMBER = r"[-+]?[0-9]+(\.[0-9]*)?"


def _header_hint(existing: Sequence[str]) -> str:
    """Return what is wrong with a header that has other separators, or is a row of values; empty if nothing is."""
    if len(existing) == 1 and (separator := re.search(_OTHER_SEPARATOR, existing[0])):
        return f"columns are separated by commas in CSV and by tabs in TSV, here by {separator[0]!r}"
    number = next((one for one in existing if re.fullmatch(_NUMBER, one)), None)
    return "" if number is None else f"{number} is a value, and files begin with a line of column names"


def _list_in_brief(names: Sequence[str]) -> str:
    most = 20
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def order_error(columns: Columns, used: Sequence[str], roles: Sequence[str], argument: str) -> Exception:
    """Return the error for rows of predictions that no column orders; those that are used are keys."""
    expected = f"a {' or '.join(roles)} column, because the order of rows has no meaning"
    others = columns._replace(names=[name for name in columns.names if name not in used])
    return input_error(argument, expected, "none", hint=naming_hint(others, *roles))


_OTHER_LINE = r"[#<%]|[^:]*:$"


def naming_hint(columns: Columns, *roles: str) -> Text:
    """Return how to name a column for a role, using the likeliest column without a role: for keys, ids before others."""
    if not any(map(usual_role, columns.names)) and any(re.match(_OTHER_LINE, name) for name in columns.names):
        return ("files begin with a line of column names",)
    are_keys = roles[0] in {"user", "item"}
    may_be = [name for name in columns.free if are_keys or not _names_rows_or_ids(name)]
    free = [name for name in may_be if usual_role(name) is None and not _names_times(name)]
    words = _KEY_WORDS.get(roles[0], frozenset())
    free.sort(
        key=lambda name: (
            words.isdisjoint(words_of(name)),
            not _TEXT_WORDS.isdisjoint(words_of(name)),
            not _names_rows_or_ids(name),
        )
    )
    if roles == ("user",) and free:
        free = [name for name in free if name not in columns.lists()]
        if not free:
            return ("each row of lists needs the id of its user",)
    grades = [name for name in columns.free if usual_role(name) == "grade"] if "score" in roles else []
    if "rank" in roles and not grades and free and names_lowest_as_best(free[0]):
        roles = ("rank",)  # as a score, the worst would be best
    name = next(iter(grades + free), "NAME")  # ratings are scores, too
    first, *others = (Option(role, name) for role in roles)
    swapped = ("; if these are the grades of the truth, the truth comes first",) if grades else ()
    if are_keys and len(columns.names) == 1:
        is_list = roles == ("item",)  # perhaps, of which this is the first
        named: Text = ("name it, for example with ", first, "; ") if is_list else ()
        return (*named, "files begin with a line of column names")
    return ("name it, for example with ", first, *(part for option in others for part in (" or ", option)), *swapped)


_MOST_EVENTS = 20
_EVENT = "(action|activity|behaviou?r|engagement|event|feedback|(inter|re)action|label|sentiment|signal)s?"
_KIND = "kind|outcome|state|status|type"
_JUDGMENT = "judge?ments?|negatives?|positives?|relevant"
_PARTITION = "partition|set|split|subset"
_ACTION = (
    "(addtocart|bought|buy|cancel|cart|click|complete|deliver|dislike|download|favou?rite|impression|install|like|listen"
    "|order|paid|play|purchase|return|save|seen|share|skip|subscribe|transaction|view|watch)(l?e?d|s)?"
)
_MAY_BE_EVENT = f"{_EVENT}|{_KIND}|{_ACTION}|{_JUDGMENT}|{_PARTITION}"
_FLAGS = frozenset({"0", "1", "f", "false", "n", "no", "t", "true", "y", "yes"})
POSITIVE = frozenset({"1", "exact", "positive", "relevant", "t", "test", "true", "y", "yes"})
_PARTS = frozenset({"dev", "eval", "holdout", "test", "testing", "train", "training", "val", "valid", "validation"})


class UnusedColumns(NamedTuple):
    """The columns of a truth that are not used."""

    numbers: tuple[str, ...] = ()  # could be grades
    events: tuple[tuple[str, ...], ...] = ()  # names, each with values seen: what happened, or whether


def names_outcome(name: str) -> bool:
    """Return whether a name says whether something happened, such as `clicked`, or counts, such as `label`."""
    words = words_of(name) or [""]
    has_happened = any(word.endswith(("ed", "bought", "seen")) and re.fullmatch(_ACTION, word) for word in words)
    return has_happened or usual_role(name) == "grade" or re.fullmatch(_JUDGMENT, words[-1]) is not None


def events_among(
    names: Iterable[object], values_of: Callable[[str], Sequence[str]] = lambda _: ()
) -> tuple[tuple[str, ...], ...]:
    """Return the columns that say what happened, each with its distinct values; by their names where these are unknown."""
    all_names = [name for name in names if isinstance(name, str)]
    texts = [*may_be_grades(all_names), *(name for name in all_names if words_of(name)[-1:] == ["split"])]
    columns = [
        (name, *values_of(name)) for name in texts if any(re.fullmatch(_MAY_BE_EVENT, word) for word in words_of(name))
    ]
    return tuple(column for column in columns if _are_events(*column))


def _are_events(name: str, *values: str) -> bool:
    if not values:
        return _names_event(name) or names_outcome(name)
    if not 1 < len(values) <= _MOST_EVENTS:
        return False
    last, lowered = words_of(name)[-1], {value.lower() for value in values}
    if re.fullmatch(_PARTITION, last):
        return lowered <= _PARTS
    have_action = any(re.fullmatch(_ACTION, word) for value in values for word in words_of(value))
    return have_action or _names_event(name) or re.fullmatch(_JUDGMENT, last) is not None or lowered <= _FLAGS


def _names_event(name: str) -> bool:
    """Return whether a name says that the column holds what happened, not where or when."""
    *others, last = words_of(name) or [""]
    if others and (last == "name" or re.fullmatch(_KIND, last)):
        last = others[-1]
    return re.fullmatch(_EVENT, last) is not None
