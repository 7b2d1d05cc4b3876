"""The counts of an evaluation: users, items, candidates and ties."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from exactk._runtime.unit_names import UnitNames

CountName: TypeAlias = tuple[str, str]
"""A kind of count, and its part: a statistic of candidates or a metric, empty where the count is one number."""

_OF_USERS = ("empty_truth", "empty_predictions", "missing_lists", "missing_truth")
_REQUIRED = (
    *("users", *_OF_USERS, "duplicates", "excluded_recommended"),
    *("relevant_excluded", "relevant_not_rankable", "longest_list"),
)
_OPTIONAL = ("unknown_actual", "rank_gaps", "foreign_recommended", "unseen_recommended")
_SCALARS = (*_REQUIRED, *_OPTIONAL)
_CANDIDATES = tuple(("candidates", statistic) for statistic in ("users", "total", "min", "max"))


_TEXTS = {
    "users": ("user", "users"),
    "empty_truth": ("user without relevant items", "users without relevant items"),
    "empty_predictions": ("user with an empty list", "users with empty lists"),
    "missing_lists": ("user without predictions", "users without predictions"),
    "missing_truth": ("user not in the truth", "users not in the truth"),
    "duplicates": ("duplicate", "duplicates"),
    "excluded_recommended": ("recommended item excluded", "recommended items excluded"),
    "relevant_excluded": ("relevant item excluded", "relevant items excluded"),
    "relevant_not_rankable": ("relevant item not rankable", "relevant items not rankable"),
    "unknown_actual": ("row without an actual rating", "rows without an actual rating"),
    "rank_gaps": ("user with rank gaps", "users with rank gaps"),
    "foreign_recommended": ("recommended item outside the catalogue", "recommended items outside the catalogue"),
    "unseen_recommended": ("recommended item not in train", "recommended items not in train"),
}


_TEXTS_OF_LISTS = {
    "empty_truth": ("user without items in one", "users without items in one"),
    "empty_predictions": ("user without items in other", "users without items in other"),
    "missing_lists": ("user only in one", "users only in one"),
    "missing_truth": ("user only in other", "users only in other"),
}
"""The counts of `exactk.agreement`, whose truth is the list `one` and whose predictions are the list `other`."""


def count_text(name: str, count: int, units: UnitNames, *, compares_lists: bool = False) -> str:
    """Return a scalar count as reports print it, such as ``1 user without predictions``."""
    one, many = (_TEXTS | _TEXTS_OF_LISTS if compares_lists else _TEXTS)[name]
    return f"{count} {units.text(one if count == 1 else many)}"


def count_label(name: str, units: UnitNames, *, compares_lists: bool = False) -> str:
    """Return a scalar count's name as comparisons print it; other names without underscores."""
    texts = _TEXTS | _TEXTS_OF_LISTS if compares_lists else _TEXTS
    return units.text(texts[name][1] if name in texts else name.replace("_", " "))


def counts_of_systems(
    systems: Sequence[Counts], metrics: Sequence[str], units: UnitNames, *, compares_lists: bool
) -> dict[str, list[str]]:
    """Return the text of each count that is not 0 in all systems; the number of users, if systems differ.

    Of ties, it is the users whom their order decides, of the first metric in which a system counts some.
    """
    scalars = [one.scalars() for one in systems]
    texts = {}
    for name in dict.fromkeys(name for one in scalars for name in one):
        cells = [one.get(name, 0) for one in scalars]
        if name == "longest_list" or (name == "users" and len(set(cells)) == 1):  # users are in the footer
            continue
        if any(cells):
            texts[count_label(name, units, compares_lists=compares_lists)] = [*map(str, cells)]
    dependent = [[ties.dependent for ties in one.ties or ()] for one in systems]
    for first in dict.fromkeys(next((at for at, count in enumerate(one) if count), None) for one in dependent):
        if first is not None:
            texts[f"tie dependent {metrics[first]}"] = [str(one[first]) if one else "0" for one in dependent]
    candidates = [_range_of_candidates(one.candidates) for one in systems]
    return texts | ({f"candidates per {units.user}": candidates} if any(candidates) else {})


