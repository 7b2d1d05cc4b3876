"""What a child process must not take over from its parent: locks that a thread has there, which the child has not."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from importlib import _bootstrap
from threading import RLock, get_ident

IMPORTED = {"exactk", "numpy", "pandas", "polars", "pyarrow", "scipy"}


def imports_of_others() -> list[str]:
    """Return which modules another thread is importing, of the package and of what its calls import.

    None while this thread imports one itself: the other may wait for it.
    """
    locks = [(name, lock()) for name, lock in [*vars(_bootstrap).get("_module_locks", {}).items()]]
    owners = {name: getattr(lock, "owner", None) for name, lock in locks if name.partition(".")[0] in IMPORTED}
    names = [name for name, owner in owners.items() if owner is not None]
    return [] if get_ident() in owners.values() else names


def finish_imports() -> None:
    """Let other threads finish what they import: a child would wait without end for who is not there to release the locks."""
    while names := imports_of_others():
        for name in names:
            vars(_bootstrap)["_lock_unlock_module"](name)  # waits as an import does, and notices who waits for whom


def renew_locks() -> None:
    """Give all cached properties of the package new locks: another thread of the parent may have held one.

    Before Python 3.12 all objects of a class share a lock for each.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("exactk.")]
    for one in [one for module in modules for one in vars(module).values() if isinstance(one, type)]:
        for attribute in vars(one).values():
            if isinstance(attribute, cached_property):
                attribute.lock = RLock()  # type: ignore[attr-defined] # of Python 3.11


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish_imports)
    if sys.version_info < (3, 12):
        os.register_at_fork(after_in_child=renew_locks)
