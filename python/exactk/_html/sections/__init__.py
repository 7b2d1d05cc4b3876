"""The sections of a page, one function a module, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._html.parts import Section
    from exactk._html.source import Source

SECTIONS: Sequence[Callable[[Source], Section]] = ()
