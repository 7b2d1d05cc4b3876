"""What a child process must not take over from its parent."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from threading import RLock


def renew_locks() -> None:
    """Give all cached properties of the package new locks: another thread of the parent may have held one.

    Before Python 3.12 all objects of a class share a lock for each.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("exactk.")]
    for one in [one for module in modules for one in vars(module).values() if isinstance(one, type)]:
        for attribute in vars(one).values():
            if isinstance(attribute, cached_property):
                attribute.lock = RLock()  # type: ignore[attr-defined] # of Python 3.11


if sys.version_info < (3, 12):
    os.register_at_fork(after_in_child=renew_locks)
