"""The fused lists of several systems, as `exactk.fuse` returns them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from exactk._inputs.model.lists import Rankings
from exactk._inputs.model.rows import Rows
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.model.top_k import plain_keys, ranked_columns, ranked_table
from exactk._runtime.errors import input_error
from exactk._runtime.faults import plural
from exactk._runtime.table_exports import ExportsTable, ShowsTables, writes
from exactk._runtime.unit_names import UnitNames

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exactk._runtime.table import Table

FusionMethod: TypeAlias = Literal["rrf", "sum", "mnz", "anz", "max", "min", "median", "rbc", "borda"]
ScoreNorm: TypeAlias = Literal[
    "none", "min_max", "max", "sum", "z", "theoretical_min_max", "rank", "borda", "distribution"
]
MissingScore: TypeAlias = Literal["zero", "lowest"]
FusionTies: TypeAlias = Literal["lowest_id", "highest_id", "input_order", "shared", "expected"]


class FusedScores(SparseScores, ExportsTable, eq=False, init=False):
    """The fused lists of several systems: the items of each user, best first, with their fused scores.

    They are predictions, for `exactk.evaluate` and `exactk.compare`, and `exactk.SparseScores`, with what these have.

    Attributes
    ----------
    method, norm, missing : str
        As in `exactk.fuse`; those that it chose, if none was given. Empty where the method reads none.
    split_ties : int
        The number of users whose last item ties with one that was cut off at ``k``: the lower id is in the list.

    Examples
    --------
    >>> import exactk
    >>> bm25, dense = {"q1": {"d1": 9.5, "d2": 7.0}}, {"q1": {"d3": 0.75, "d1": 0.5}}
    >>> fused = exactk.fuse({"bm25": bm25, "dense": dense}, "sum")
    >>> fused
    user  rank  item  score
    q1       1  d1        1
    q1       2  d3        1
    q1       3  d2        0
    method sum, norm min_max, missing zero; 2 systems, 1 user
    >>> print(fused.to_trec(tag="fused"), end="")
    q1 Q0 d1 1 1.0 fused
    q1 Q0 d3 2 1.0 fused
    q1 Q0 d2 3 0.0 fused
    """

    __module__ = "exactk.results"

    method: str
    norm: str
    missing: str
    split_ties: int
    system_count: int
    unit_names: tuple[str, str]

    __repr__ = ShowsTables.__repr__
    _has_all = "to_pandas() has them"

    @classmethod
    def from_fused(cls, rows: Rows, facts: Mapping[str, Any]) -> Self:
        """Build from rows with scores, and what is known of how they were made."""
        fused = cls.__new__(cls)
        fused._freeze(Rankings.from_rows(rows), rows.scores, None, "predictions", is_complete=False)  # noqa: SLF001 - its own
        vars(fused).update(facts)
        return fused

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: getattr(self, name) for name in _FACTS}
        return (FusedScores._from_plain_fused, (self.rows().to_plain(), facts))

    @classmethod
    def _from_plain_fused(cls, plain: dict[str, Any], facts: dict[str, Any]) -> FusedScores:
        return cls.from_fused(Rows.from_plain(plain), facts)

    def columns(self) -> dict[str, Any]:
        """Return a row for each user and item, best first: the user, the item, its rank from 1 and its score.

        Users without keys are row numbers.
        """
        return self._columns(len(self))

    def _columns(self, users: int) -> dict[str, Any]:
        indptr = self.indptr[: users + 1]
        rows = np.repeat(np.arange(users), np.diff(indptr))
        items = self.items[: indptr[-1]]
        if self.item_vocabulary is not None:
            items = self.item_vocabulary.array[items]
        keys = None if self.user_vocabulary is None else self.user_vocabulary.array
        ranks = np.arange(len(rows)) - indptr[rows] + 1
        values = {self.unit_names[1]: plain_keys(items), "rank": ranks, "score": self.scores[: len(rows)]}
        return ranked_columns(keys, rows, values, self.unit_names[0])

    def _tables(self) -> Sequence[Table]:
        from exactk._runtime.table import MOST_ROWS

        shown = int(np.searchsorted(self.indptr, MOST_ROWS, side="right"))
        shown = min(len(self), max(1, shown))
        units = UnitNames(*self.unit_names)
        read = {"method": self.method, "norm": self.norm, "missing": self.missing}
        notes = [", ".join(f"{name} {value}" for name, value in read.items() if value)]
        notes[0] += units.text(f"; {plural(self.system_count, 'system')}, {plural(len(self), 'user')}")
        if self.split_ties:
            notes.append(units.text(f"{plural(self.split_ties, 'user')} with a tie that is cut at the last item"))
        if shown < len(self):
            notes.append(units.text(f"the first {plural(shown, 'user')}; {self._has_all}"))
        table = ranked_table(self._columns(shown), None)
        return [table._replace(caption=f"Fused lists of {plural(self.system_count, 'system')}", notes=notes)]

    def _table(self, digits: int | None) -> Table:
        return ranked_table(self.columns(), digits)

    @writes
    def to_trec(self, *, tag: str = "fused") -> str:
        """Return a TREC run, with scores in full precision, or write it to a file.

        Parameters
        ----------
        tag : str
            The name of the run, without blanks.
        """
        columns = self.columns()
        *keys, items, ranks, scores = columns.values()
        if len(keys) != 1:
            raise input_error("users", "one key, as TREC runs have", plural(len(keys), "column"))
        queries, documents = ([_field(key) for key in np.asarray(column).tolist()] for column in (keys[0], items))
        for name, texts in zip((*self.unit_names, "tag"), (queries, documents, [tag]), strict=True):
            for text in dict.fromkeys(texts):
                if not _FIELD.fullmatch(text):
                    raise input_error(name, "UTF-8 text without blanks, as TREC runs have", repr(text))
        lines = zip(queries, documents, ranks.tolist(), scores.tolist(), strict=True)
        return "".join(f"{query} Q0 {document} {rank} {score!r} {tag}\n" for query, document, rank, score in lines)


def _field(key: object) -> str:
    return key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else str(key)


_FIELD = re.compile(r"[^ \t\n\v\f\r\ud800-\udfff]+")  # U+00A0 separates no fields
_FACTS = tuple(FusedScores.__annotations__)
