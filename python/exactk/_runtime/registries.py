"""Read-only mappings from names, which are looked up without regard to case, hyphens and underscores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from exactk._runtime.faults import plural
from exactk._runtime.texts import did_you_mean, fold

_T = TypeVar("_T")


class Registry(Mapping[str, _T], Generic[_T]):
    """A read-only mapping by name that also finds aliases and other spellings; only the names are listed.

    It prints a line per entry, with its name and what `describe` returns. `kind` is the noun for an entry.
    """

    def __init__(
        self,
        entries: Mapping[str, _T],
        describe: Callable[[_T], str],
        kind: str,
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._entries = entries
        self._describe, self._kind = describe, kind
        self._names = {**{name: name for name in entries}, **aliases}
        self._folded_names = {fold(spelling): name for spelling, name in self._names.items()}

    def name_of(self, spelling: object) -> str | None:
        """Return the name that is meant, if there is one."""
        return self._folded_names.get(fold(spelling)) if isinstance(spelling, str) else None

    def hint(self, spelling: str) -> str:
        """Return a hint with the most similar name or alias, or an empty string."""
        return did_you_mean(spelling, self._names)

    def __getitem__(self, spelling: str) -> _T:
        """Return the entry of a name, in any spelling."""
        entry = self._entries.get(spelling)  # most often it is spelled as the name is
        if entry is not None:
            return entry
        name = self.name_of(spelling)
        if name is None:
            raise KeyError("; ".join(part for part in (repr(spelling), self.hint(str(spelling))) if part))
        return self._entries[name]

    def __contains__(self, spelling: object) -> bool:
        return self.name_of(spelling) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    if not TYPE_CHECKING:  # which would take any attribute for one

        def __getattr__(self, name: str) -> object:
            """Raise AttributeError, with how to write an entry."""
            entry = None if name.startswith("_") else self.name_of(name)
            hint = "" if entry is None else f"; {self._kind}s[{entry!r}] is the {self._kind}"
            message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> list[str]:
        """Return the names of a mapping's methods."""
        return ["get", "items", "keys", "values"]

    def __repr__(self) -> str:
        width = max(map(len, self._entries), default=0)
        return "\n".join(f"{name:{width}}  {self._describe(entry)}" for name, entry in self._entries.items())

    def _repr_html_(self) -> str:
        from exactk._runtime.table import Table, html_of_tables

        rows = [[name, self._describe(entry)] for name, entry in self._entries.items()]
        caption = plural(len(rows), self._kind)
        return html_of_tables([Table.of_rows(["name", "description"], rows, 2, caption=caption, longest=900)])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)
