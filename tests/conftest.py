from __future__ import annotations

import gc
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from commands import CommandResult, Run

if TYPE_CHECKING:
    from collections.abc import Generator

# The same examples in every run, for everybody; `make draws` asks for new ones.
settings.register_profile(
    "new",
    deadline=None,
    derandomize=False,  # which Hypothesis sets where CI is
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.load_profile("same")

# `make engines`, `make browser`, `make notebook` and `make programs` install these libraries and run these tests.
LIBRARIES = {
    "browser": ("axe_playwright_python",),
    "engines": ("dask", "lightgbm", "pyspark", "ray", "torchmetrics"),
    "notebooks": ("nbconvert",),
    "programs": ("beir",),
}
# How a reason to skip a test begins.
SAYS_WHAT_TO_DO = re.compile(r"^(Skipped: )?((set|install|run) |could not import ')")

collect_ignore = [path for path, libraries in LIBRARIES.items() if not all(map(find_spec, libraries))]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command of ``exactk`` in this process."""
    from exactk._cli import main  # noqa: PLC0415 - not all tests need it

    return lambda *arguments: CommandResult(main([str(argument) for argument in arguments]), *capsys.readouterr())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make check`, and that of test_messages.py."""
    parser.addoption("--first-cases", action="store_true", help="of each parametrized test, run the first case alone")
    parser.addoption("--rewrite-messages", action="store_true", help="write tests/golden/messages.json anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out all but the first case of each test where that was asked for."""
    if config.getoption("first_cases"):
        first: dict[str, pytest.Item] = {}
        for item in items:
            first.setdefault(item.nodeid.partition("[")[0], item)
        kept = {*first.values()}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = first.values()


def pytest_collection_finish() -> None:
    """Take the modules and tests out of the garbage collector's rounds: with them each takes half a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Refuse to skip a test for a reason that does not say what would make it run."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        assert isinstance(report.longrepr, tuple)
        path, line, reason = report.longrepr
        if not SAYS_WHAT_TO_DO.search(reason):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: skipped without what to install or set: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was compared with the recorded answers of other libraries."""
    lines = [
        str(text)
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == "golden"
    ]
    if lines:
        terminalreporter.section("compared with what the libraries returned", "-")
        terminalreporter.write_line("\n".join(sorted(lines)))
