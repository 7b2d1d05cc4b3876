"""Truth, predictions and exclude of one evaluation: rows of the same users, ids of the same items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._errors import type_error
from exactk._inputs.candidates import Candidates
from exactk._inputs.canonical import Exclude, Lists, Rankings, Rows, Truth, taken
from exactk._inputs.names import OF_ANOTHER_KIND, Names, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactk._errors import ExactkError
    from exactk._inputs import Predictions
    from exactk._inputs.names import Numbers


@dataclass(frozen=True, eq=False)
class Aligned:
    """What is evaluated together. Users of the truth come first, in its order; others follow."""

    truth: Truth
    predictions: Predictions
    exclude: Exclude | None
    given: int  # how many users the truth was given with
    items: Names | None = None  # if ids are not the caller's own
    places: Numbers | None = None  # which of the names each id is, by name
    whose: tuple[Names, Numbers] | None = None  # of some users: the names of all, and which of them each row has

    @property
    def is_whole(self) -> bool:
        """Whether the predictions have all that may be ranked, and not some best of it by user and item."""
        return not isinstance(self.predictions, Candidates) or self.predictions.names is None

    @property
    def item_names(self) -> NDArray[Any] | None:
        """The name of each id, if ids are not the caller's own."""
        if self.items is None:
            return None
        return self.items.array if self.places is None else self.items.array[np.argsort(self.places)]

    def item(self, number: int) -> str:
        """Return what a message calls the item of an id."""
        if self.items is None:
            return str(number)
        return self.items.shown(number if self.places is None else int(np.argmax(self.places == number)))

    def blamed(self, error: ExactkError) -> ExactkError | None:
        """Return the error with the name of the user whose row is at fault; None if that is no row, or has no name."""
        names, numbers = self.whose or (self.users, None)
        if error.row is None or not isinstance(names, Names):
            return None
        return names.blamed(error, numbers) if error.row < len(names if numbers is None else numbers) else None

    @property
    def users(self) -> Names | NDArray[Any] | None:
        """What a report calls the users."""
        return self.truth.labels if self.truth.names is None else self.truth.names


def aligned(truth: Truth, predictions: Predictions, exclude: Exclude | None) -> Aligned:
    """Match users by name, if they have names, and items by name, if they have."""
    given = len(truth)
    own = predictions.names if isinstance(predictions, (Rankings, Candidates)) else None
    if truth.names is not None and own is None:
        hint = "rows without keys are matched with exactk.Truth(..., users=...) or a list"
        raise type_error("predictions", "keys of users, as the truth has them", "rows by number", hint=hint)
    if own is not None or (exclude is not None and exclude.names is not None):
        truth = named(truth)
        assert truth.names is not None  # noqa: S101 - for the type checker
        users = truth.names
        if own is not None:
            users, rows = _joined(users, own, "predictions")
            predictions = _rebuilt(predictions, taken(_rows(predictions), _sources(rows, len(users))))
        truth = widened(truth, users)
        if exclude is not None:
            _, sources = numbered(users, exclude, "exclude")
            exclude = Exclude.from_rows(taken(exclude.rows(), sources[: len(users)])._replace(users=None))
    elif truth.names is not None and exclude is not None:
        raise type_error("exclude", "keys of users, as the truth has them", "rows by number")
    return _items_aligned(Aligned(truth, predictions, exclude, given))


def alone(scores: Candidates, exclude: Exclude | None) -> Aligned:
    """Return candidates and what is excluded as if they were evaluated, against a truth of their users and no items."""
    indptr = np.zeros(len(scores) + 1, np.int64)
    return aligned(Truth.from_rows(Rows(indptr, np.zeros(0, np.int64), users=scores.names)), scores, exclude)


def named(truth: Truth) -> Truth:
    """Return the truth with names of its users, which may be their labels."""
    if truth.names is not None:
        return truth
    if truth.labels is None:
        hint = "exactk.Truth(..., users=...) has some"
        raise type_error("truth", "keys of users, as what it is matched with", "rows by number", hint=hint)
    rows = truth.rows()._replace(users=names_of(truth.labels, "truth.users"))
    return Truth.from_rows(rows, unknown_actual=truth.unknown_actual)


def of_catalogue(exclude: Exclude, catalogue: Names | None) -> Exclude:
    """Return the same, its items among names that go on from the catalogue, if both have names."""
    if catalogue is None or exclude.catalogue is None or exclude.catalogue.goes_on_from(catalogue):
        return exclude
    union, numbers = _joined(catalogue, exclude.catalogue, "items of exclude")
    rows = exclude.rows()
    return Exclude.from_rows(rows._replace(items=numbers[rows.items], catalogue=union))


