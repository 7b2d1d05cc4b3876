"""Cases that the tests make: the outcome of each public call in those that reach public names alone.

The tests of the cases' tree run as they are, on functions that note what each call returned, warned of and raised.
Whether a test passes does not matter here, and what it reaches that this side lacks is noted as its error.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

from same.evaluations import Cases
from same.names import find
from same.record import Noted, error_lines, lines_of, warning_lines

ROOT = Path(__file__).resolve().parents[2]
MOST_CALLS = 20  # that are noted of a test
PRIVATE = ("exactk._", "exactk import _", "subprocess", "threading", "signal", "monkeypatch", "_inputs", "children")
SLOW = {f"test_{name}.py" for name in ("oracle", "golden", "golden_lists", "calibration", "larger_than_memory", "permutation_oracle", "fuzz", "pages")}  # fmt: skip
"""Which tests are left out: those that contain these words, and what other cases ask in less time."""


class Notes:
    """A plugin of pytest that notes the public calls of each test."""

    def __init__(self) -> None:
        self.by_test: dict[str, Noted] = {}
        self._current: Noted | None = None
        self._calls = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests of drawn examples."""
        items[:] = [item for item in items if not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note the calls of a test, and its error where that is a name that this side lacks."""
        self._current, self._calls = self.by_test.setdefault(item.nodeid, Noted()), 0
        try:
            yield
        except (AttributeError, ImportError, TypeError) as error:
            self._current += error_lines(error)
            raise
        finally:
            self._current = None

    def noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, which notes what it is asked outside the package."""

        @wraps(function)
        def noted(*arguments: Any, **options: Any) -> Any:
            lines, self._calls = self._current, self._calls + 1
            from_package = sys._getframe(1).f_globals["__name__"].startswith("exactk")  # noqa: SLF001 - nothing else knows
            if lines is None or from_package or self._calls > MOST_CALLS:
                return function(*arguments, **options)
            self._current = None  # what it calls is its own
            lines.append(f"{name}:")
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    result = function(*arguments, **options)
                for one in caught:
                    lines += warning_lines(one)
                lines += lines_of(result)
                for one in caught:
                    warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            except Exception as error:
                lines += error_lines(error)
                raise
            finally:
                self._current = lines
            return result

        return noted

    def note_all(self) -> None:
        """Replace the functions of the package, and the methods and constructors of its classes."""
        package = find("exactk")
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isfunction(value):
                setattr(package, name, self.noting(name, value))
            elif inspect.isclass(value) and value.__module__.startswith("exactk") and not issubclass(value, Exception):
                for method, function in [*vars(value).items()]:
                    if inspect.isfunction(function) and (method[0] != "_" or method == "__init__"):
                        setattr(value, method, self.noting(f"{name}.{method}", function))


def tests() -> Cases:
    """Yield the notes of each test."""
    notes = Notes()
    notes.note_all()
    paths = [path for path in sorted((ROOT / "tests").glob("test_*.py")) if path.name not in SLOW]
    paths = [path for path in paths if not any(word in path.read_text(encoding="utf-8") for word in PRIVATE)]
    options = ["-c", ROOT / "pyproject.toml", "--rootdir", ROOT, "--basetemp", Path("pytest").resolve()]
    chosen = ["-p", "no:cacheprovider", "-m", "not deadline and not native", "-k", "not thread"]
    os.environ |= {"CI": "true", "EXACTK_EXAMPLES": "0.05"}
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        pytest.main([*map(str, options), *chosen, *map(str, paths)], plugins=[notes])
    for name, lines in notes.by_test.items():
        yield name.removeprefix("tests/test_"), partial(Noted, lines)


KINDS = {"tests": tests}
