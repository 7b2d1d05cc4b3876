"""The systems of a call: the predictions of one system, or of several by name."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeAlias

from exactk._inputs.checks import entries_of
from exactk._inputs.containers.frames import has_one_item_each, has_values_by_user_and_item
from exactk._inputs.containers.sequences import has_parts, is_flat, is_row
from exactk._inputs.registry import (
    ARRAY,
    BLOCKS,
    FILE,
    LIST,
    MAPPING,
    SERIES,
    ClassifiedValue,
    classify,
    opened,
    with_records_read,
)
from exactk._inputs.ways_on import of_container, of_hits
from exactk._report.report import Report
from exactk._runtime.errors import ExactkError, each_warning_once, input_error, type_error
from exactk._runtime.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from exactk._inputs.keys.column_roles import ColumnNames
    from exactk._plan.values import Value

Systems: TypeAlias = "Mapping[str, ClassifiedValue]"
"""Predictions by the system's name, which is empty for the only system of `exactk.evaluate`."""


class Form(NamedTuple):
    """The form of a call's predictions: the argument, and how it names systems."""

    argument: str
    block: str  # what an iterator yields, without exclusions
    hint: str  # for what is no iterator of these
    systems: Callable[[ClassifiedValue], Systems]
    other_call: Callable[[ClassifiedValue, str], str]  # a hint, where the value looks like that of the other form

    @property
    def blocks(self) -> str:
        """The tuples that an iterator may yield, for messages."""
        return f"{self.block} or {self.block.removesuffix(')')}, exclude)"

    def amended(
        self, error: ExactkError, classified: ClassifiedValue, values: Sequence[Value], truth: str = "truth"
    ) -> ExactkError:
        """Return an error about the value, saying which function takes it if it looks like that function's argument.

        Only this hint depends on what a mapping holds, never what it means.
        """
        argument = (error.argument or "").partition(".")[0]
        if argument not in {self.argument, "predictions", "truth"}:
            return error
        metrics = repr(values[0].spelling) if len(values) == 1 else "metrics"
        hint = of_container(classified.value, self.argument) if classified.container is MAPPING else ""
        with suppress(ExactkError):  # a content that is none, as the error says
            hint = hint or self.other_call(classified, f"({truth}, {self.argument}, {metrics})")
        if not hint and argument == "predictions" != self.argument:
            hint = _runs_instead(classified)
        return error.amended(hint=(hint,)) if hint else error


def open_systems(systems: Systems, columns: ColumnNames) -> Systems:
    """Return the systems, those that are paths as the contents of their files."""
    if not any(system.container is FILE for system in systems.values()):
        return systems
    with each_warning_once():
        return {name: _open_system(name, system, columns) for name, system in systems.items()}


def _open_system(name: str, system: ClassifiedValue, columns: ColumnNames) -> ClassifiedValue:
    with in_system(name):
        return opened(system, "predictions", columns)


_UNNAMED = nullcontext()


def in_system(name: str) -> AbstractContextManager[None]:
    """Name the system in errors of this block, if there are several."""
    return in_context(f"system {name!r}") if name else _UNNAMED


@contextmanager
def in_context(context: str) -> Iterator[None]:
    """Say in errors of this block where they came from."""
    try:
        yield
    except ExactkError as error:
        if (error.argument or "").partition(".")[0] == "clusters":  # are those of all systems
            raise
        raise error.within(context) from error


def _one_system(classified: ClassifiedValue) -> Systems:
    return {"": classified}


def check_systems_before_metrics(form: Form, classified: ClassifiedValue) -> None:
    """Raise InputTypeError, where the metrics are none, if the systems are the predictions of one: metrics are others'."""
    if form is not SEVERAL_SYSTEMS or classified.container is BLOCKS:
        return
    form.systems(classified)
    systems_of_mapping(classified, "exactk.compare(truth, {'a': a, 'b': b}, metrics) compares two systems")


_OF_ONE = "exactk.evaluate takes the predictions of one system"


def systems_of_mapping(classified: ClassifiedValue, hint: str) -> Systems:
    """Return the systems of a mapping; raise InputTypeError if it has the items of single users."""
    systems = _systems_by_name(classified, hint)
    if _have_all_contents(classified, _is_of_one_user):
        raise type_error(
            "systems", "a mapping from each system's name to its predictions", "a mapping from user", hint=hint
        )
    return systems


