from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from commands import CommandResult, Run

# The same examples in every run of the continuous integration; new ones on a developer's machine.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# `make engines`, `make browser`, `make notebook` and `make programs` install these libraries and run these tests.
LIBRARIES = {
    "axe_playwright_python": "browser",
    "beir": "programs",
    "dask": "engines/test_dask.py",
    "lightgbm": "engines/test_boosted_trees.py",
    "nbconvert": "notebooks",
    "pyspark": "engines/test_spark.py",
    "ray": "engines/test_ray.py",
    "torchmetrics": "engines/test_torch_metric.py",
}
collect_ignore = [path for library, path in LIBRARIES.items() if not find_spec(library)]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command of ``exactk`` in this process."""
    from exactk._cli import main  # noqa: PLC0415 - not all tests need it

    return lambda *arguments: CommandResult(main([str(argument) for argument in arguments]), *capsys.readouterr())


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
