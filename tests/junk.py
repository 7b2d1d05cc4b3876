"""Call everything that the extension has with arguments of any kind, among them objects of its own classes.

``python tests/fuzz.py --calls 500000`` runs this, best over a build with sanitizers. Each call ends in a result or in
an error of Python. What there is to call is read off the module, so that nothing can be left out.
"""

from __future__ import annotations

import copy
import io
import pickle
import random
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import exactk
from exactk import _core
from test_extension import (
    ARRAYS,
    CALLS,
    OTHER_ARRAYS,
    OTHERS,
    SOUND,
    arrow_column,
    call_with,
    sound_result,
    sound_vocabulary,
)

Arguments = Callable[[], Any]  # a list, or a dictionary of those that are taken by name

RUN = b"q Q0 d 1 0.5 t\n"
MOST = 1000  # of sizes: what is larger, and not beyond all memory, takes long
# What asks for no more than a moment: a size is small, or beyond all memory.
INTEGERS = (0, 1, 2, 3, 9, -1, -2, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, 2**100, True)
NAMES = ("lowest_id", "raise", "last", "input_order", "dot", "cosine", "ndcg", "auc", "scalar", "avx2", "run", "qrels")


def _codes() -> np.ndarray[Any, Any]:
    return np.array([2, 0, 1, 2], np.uint32)


WITHOUT_CONSTRUCTOR = frozenset((
    "ArrowColumn", "ConventionField", "IntegerRows", "LineFault", "MetricInfo", "MetricParameter", "PairedSums", "Result", "Sums",
    "Tally", "TextRows", "TrecColumns",
))  # fmt: skip

# Arguments that each function, method or class takes. Of methods, the first is the object.
SOUND_ARGUMENTS: dict[str, Arguments] = {
    **dict.fromkeys(WITHOUT_CONSTRUCTOR, list),
    **{name: arguments for name, (_, arguments) in CALLS.items() if hasattr(_core, name)},
    "ArrowColumn.__len__": lambda: [arrow_column([1, 2])],
    "ArrowColumn.dictionaries": lambda: [arrow_column(["a"])],
    "ArrowColumn.encode": lambda: [arrow_column(["a", "b"]), _core.Vocabulary(False), 2, "x"],
    "ArrowColumn.lists": lambda: [arrow_column([[1, 2], []]), "x"],
    "ArrowColumn.nulls": lambda: [arrow_column([1, None])],
    "ArrowColumn.values": lambda: [arrow_column([1.5, 2.0]), "x"],
    "ArrowTable": lambda: [object(), "x"],
    "Lists.validate": CALLS["validate"][1],
    "Sums.columns": lambda: [sound_result().sums, 0],
    "Vocabulary": lambda: [True],
    "Vocabulary.__len__": lambda: [sound_vocabulary()],
    "Vocabulary.as_integers": lambda: [sound_vocabulary(), 3],
    "Vocabulary.as_packed": lambda: [sound_vocabulary(), 3],
    "Vocabulary.copy": lambda: [sound_vocabulary()],
    "Vocabulary.encode_integers": lambda: [sound_vocabulary(), np.arange(5), 2, "x"],
    "Vocabulary.encode_packed": lambda: [
        _core.Vocabulary(False), np.array([0, 1, 3]), np.array([1, 2, 3], np.uint8), 2, "x",
    ],
    "Vocabulary.extend": lambda: [sound_vocabulary(), sound_vocabulary(), 3, "x"],
    "Vocabulary.find": lambda: [sound_vocabulary(), sound_vocabulary(), 3, "x"],
    "Vocabulary.positions_in_key_order": lambda: [sound_vocabulary(), 3],
    "convention_fields": list,
    "encode_texts": lambda: [_core.Vocabulary(False), ["a", "b"], False, "x"],
    "geometric_terms": lambda: [np.array([0.0, 0.5])],
    "group_by_user": lambda: [_codes(), 3, [np.arange(4), np.ones(4)], 2, "x"],
    "integer_rows": lambda: [[[1, 2], None, (3,), {4}], None, "x", "grades"],
    "environment_variable": lambda: ["EXACTK_ISA"],
    "metric_table": list,
    "order_by_user": lambda: [_codes(), 3, np.arange(4.0), "x"],
    "run_starts": lambda: [_codes(), "x"],
    "PairedValue": lambda: [[0], 0, False, True, False],
    "paired_sums": lambda: {
        "tables": [np.eye(2), np.ones((2, 2))], "values": [_core.PairedValue([0], 0, False, True, False)], "pairs": [(1, 0)],
    },
    "parse_number": lambda: ["+1.5e3"],
    "parse_numbers": lambda: [np.array([0, 1, 3], np.int32), np.frombuffer(b"12e", np.uint8)],
    "read_trec": lambda: ["run", io.BytesIO(RUN).read],
    "register_errors": lambda: [exactk.InputError, exactk.InputTypeError, exactk.CapacityError],
    "split_rows": lambda: [b'a,1\n"b",2\n', ",", True, 2, [1, 0]],
    "hashed_rows": lambda: [[{"a": 1.0, "b": 2.0}, {}], float, "x", "grades"],
    "numbered_rows": lambda: [[{"a": 1.0, "b": 1.0}, {}], [{"b"}, None], float, "x", "scores"],
    "quicksort_order": lambda: [np.array([0.5, 0.25, 1.0]), np.array([2, 1])],
    "other_numbers": lambda: [[{"a": 1.0}, {}], [("a", "b"), []], float, "x", "grades"],
    "text_rows": lambda: [_core.Vocabulary(False), [{"a": 1.0}, {}], False, float, "x", "grades"],
}  # fmt: skip


