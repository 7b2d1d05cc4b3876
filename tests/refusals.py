"""What is wrong with a call, as the reference names it: an argument and a fault. The core words it, as golden/messages.json has it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import exactk
from exactk._plan.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

GOLDEN = Path(__file__).parent / "golden" / "messages.json"
"""The core's message in each case of test_messages.py, by the fault that the reference names."""

_VALUES = re.compile(rf"\b({'|'.join(sorted(metrics, key=len, reverse=True))})\b[^\s:]*|'[^']*'|-?\d[\d.e+^-]*")
"""What differs between messages about one fault: metrics, words in quotes, numbers."""


def shape_of(expected: str) -> str:
    """Return what a message says was expected, without values."""
    return _VALUES.sub("_", expected)


@cache
def faults_by_shape() -> Mapping[str, str]:
    """Return the fault that the core means, by what it says was expected."""
    faults: dict[str, str] = {}
    for argument_and_fault, messages in json.loads(GOLDEN.read_text()).items():
        argument, _, fault = argument_and_fault.partition(": ")
        for message in messages.values():
            match = re.match(rf"{re.escape(argument)}: expected (.*?), found ", message)
            assert match is not None, message
            shape = shape_of(match[1])
            assert faults.setdefault(shape, fault) == fault, f"{shape} is of two faults"
    return faults


def is_of_reference(error: exactk.ExactkError) -> bool:
    """Return whether the reference made the error, which names a fault alone."""
    return not error.fault.found


def fault_of(error: exactk.ExactkError) -> str:
    """Return the argument and its fault, of an error of the core or of the reference."""
    argument, expected = error.fault.argument, error.fault.expected
    if is_of_reference(error):
        return f"{argument}: {expected}"
    shape = shape_of(expected)
    return f"{argument}: {faults_by_shape().get(shape, f'{shape}, of which test_messages.py has no case')}"


def location_of(error: exactk.ExactkError) -> tuple[Any, ...]:
    return (error.argument, error.row, error.position, error.count)


def assert_refused_alike(core: object, reference: object) -> None:
    """Check that both are errors about the same fault, with the same row, position and count."""
    assert isinstance(core, exactk.ExactkError), (core, reference)
    assert isinstance(reference, exactk.ExactkError), (core, reference)
    assert type(core) is type(reference), (core, reference)
    assert location_of(core) == location_of(reference), (core, reference)
    if is_of_reference(reference):
        assert fault_of(core) == fault_of(reference), (core, reference)
    else:  # found before either was asked
        assert str(core) == str(reference)


def refusal(call: Callable[[Any], object]) -> exactk.ExactkError:
    """Call with the core and with the reference, which refuse the same; return the error of the core."""
    with pytest.raises(exactk.ExactkError) as of_core:
        call(exactk)
    with pytest.raises(exactk.ExactkError) as of_reference:
        call(exactk.reference)
    assert_refused_alike(of_core.value, of_reference.value)
    return of_core.value


@contextmanager
def refused(fault: str, message: str) -> Iterator[pytest.ExceptionInfo[exactk.InputError]]:
    """Expect an error about the fault in this block, with the message if it is one of the core."""
    with pytest.raises(exactk.InputError) as caught:
        yield caught
    assert fault_of(caught.value) == fault
    assert is_of_reference(caught.value) or re.search(message, str(caught.value)), str(caught.value)
