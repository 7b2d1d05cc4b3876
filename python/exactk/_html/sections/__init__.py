"""The sections of a page, one function a module, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._html.sections.catalogue import catalogue
from exactk._html.sections.curves import curves
from exactk._html.sections.data_health import data_health
from exactk._html.sections.definitions import definitions
from exactk._html.sections.examples import examples
from exactk._html.sections.groups import groups
from exactk._html.sections.metric_values import values
from exactk._html.sections.paired_tests import differences
from exactk._html.sections.rank_intervals import ranks
from exactk._html.sections.relevance import relevance
from exactk._html.sections.reproduction import reproduction
from exactk._html.sections.sample_size import sample_size
from exactk._html.sections.trade_offs import trade_offs
from exactk._html.sections.users import users
from exactk._html.sections.verdict import verdict
from exactk._html.sections.wins import wins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exactk._html.page_parts import Section
    from exactk._html.page_source import Source

SECTIONS: Sequence[Callable[[Source], Section]] = (
    verdict,
    values,
    differences,
    wins,
    ranks,
    curves,
    users,
    groups,
    trade_offs,
    examples,
    data_health,
    relevance,
    sample_size,
    catalogue,
    definitions,
    reproduction,
)