def _range_of_candidates(candidates: CandidateCounts | None) -> str:
    if candidates is None or not candidates.users:
        return ""
    fewest, most = candidates.fewest, candidates.most
    return str(fewest) if fewest == most else f"{fewest} to {most}"


class CandidateCounts(NamedTuple):
    """Numbers of candidates, less exclusions, of the users who are present in the predictions."""

    users: int
    total: int
    fewest: int  # fewest of any user; 0 without users
    most: int

    def merge(self, other: CandidateCounts) -> CandidateCounts:
        """Return the counts of both sets of users."""
        if not (self.users and other.users):
            return self if self.users else other
        return CandidateCounts(
            self.users + other.users,
            self.total + other.total,
            min(self.fewest, other.fewest),
            max(self.most, other.most),
        )


_MILLION = 1_000_000


class TieCounts(NamedTuple):
    """The effect of the order of ties on one value."""

    dependent: int  # users whose value another order changes; of values of the lists' items, may change
    spread: int  # how far apart its extremes are, summed over these users, in millionths; of unknown ones, 1 each

    @classmethod
    def of_lists(cls, dependent: int) -> TieCounts:
        """Return the counts of a value of the lists' items, whose extremes are unknown."""
        return cls(dependent, dependent * _MILLION)

    def merge(self, other: TieCounts) -> TieCounts:
        """Return the counts of both sets of users."""
        return TieCounts(self.dependent + other.dependent, self.spread + other.spread)


class Counts(NamedTuple):
    """Counts over some users; `Report.counts` describes each."""

    users: int
    empty_truth: int
    empty_predictions: int
    missing_lists: int
    missing_truth: int
    duplicates: int
    excluded_recommended: int
    relevant_excluded: int
    relevant_not_rankable: int
    longest_list: int
    candidates: CandidateCounts | None = None  # where only some items may be ranked
    unknown_actual: int | None = None  # set by `exactk.from_ratings`
    rank_gaps: int = 0
    foreign_recommended: int | None = None  # where a metric reads the items of the list
    unseen_recommended: int | None = None  # likewise, and it is known what is in train
    ties: tuple[TieCounts, ...] | None = None  # by value, for scores
    undefined: tuple[int, ...] | None = None  # by value: users with 0 / 0, if any; not for an empty list or truth

    def merge(self, other: Counts) -> Counts:
        """Return the counts of both sets of users, for the same values."""
        fields = zip(_MERGING, self, other, strict=True)
        return type(self)._make([a if b is None else b if a is None else merging(a, b) for merging, a, b in fields])

    def scalars(self) -> dict[str, int]:
        """Return the scalar counts by name, rare ones only if they apply."""
        counts = {name: getattr(self, name) for name in _REQUIRED}
        optional = {name: getattr(self, name) for name in _OPTIONAL} | {"rank_gaps": self.rank_gaps or None}
        return counts | {name: count for name, count in optional.items() if count is not None}

    def by_name(self, metrics: Sequence[str]) -> dict[CountName, int]:
        """Return all counts; `metrics` are the names of the values."""
        counts: dict[CountName, int] = {(name, ""): count for name, count in self.scalars().items()}
        if self.candidates is not None:
            counts.update(zip(_CANDIDATES, self.candidates, strict=True))
        if self.ties is not None:
            for metric, ties in zip(metrics, self.ties, strict=True):
                counts.update(zip(_tie_names(metric), ties, strict=True))
        counts.update(zip(map(_undefined_name, metrics), self.undefined or (), strict=False))
        return counts

    def to_plain(self, metrics: Sequence[str]) -> dict[str, int]:
        """Return all counts under one name each, for JSON."""
        return {_plain_name(name): count for name, count in self.by_name(metrics).items()}

    @staticmethod
    def plain_names(metrics: Sequence[str]) -> list[str]:
        """Return the names of all counts that `to_plain` may have."""
        return list(map(_plain_name, _all_names(metrics)))

    @classmethod
    def from_plain(cls, data: object, metrics: Sequence[str]) -> Counts:
        """Return the counts that `to_plain` described; raise ValueError if they are impossible."""
        from exactk._runtime.shapes import Fields, Whole, read_at

        names = cls.plain_names(metrics)
        optional = [name for name in names if name not in _REQUIRED]
        counts: dict[str, int] = read_at("counts", Fields(dict, dict.fromkeys(names, Whole()), optional), data)
        tie_names = chain.from_iterable(map(_tie_names, metrics))
        candidates, ties = _select(counts, _CANDIDATES), _select(counts, [*tie_names])
        undefined = _select(counts, list(map(_undefined_name, metrics)))
        result = cls(
            **{name: counts[name] for name in _SCALARS if name in counts},
            candidates=CandidateCounts(*candidates) if candidates else None,
            ties=tuple(map(TieCounts, ties[::2], ties[1::2])) if ties else None,
            undefined=tuple(undefined) or None,
        )
        _check_users(result, metrics)
        return result


