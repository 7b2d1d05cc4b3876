"""The state of a comparison: each system's sums, and those over pairs of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from exactk._report.comparison_options import ComparisonOptions
from exactk._report.metric_mapping import ReadOnlyMapping
from exactk._report.paired_plain import paired_from_plain, paired_to_plain
from exactk._report.state import State
from exactk._runtime.errors import StateMismatchError
from exactk._runtime.shapes import Anything, Fields, Named, Through, plain_data

if TYPE_CHECKING:
    from exactk._report.paired_sums import PairedState

_EXPECTED = "the output of ComparisonState.to_dict"
_SHAPE = Fields(
    dict,
    {
        "systems": Named(Through(State.from_dict, State.to_dict)),
        "options": Through(ComparisonOptions.from_dict, ComparisonOptions.to_dict),
        "paired": Anything(),
    },
)


@dataclass(frozen=True)
class ComparisonState(Mapping[str, State]):
    """The exact, mergeable sums of a comparison: a mapping from system to `State`, and the sums over pairs of systems.

    `exactk.merge` adds states of different users; the differences of the result equal those of one comparison of all
    users, bit for bit. The size of a state does not depend on the number of users. It can be pickled, and survives
    `to_dict` and `from_dict` unchanged. States of single systems are not enough for differences, because they lack the
    sums of products of two systems' values.

    Attributes
    ----------
    systems : Mapping of str to State
        The sums of each system.
    options : ComparisonOptions
        How the systems are compared.
    paired : PairedState or None
        The sums over pairs of systems; None if there are none, as for a single system.

    Examples
    --------
    >>> import exactk
    >>> systems = {"a": [[1], [3]], "b": [[1], [2]]}
    >>> state = exactk.compare([[1], [2]], systems, "P@1").state
    >>> merged = exactk.merge([state, state])
    >>> merged["P@1"], merged.differences["b", "P@1"].users
    ({'a': 0.5, 'b': 1.0}, 4)
    """

    systems: Mapping[str, State]
    options: ComparisonOptions
    paired: PairedState | None

    def __post_init__(self) -> None:
        """Freeze the mapping."""
        object.__setattr__(self, "systems", ReadOnlyMapping(dict(self.systems)))

    def __getitem__(self, system: str) -> State:
        return self.systems[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def check_same_plan(self, other: ComparisonState) -> None:
        """Raise StateMismatchError unless the other state compares the same systems in the same way."""
        for what, one, another in (
            ("systems", list(self), list(other)),
            *(
                (field.name, getattr(self.options, field.name), getattr(other.options, field.name))
                for field in fields(ComparisonOptions)
            ),
        ):
            if one != another:
                message = f"parts: expected comparisons of the same {what} in all, found {one!r} and {another!r}"
                raise StateMismatchError(message, "parts")
        if (self.paired is None) != (other.paired is None):
            raise StateMismatchError(
                "parts: expected sums over pairs of systems in all or in none, found some", "parts"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**_SHAPE.write(self), "paired": None if self.paired is None else paired_to_plain(self.paired)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ComparisonState:
        """Return the state that `to_dict` described.

        Raises
        ------
        InputError
            If the sums are impossible under the metrics and convention of the systems.
        """
        with plain_data("state", _EXPECTED):
            plain = _SHAPE.read(data)
            return cls(**{**plain, "paired": paired_from_plain(plain["paired"], plain["systems"], plain["options"])})

    def __reduce__(self) -> tuple[Any, ...]:
        return (ComparisonState.from_dict, (self.to_dict(),))

    def __hash__(self) -> int:
        return hash(tuple(self.systems.items()))


ComparisonState.__module__ = "exactk.results"  # where a dataclass would look for names, if it stood in its body
