"""What the sections of a page read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exactk._report.comparison import Comparison
    from exactk._report.differences import Differences
    from exactk._report.presentation import PageRequest
    from exactk._report.report import Report


@dataclass(frozen=True, eq=False)
class Source:
    """One report or several, and what the page was asked to show."""

    reports: Mapping[str, Report]  # one without a name, "", if there is no comparison
    comparison: Comparison | None
    request: PageRequest

    @property
    def first(self) -> Report:
        """The first report, whose metrics and convention all have."""
        return next(iter(self.reports.values()))

    @cached_property
    def _tested(self) -> tuple[Differences | None, str]:
        if self.comparison is None or len(self.reports) < 2:
            return None, "there is one system; exactk.compare takes several"
        try:
            return self.comparison.differences, ""
        except (ExactkError, ImportError) as error:
            return None, str(error)

    @property
    def differences(self) -> Differences | None:
        """The differences; None if they cannot be computed."""
        return self._tested[0]

    @property
    def no_differences(self) -> str:
        """Why there are no differences; empty if there are."""
        return self._tested[1]