def _merge_ties(one: tuple[TieCounts, ...], other: tuple[TieCounts, ...]) -> tuple[TieCounts, ...]:
    return tuple(map(TieCounts.merge, one, other))


def _add_by_value(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int.__add__, one, other))


# How the counts of both sets of users are merged, by field; of the optional ones, those that have any are kept.
_MERGING: tuple[Callable[[Any, Any], Any], ...] = (
    *(add,) * 9,  # users to relevant_not_rankable
    max,
    CandidateCounts.merge,
    *(add,) * 4,  # unknown_actual to unseen_recommended
    _merge_ties,
    _add_by_value,
)


def _undefined_name(metric: str) -> CountName:
    return "undefined", metric


def _tie_names(metric: str) -> tuple[CountName, CountName]:
    """Return the names of the fields of `TieCounts`."""
    return ("tie_dependent", metric), ("tie_spread", metric)


def _all_names(metrics: Sequence[str]) -> list[CountName]:
    by_metric = chain.from_iterable((*_tie_names(metric), _undefined_name(metric)) for metric in metrics)
    return [*((name, "") for name in _SCALARS), *_CANDIDATES, *by_metric]


@lru_cache(maxsize=1024)  # read and written for each state
def _plain_name(name: CountName) -> str:
    kind, part = name
    return f"{kind}.{part}" if part else kind


def _select(counts: Mapping[str, int], names: Sequence[CountName]) -> list[int]:
    """Return the counts of these names; all or none must be present."""
    from exactk._runtime.shapes import ShapeError

    present = [name for name in map(_plain_name, names) if name in counts]
    if present and len(present) < len(names):
        raise ShapeError("counts", f"all of {', '.join(map(_plain_name, names))}", present)
    return [counts[name] for name in present]


def _check_users(counts: Counts, metrics: Sequence[str]) -> None:
    """Raise ValueError if counts exceed the number of users, or candidates are inconsistent."""
    from exactk._runtime.shapes import ShapeError

    of_users: dict[CountName, int] = {(name, ""): getattr(counts, name) for name in _OF_USERS}
    if counts.candidates is not None:
        of_users["candidates", "users"] = counts.candidates.users
    for metric, ties in zip(metrics, counts.ties or (), strict=False):
        of_users["tie_dependent", metric] = ties.dependent
    of_users.update(zip(map(_undefined_name, metrics), counts.undefined or (), strict=False))
    for name, count in of_users.items():
        if count > counts.users:
            raise ShapeError(f"counts.{_plain_name(name)}", f"an integer from 0 to {counts.users}", count)
    if counts.missing_lists + counts.missing_truth > counts.users:
        raise ShapeError("counts", f"at most {counts.users} missing_lists and missing_truth together")
    for ties in counts.ties or ():
        if ties.spread and not ties.dependent:
            raise ShapeError("counts", "no tie_spread without tie_dependent users", ties.spread)
    if not counts.users and any(counts.scalars().values()):
        raise ShapeError("counts", "no counts without users", counts.scalars())
    if counts.candidates is not None:
        _check_candidates(counts.candidates)


def _check_candidates(counts: CandidateCounts) -> None:
    """Raise ValueError if the numbers of candidates are inconsistent."""
    from exactk._runtime.shapes import ShapeError

    users, total, fewest, most = counts
    if not fewest * users <= total <= most * users or fewest > most or (not users and most):
        expected = "consistent candidates.min, candidates.total and candidates.max"
        raise ShapeError("counts", expected, (users, total, fewest, most))