def numbered(users: Names, lists: Lists, argument: str) -> tuple[Names, NDArray[np.int64]]:
    """Return the users with those of the lists after them, and which row of the lists each has; -1 for none."""
    if lists.names is None:
        raise type_error(argument, "keys of users, as the truth has them", "rows by number")
    union, rows = _joined(users, lists.names, argument)
    return union, _sources(rows, len(union))


def widened(truth: Truth, users: Names) -> Truth:
    """Return the truth of these users, the first of whom are its own; the others are missing from it."""
    if len(users) == len(truth):
        return truth
    sources = np.concatenate([np.arange(len(truth)), np.full(len(users) - len(truth), -1)])
    rows = taken(truth.rows(), sources)._replace(users=users)
    return Truth.from_rows(rows, unknown_actual=truth.unknown_actual)


def everyone(truth: Truth, systems: dict[str, Predictions]) -> Truth:
    """Return the truth with a row for each user of any system, so that all are evaluated on the same users."""
    users = truth.names
    for predictions in systems.values():
        names = predictions.names if isinstance(predictions, (Rankings, Candidates)) else None
        if users is not None and names is not None:
            users, _ = _joined(users, names, "predictions")
    return truth if users is None else widened(truth, users)


def _joined(users: Names, others: Names, argument: str) -> tuple[Names, Numbers]:
    """Return the names of both, those of the first first, and the numbers of the second."""
    for first, second in ((users, others), (others, users)):
        if second.goes_on_from(first):
            return second, np.arange(len(others), dtype=np.uint32)
    if not len(others):
        return users, np.zeros(0, np.uint32)
    union = Names.of_kinds(others.kinds, others.labels) if not len(users) else users.extended()
    return union, union.adopt(others, argument)


def _sources(numbers: Numbers, size: int) -> NDArray[np.int64]:
    """Return which row each user has, of rows whose users have these numbers; -1 for none."""
    sources = np.full(size, -1, np.int64)
    sources[numbers] = np.arange(len(numbers))
    return sources


def _rows(predictions: Predictions) -> Rows:
    assert isinstance(predictions, (Rankings, Candidates))  # noqa: S101 - the others have no names
    return predictions.rows()


def _rebuilt(predictions: Predictions, rows: Rows) -> Predictions:
    lists = Rankings.from_rows(rows)
    if not isinstance(predictions, Candidates):
        return lists
    return Candidates.named(lists, rows.scores, "predictions", predictions.min_score)


def _items_aligned(case: Aligned) -> Aligned:
    """Return the same with ids that mean the same item everywhere, and ascend as its names do if there are scores."""
    truth, predictions, exclude = case.truth, case.predictions, case.exclude
    lists: dict[str, Lists | Candidates] = {"truth": truth}
    if isinstance(predictions, (Rankings, Candidates)):
        lists["predictions"] = predictions
    if exclude is not None:
        lists["exclude"] = exclude
    named = [one.catalogue for one in lists.values() if one.catalogue is not None]
    if not named:
        return case
    _check_all_named(lists)
    union: Names = named[0]
    numbers: dict[str, Numbers] = {}
    for argument, one in lists.items():
        if one.catalogue is not None:
            union, numbers[argument] = _joined(union, one.catalogue, f"items of {argument}")
    places = None
    if isinstance(predictions, Candidates):  # whose ties go by the order of ids
        places = union.places_in_order()
        numbers = {argument: places[own] for argument, own in numbers.items()}

    def renamed(argument: str) -> Rows:
        rows, own = lists[argument].rows(), numbers.get(argument)
        same = own is None or np.array_equal(own, np.arange(len(own)))
        return rows._replace(items=rows.items if own is None or same else own[rows.items], catalogue=None)

    return Aligned(
        Truth.from_rows(renamed("truth"), truth.labels, truth.unknown_actual),
        _rebuilt(predictions, renamed("predictions")),
        None if exclude is None else Exclude.from_rows(renamed("exclude")),
        case.given,
        union,
        places,
    )


def _check_all_named(lists: dict[str, Lists | Candidates]) -> None:
    """Raise InputTypeError if some items have names and others are integers: none would be the same."""
    kinds = {
        argument: "int" if one.catalogue is None else one.catalogue.kinds[0]
        for argument, one in lists.items()
        if len(one.items)
    }
    if "predictions" not in lists:
        kinds["predictions"] = "numbers of columns or rows"
    first = kinds.get("truth", next(iter(kinds.values()), ""))
    for argument, kind in kinds.items():
        if kind != first:
            raise type_error(argument, f"items that are {first}, as in the truth", kind, hint=OF_ANOTHER_KIND)
