"""What a child process must not take over from its parent: locks that a thread has there, which the child has not."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from importlib import _bootstrap
from threading import RLock, get_ident

IMPORTED = {
    "exactk", "numpy", "dask", "ir_measures", "jinja2", "matplotlib", "pandas", "polars", "pyarrow", "pyspark", "ray", "rich", "scipy",
    "sentence_transformers", "sklearn", "torch", "torchmetrics",
}  # fmt: skip
"""What calls import. The list of optional libraries may not be asked in a child: another thread may have been importing it."""


def forget_begun_imports() -> None:
    """Let go of modules that another thread of the parent was importing for a call: the child imports them anew.

    Python keeps their locks, for which the child would wait without end, as it does not have that thread. The parent does
    not wait for them before it forks: the other thread may wait for what this one holds by then.
    """
    locks = vars(_bootstrap).get("_module_locks", {})
    owners = {name: getattr(lock(), "owner", None) for name, lock in locks.items()}
    threads = {owner for name, owner in owners.items() if name.partition(".")[0] in IMPORTED} - {None, get_ident()}
    for name in [name for name, owner in owners.items() if owner in threads]:
        sys.modules.pop(name, None)
        del locks[name]


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
    os.register_at_fork(after_in_child=forget_begun_imports)
    if sys.version_info < (3, 12):
        os.register_at_fork(after_in_child=renew_locks)
