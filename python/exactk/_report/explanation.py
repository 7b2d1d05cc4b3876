"""The explanation of one user's values: the list, item by item, what was missed, and how the values add up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._report.metric_mapping import MetricMapping
from exactk._runtime.faults import listed, plural
from exactk._runtime.records import NamedTuple, Record
from exactk._runtime.table_exports import ExportsTable, writes
from exactk._runtime.unit_names import USERS_AND_ITEMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._plan.conventions import Convention
    from exactk._runtime.table import Column, Table


class ExplainedItem(NamedTuple):
    """An item of a list down to the cutoff, or a relevant one that was missed, as `exactk.explain` sees it.

    Attributes
    ----------
    rank : int or None
        The rank; None if the item is not in the list.
    item : int, str or bytes
        The item's key or id.
    score : float or None
        The score; None in lists without.
    grade : float or None
        The grade in the truth; None if the item is not judged, or repeated.
    hit : bool
        Whether the item is relevant, and in the list down to the cutoff.
    tied : bool
        Whether the next item has the same score.
    status : str
        ``"listed"`` or ``"repeated"``; of a missed item ``"below the cutoff"``, ``"excluded"``, ``"no candidate"``,
        ``"score is -inf"``, ``"below min_score"`` or ``"not in the list"``.
    term, gain, discount, total : float
        What the item adds to the numerator, often a gain times a discount, and the sum of the terms so far; NaN for none.
        The numerator of ``rbp`` is 1 - p times the sum, at most the highest gain.
    if_first : float
        Of a missed item, the value with this item alone moved to rank 1.
    """

    rank: int | None
    item: Any
    score: float | None
    grade: float | None
    hit: bool
    tied: bool
    status: str
    term: float = math.nan
    gain: float = math.nan
    discount: float = math.nan
    total: float = math.nan
    if_first: float = math.nan


ExplainedItem.__module__ = "exactk.results"  # for its body has fields alone


class ExplainedValue(NamedTuple):
    """A user's value, and what it consists of.

    Attributes
    ----------
    value : float
        The value, as in ``report.per_user``.
    how : str
        How it is computed, in words.
    listed : list of ExplainedItem
        The items down to the cutoff.
    missed : list of ExplainedItem
        The other relevant items, the highest grade first.
    ratio : tuple of float, or None
        Numerator and denominator, if the numerator is a sum over the items; else None.
    ideal : list of tuple
        Of nDCG, the gain and the discounted gain at each rank of the ideal list.
    """

    value: float
    how: str
    listed: Sequence[ExplainedItem]
    missed: Sequence[ExplainedItem] = ()
    ratio: tuple[float, float] | None = None
    ideal: Sequence[tuple[float, float]] = ()


ExplainedValue.__module__ = "exactk.results"  # likewise

_MOST_MISSED = 10  # in a line
_UNSHOWN = "to_pandas() has all"


class Explanation(ExportsTable, Record, Mapping[str, ExplainedValue], eq=False):
    """Why one user's values are what they are, a mapping from metric to `ExplainedValue`: what `exactk.explain` returns.

    It prints the list, rank by rank, with grades (``?`` where an item is not judged, ``-`` where it is judged and not
    relevant), ties (``=4-5``), and what each item adds to each value; the relevant items that were missed; and how the
    values are computed. `to_pandas` has a row for each metric and item.

    Attributes
    ----------
    user : int, str or tuple
        The user's key, or the row number.
    convention : str
        The convention, with what was changed of it.

    Examples
    --------
    >>> import exactk
    >>> truth = {"q1": {"a": 3, "b": 0, "d": 2}}
    >>> explanation = exactk.explain(truth, {"q1": ["u", "a", "b"]}, "q1", "ndcg@2")
    >>> explanation
    user q1; convention standard
    rank  item  grade    gain  discount    term     sum
       1  u     ?      0.0000    1.0000  0.0000  0.0000
       2  a     3      3.0000    0.6309  1.8928  1.8928
    missed: d grade 2 not in the list
    ndcg@2 = 0.4441 = 1.8928 / 4.2619
    ideal of ndcg@2: 3 2 -> 3.0000 + 1.2619
    >>> explanation["ndcg@2"].missed[0].item
    'd'
    """

    __module__ = "exactk.results"
    _has_all = _UNSHOWN

    user: Any
    convention: str
    _values: Mapping[str, ExplainedValue]  # by metric as requested
    _spellings: Mapping[str, str]  # by canonical name
    _convention: Convention
    _key_columns: Mapping[str, NDArray[Any]]  # the user, as a row of a frame has it
    _unit_names: tuple[str, str] = USERS_AND_ITEMS.pair
    _no_list: str = ""  # what there is in its place

    def __getitem__(self, metric: str) -> ExplainedValue:
        """Return what a metric's value consists of, by any spelling."""
        return MetricMapping(self._spellings, [*self._values.values()], self._convention, "")[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def _title(self) -> str:
        return f"{self._unit_names[0]} {self.user}; convention {self.convention}"

    def __repr__(self) -> str:
        return f"{self._title}\n{super().__repr__()}"

    @writes
    def to_html(self) -> str:
        """Return the tables as HTML, of at most 60 rows, to be part of a page, or write them to a file."""
        return self._repr_html_()

    def columns(self) -> dict[str, Any]:
        """Return a row for each metric and item: those of the list down to the cutoff, then the missed ones.

        The columns are the fields of `ExplainedItem`; ``sum`` is its ``total``.
        """
        from exactk._report.export_forms import join_columns
        from exactk._runtime.optional import NullableIntegers

        rows = [(metric, one) for metric, value in self._values.items() for one in (*value.listed, *value.missed)]
        items = [one for _, one in rows]
        numbers = {
            name: np.array([math.nan if (number := getattr(one, field)) is None else number for one in items], float)
            for name, field in (
                *((name, name) for name in ("score", "grade", "gain", "discount", "term")),
                ("sum", "total"),
                ("if_first", "if_first"),
            )
        }
        last = numbers.pop("if_first")
        columns = {
            "metric": [metric for metric, _ in rows],
            "rank": NullableIntegers([one.rank for one in items]),
            self._unit_names[1]: [one.item for one in items],
            "score": numbers.pop("score"),
            "grade": numbers.pop("grade"),
            "hit": [one.hit for one in items],
            "unjudged": [one.grade is None and one.status != "repeated" for one in items],
            "tied": [one.tied for one in items],
            **numbers,
            "status": [one.status for one in items],
            "if_first": last,
        }
        return join_columns({name: np.repeat(key, len(rows)) for name, key in self._key_columns.items()}, columns)

    def _table(self, digits: int | None) -> Table:
        from exactk._runtime.table import Table
        from exactk._runtime.texts import DIGITS

        columns = self.columns()
        columns["rank"] = ["" if rank is None else rank for rank in columns["rank"]]
        return Table.of_columns(columns, len(self._key_columns) + 1, DIGITS if digits is None else digits)

    def _tables(self) -> Sequence[Table]:
        from exactk._runtime.table import MOST_ROWS, Table

        tables = []
        for names in self._alike():
            some = {name: self._values[name] for name in names}
            rows = max((one.listed for one in some.values()), key=len)
            notes = [f"{plural(len(rows) - MOST_ROWS, 'more rank')}; {_UNSHOWN}"] if len(rows) > MOST_ROWS else []
            columns = [
                *_columns_of_list(rows, self._unit_names[1]),
                *(_columns_of_one(rows) if len(some) == 1 else _columns_of_several(some)),
            ]
            shown = [one._replace(cells=one.cells[:MOST_ROWS]) for one in columns]
            if not rows:
                shown, notes = [], [self._no_list or "no item of the list counts"]
            tables.append(Table(shown, self._title, [*notes, *_notes_below(some)]))
        return tables

    def _alike(self) -> list[list[str]]:
        """Return the metrics in groups whose lists agree down to the shorter one."""
        groups: list[list[str]] = []
        for name, value in self._values.items():
            for group in groups:
                others = max((self._values[other].listed for other in group), key=len)
                if all(one[:5] == other[:5] for one, other in zip(value.listed, others, strict=False)):
                    group.append(name)
                    break
            else:
                groups.append([name])
        return groups


def _columns_of_list(rows: Sequence[ExplainedItem], item: str) -> Iterator[Column]:
    from exactk._runtime.table import Column

    yield Column("rank", [one.rank for one in rows])
    yield Column(item, [str(one.item) for one in rows], "text")
    if any(one.score is not None for one in rows):
        yield Column("score", ["" if one.score is None else f"{one.score:.6g}" for one in rows])
    if any(one.tied for one in rows):
        yield Column("tie", _ties(rows), "text")
    yield Column("grade", [_grade(one) for one in rows], "text")


def _ties(rows: Sequence[ExplainedItem]) -> list[str]:
    """Return the ranks of each item's tie; one that goes on below the cutoff has no last rank."""
    texts: list[str] = []
    begin = 0
    for index, one in enumerate(rows):
        if not one.tied or index + 1 == len(rows):
            last = "" if one.tied else index + 1
            is_tie = one.tied or index > begin
            texts += [f"={begin + 1}-{last}" if is_tie else ""] * (index + 1 - begin)
            begin = index + 1
    return texts


def _grade(one: ExplainedItem) -> str:
    if one.grade is None:
        return "repeat" if one.status == "repeated" else "?"
    return f"{one.grade:g}" if one.hit else f"{one.grade:g} -"


def _columns_of_one(rows: Sequence[ExplainedItem]) -> Iterator[Column]:
    """Yield gains, discounts, terms and their running sum, as far as the metric has them."""
    from exactk._runtime.table import Column

    for name, field in (("gain", "gain"), ("discount", "discount"), ("term", "term"), ("sum", "total")):
        cells = [getattr(one, field) for one in rows]
        if not all(map(math.isnan, cells)):
            yield Column(name, cells)


def _columns_of_several(values: Mapping[str, ExplainedValue]) -> Iterator[Column]:
    """Yield the terms of each value that has some."""
    from exactk._runtime.table import Column

    longest = max(len(value.listed) for value in values.values())
    for name, value in values.items():
        if value.ratio is not None:
            cells: list[Any] = [one.term for one in value.listed]
            yield Column(name, [*cells, *[""] * (longest - len(cells))])


def _notes_below(values: Mapping[str, ExplainedValue]) -> Iterator[str]:
    """Yield what was missed, how the values are computed, and ideals."""
    missed: dict[str, list[str]] = {}
    for name, value in values.items():
        if value.missed:
            missed.setdefault(listed([_missed(one) for one in value.missed], _MOST_MISSED), []).append(name)
    for text, names in missed.items():
        yield f"missed{'' if len(names) == len(values) else f' by {listed(names)}'}: {text}"
    for name, value in values.items():
        yield f"{name} = {value.how}"
        if value.ideal:
            gains = " ".join(f"{gain:g}" for gain, _ in value.ideal[:_MOST_MISSED])
            terms = " + ".join(f"{term:.4f}" for _, term in value.ideal[:_MOST_MISSED])
            yield f"ideal of {name}: {gains} -> {terms}{' + ...' * (len(value.ideal) > _MOST_MISSED)}"


def _missed(one: ExplainedItem) -> str:
    return f"{one.item} grade {one.grade:g} {one.status if one.rank is None else f'at rank {one.rank}'}"