def callables() -> dict[str, Callable[..., Any]]:
    """Return every function, class and method of the module that takes arguments, or makes something."""
    found: dict[str, Callable[..., Any]] = {}
    for name, member in vars(_core).items():
        if name.startswith("_") or not callable(member):
            continue
        found[name] = member
        for attribute, method in vars(member).items() if isinstance(member, type) else ():
            if callable(method) and (attribute == "__len__" or not attribute.startswith("_")):
                found[f"{name}.{attribute}"] = method
    return found


DTYPES = ("i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?", ">i8", "S3", "O", "M8[s]")
SHAPES: tuple[tuple[int, ...], ...] = (
    (0,), (1,), (2,), (3,), (4,), (2, 3), (3, 2), (1, 1), (0, 3), (2, 0), (2, 2, 2), (),
)  # fmt: skip
CLASSES = [kind for kind in vars(_core).values() if isinstance(kind, type)]
SMALL_ARRAYS = [array for array in (*ARRAYS, *OTHER_ARRAYS) if array is None or array.size < MOST]
NO_INTEGERS = [other for other in OTHERS if not isinstance(other, int)]


def _draw_array(generator: random.Random) -> np.ndarray[Any, Any]:
    shape, dtype = generator.choice(SHAPES), np.dtype(generator.choice(DTYPES))
    size = int(np.prod(shape))
    if dtype.kind == "O" or size == 1 or generator.random() < 0.6:  # one integer may be a size
        array = np.array([generator.choice([0, 1, 2, 3]) for _ in range(size)]).astype(dtype)
    else:
        array = np.frombuffer(generator.randbytes(size * dtype.itemsize), dtype)
    array = array.reshape(shape)
    return array[::-1] if array.ndim and generator.random() < 0.1 else array


def _draw_bare(generator: random.Random) -> object:
    kind: Any = generator.choice(CLASSES)
    return kind.__new__(kind)


def _draw_list(generator: random.Random) -> object:
    return [draw(generator) for _ in range(generator.randrange(3))]


DRAWS: tuple[Callable[[random.Random], Any], ...] = (
    *[_draw_array] * 3,
    lambda generator: generator.choice(SMALL_ARRAYS),
    lambda generator: generator.choice(NO_INTEGERS),
    lambda generator: generator.choice(INTEGERS),
    lambda generator: generator.choice(NAMES),
    _draw_bare,
    _draw_list,
    lambda generator: generator.choice(list(SOUND.values()))(),
)


def draw(generator: random.Random) -> Any:
    """Return an argument of any kind."""
    return generator.choice(DRAWS)(generator)


def draw_arguments(sound: Arguments, generator: random.Random) -> Any:
    """Return arguments of which some, or all, are of any kind."""
    given = sound()
    if generator.random() < 0.05:
        return [draw(generator) for _ in range(generator.randrange(15))]
    share = generator.choice((0.15, 0.5, 1.0))
    names = given if isinstance(given, dict) else range(len(given))
    for name in names:
        if generator.random() < share:
            given[name] = draw(generator)
    return given


def _is_harmless(error: BaseException) -> bool:
    """Errors of ours and of types; of memory; what NumPy or an object of the arguments raises by itself."""
    return isinstance(error, (exactk.ExactkError, TypeError, MemoryError, ValueError, AttributeError, OverflowError))


def run(calls: int, seed: int, folder: Path) -> Counter[str]:
    """Make so many calls; return how many there were of each kind, by outcome too. The last is written to the folder."""
    generator = random.Random(seed)  # noqa: S311 - no secret
    functions = sorted(callables().items())
    figures: Counter[str] = Counter()
    with warnings.catch_warnings(), (folder / "junk").open("w", encoding="utf-8") as last:
        warnings.simplefilter("ignore")
        for number in range(calls):
            name, function = functions[generator.randrange(len(functions))]
            given = draw_arguments(SOUND_ARGUMENTS[name], generator)
            last.seek(0)
            last.write(f"{number} {name}\n")
            last.flush()
            figures[name] += 1
            try:
                result = call_with(function, given)
                if type(result).__module__ == "exactk._core":
                    _touch(result)
                figures["results"] += 1
            except BaseException as error:
                if not _is_harmless(error):
                    raise
                figures["refusals"] += 1
    return figures


def _touch(result: Any) -> None:
    """Read every attribute of an object; copy and pickle it."""
    for attribute in dir(result):
        getattr(result, attribute)
    for refused in (copy.copy, copy.deepcopy, pickle.dumps, lambda value: pickle.dumps(value, 0)):
        try:
            refused(result)
        except TypeError:
            continue
        raise AssertionError(result)


def sound_call(name: str) -> Any:
    """Call with arguments that it takes."""
    return call_with(callables()[name], SOUND_ARGUMENTS[name]())