def _systems_by_name(classified: ClassifiedValue, hint: str = _OF_ONE) -> Systems:
    from exactk._report.comparison import check_system_name

    if classified.container is not MAPPING:
        if classified.container is LIST and all(isinstance(one, tuple) for one in classified.value):
            hint = "systems=dict(systems) names them, if these are pairs of a name and a system"
        elif classified.container is LIST and all(map(_is_of_many_users, classified.value)):
            hint = "systems={f'system {i}': one for i, one in enumerate(systems)} names several"
        expected = "a mapping from each system's name to its predictions"
        raise type_error("systems", expected, type(classified.value).__name__, hint=hint)
    entries = entries_of(classified.value, "systems")
    if not entries:
        raise input_error("systems", "at least one system", "an empty mapping")
    systems = {}
    for name, predictions in entries.items():
        check_system_name(name, "systems")
        if isinstance(predictions, Report):
            hint = "exactk.compare_reports(systems) compares reports"
            raise type_error("systems", "the predictions of each system", f"a Report for {name!r}", hint=hint)
        systems[name] = with_records_read(classify(predictions, "predictions"))
        if systems[name].container is BLOCKS:
            hint = "exactk.compare(None, blocks, metrics) takes an iterator of (truth, {system: predictions})"
            found = f"an iterator, which can be read only once, for {name!r}"
            raise type_error("systems", "predictions in a container", found, hint=hint)
    return systems


def _compare_instead(classified: ClassifiedValue, arguments: str) -> str:
    """Return how to compare systems, if the values of a mapping from user are whole systems."""
    is_meant = _have_all_contents(classified, _is_of_many_users)
    return f"exactk.compare{arguments} takes a mapping from system" if is_meant else ""


def _evaluate_instead(classified: ClassifiedValue, arguments: str) -> str:
    """Return how to evaluate one system, if the values of a mapping from system are the items of single users."""
    is_meant = _have_all_contents(classified, _is_of_one_user)
    return f"exactk.evaluate{arguments} takes a mapping from user" if is_meant else ""


def _runs_instead(classified: ClassifiedValue) -> str:
    """Return how to compare several training runs, if a system holds those of several systems."""
    if classified.container is not MAPPING:
        return ""
    for name, system in entries_of(classified.value, "systems").items():
        runs, container = classify(system, "predictions")
        if container is LIST:
            runs, container = dict(enumerate(runs)), MAPPING
        if (
            container is MAPPING
            and len(runs) > 1
            and _have_all_contents(ClassifiedValue(runs, MAPPING), _is_of_many_users)
        ):
            return f"for training runs, pass each as a system, and write runs={{{name!r}: [{name + '-0'!r}, {name + '-1'!r}]}}"
    return ""


def _have_all_contents(classified: ClassifiedValue, kind: Callable[[object], bool]) -> bool:
    """Return whether this is a mapping whose values, as far as they hold anything, are all of a kind."""
    if classified.container is not MAPPING:
        return False
    contents = [
        content
        for content in entries_of(classified.value, "predictions").values()
        if not (content is None or (isinstance(content, (list, dict)) and not content))
    ]
    return bool(contents) and all(map(kind, contents))


def _is_of_many_users(content: object) -> bool:
    """Return whether the value holds the items of several users."""
    value, container = classify(content, "predictions")
    if of_hits(content):
        return False
    if container is LIST or container is MAPPING:
        rows = list(value.values() if container is MAPPING else value)
        first = next((row for row in rows if row is not None), None)
        return is_row(first) and not has_parts(first)
    if container is SERIES:
        return has_values_by_user_and_item(value) or not has_one_item_each(value)
    if container is FILE:
        return not isinstance(value, str)  # which may be an item
    return container not in {None, BLOCKS} and not (container is ARRAY and value.ndim < 2)


def _is_of_one_user(content: object) -> bool:
    """Return whether the value holds the items of one user, perhaps with scores."""
    value, container = classify(content, "predictions")
    if isinstance(value, Report):
        return False
    if container is MAPPING:
        return all(isinstance(score, Real) for score in list(value.values()))
    if container is ARRAY:
        return bool(value.ndim == 1)
    if container is SERIES:
        return has_one_item_each(value) and not has_values_by_user_and_item(value)
    return container in {LIST, None} and (is_flat(value) or isinstance(value, (bytes, Integral)))


ONE_SYSTEM = Form(
    "predictions",
    "(truth, predictions)",
    "predictions=list(predictions) makes a list of one row per user, "
    "and exactk.Batches reads data frames, such as the chunks of a file",
    _one_system,
    _compare_instead,
)
SEVERAL_SYSTEMS = Form("systems", "(truth, {system: predictions})", "", _systems_by_name, _evaluate_instead)
