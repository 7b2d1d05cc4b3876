"""Calls do not do what nobody asked for: counted, not timed."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from xml.etree import ElementTree as ET

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import exactk
from exactk._engine import inspection
from exactk._files import read_files
from exactk._files.file_errors import File
from exactk._files.separated import Separated
from exactk._inputs import registry
from exactk._inputs.keys.vocabulary import Snapshot
from exactk._report.verdicts import Case, junit_report
from rankings import rankings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

USERS = [f"user {number}" for number in range(60)]
TRUTH = {user: [f"item {number % 7}"] for number, user in enumerate(USERS)}
LISTS = {user: [f"item {(number + row) % 7}" for row in range(3)] for number, user in enumerate(USERS)}


def test_a_comparison_makes_no_array_of_users_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    keys_of = vars(Snapshot)["array"].func

    def counted(keys: Snapshot) -> Any:
        made.append(len(keys))
        return keys_of(keys)

    monkeypatch.setattr(Snapshot, "array", property(counted))
    systems = {"one": LISTS, "other": {user: items[1:] for user, items in LISTS.items()}}
    comparison = exactk.compare(TRUTH, systems, "mrr", baseline="one", per_user=True)
    assert comparison.differences["other", "mrr"].users == len(USERS)
    assert len(USERS) not in made
    clusters = {user: number // 2 for number, user in enumerate(USERS)}
    exactk.compare(TRUTH, systems, "mrr", baseline="one", clusters=clusters)
    assert len(USERS) in made


def test_the_import_loads_no_library_of_networks() -> None:
    code = "import sys, exactk; print(*{'ssl', 'socket', 'http.client', 'urllib.request'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == ""  # noqa: S603 - the code above


def test_text_of_users_in_a_junit_report_is_read_as_it_was() -> None:
    texts = ["""<a> & "b" & 'c' & &amp; ]]>""", "é\x1b\n", "'", '"', ""]
    cases = [Case(text, status, text) for text in texts for status in ("holds", "worse", "error")]
    suite = ET.fromstring(junit_report(cases))  # noqa: S314 - written here
    for case, element in zip(cases, suite, strict=True):
        shown = case.text.replace("\x1b\n", r"\x1b\n")
        assert element.get("name") == shown
        (found,) = element
        assert (found.text or "" if case.status == "holds" else found.get("message")) == shown


def calls_of(call: Callable[[], object]) -> int:
    """Return how many functions of Python and of C the call calls from Python."""
    made = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal made
        made += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return made


def assert_no_call_for_each(make: Callable[[int], Callable[[], object]]) -> None:
    """Assert that a call on more users or items calls about as many functions as a call on few."""
    make(10)()
    few, many = (calls_of(make(count)) for count in (100, 2000))
    assert many < few + 1000  # with a call per user or item, 1,900 more; some are of the garbage collector


VALUES: dict[str, Callable[[int], Any]] = {
    "strings": lambda number: f"label {number % 7}",
    "integers": lambda number: number % 7,
    "floats": lambda number: 1 + number % 7 / 2,
}
KEYS: dict[str, Callable[[int], Any]] = {
    "strings": lambda number: f"key {number}",
    "integers": lambda number: number + 5,  # not the numbers of rows
    "tuples": lambda number: (f"key {number}", number % 3),
}


OF_USERS = [("groups", "strings"), ("groups", "integers"), ("weights", "floats")]
OF_ITEMS = [("item_groups", "strings"), ("item_groups", "integers"), ("values", "floats"), ("values", "integers")]


@pytest.mark.parametrize("to_container", [dict, pd.Series])
@pytest.mark.parametrize(
    ("of", "keys"), [*itertools.product(OF_USERS, KEYS), *itertools.product(OF_ITEMS, ["strings", "integers"])]
)
def test_values_are_encoded_without_a_call_for_each(of: tuple[str, str], keys: str, to_container: Any) -> None:
    def call_on(count: int) -> Callable[[], object]:
        given = {KEYS[keys](number): VALUES[of[1]](number) for number in range(count)}
        options: Any = {of[0]: to_container(given)}
        if of in OF_ITEMS:
            return lambda: exactk.Items(list(given), **options)
        rows = {user: [1] for user in given}
        truth, lists = exactk.as_truth(rows), rankings_of(rows)
        return lambda: exactk.evaluate(truth, lists, "mrr", **options)

    assert_no_call_for_each(call_on)


@pytest.mark.parametrize("value", [[0.5, 1.5], ["a", "b"], {"a", "b"}])
def test_features_of_items_are_encoded_without_a_call_per_item(value: Any) -> None:
    def made(count: int) -> Callable[[], object]:
        given = dict.fromkeys(range(count), value)
        return lambda: exactk.Items(list(given), features=given)

    assert_no_call_for_each(made)


def test_items_are_gathered_only_where_two_blocks_have_no_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which takes many times as long as to evaluate them."""
    gathered: list[int] = []
    distinct_keys = inspection._distinct_keys

    def counted(lists: Any) -> Any:
        gathered.append(len(lists))
        return distinct_keys(lists)

    monkeypatch.setattr(inspection, "_distinct_keys", counted)
    apart, shared = ([[1]] * 40, [[2, 3]] * 40), ([[1]] * 40, [[1, 3]] * 40)
    for blocks, count in (([apart], 0), ([shared, apart], 0), ([apart, shared], 0), ([apart, apart], 4)):
        gathered.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exactk.evaluate(None, iter(blocks), "recall@2")
        assert len(gathered) == count


class CountedFrame(pd.DataFrame):
    """A frame that counts how often each column is read."""

    reads: ClassVar[Counter[str]] = Counter()

    @property
    def _constructor(self) -> type[CountedFrame]:
        return CountedFrame

    def __getitem__(self, name: Any) -> Any:
        self.reads[name] += 1
        return super().__getitem__(name)


JUDGED = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [1, 2, 3]})
SCORED = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [1, 5, 3], "score": [0.5, 0.75, 1.0]})


def test_each_column_of_a_frame_is_read_once() -> None:
    CountedFrame.reads.clear()
    exactk.evaluate(CountedFrame(JUDGED), CountedFrame(SCORED.assign(time=1)), "mrr")
    assert CountedFrame.reads == {"user": 2, "item": 2, "score": 1, "time": 1}


def classified_in(call: Callable[[], object]) -> Counter[str]:
    """Return how often the call looks for the container of each argument that is given."""
    seen: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is registry.classify.__code__ and frame.f_locals["value"] is not None:
            seen[frame.f_locals["argument"]] += 1

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("columns", [{}, {"user": "user"}])
def test_each_argument_is_classified_once(columns: dict[str, Any]) -> None:
    once = dict.fromkeys(("truth", "predictions", "exclude", "candidates"), 1)
    given: dict[str, Any] = {"exclude": SCORED.iloc[1:2], "candidates": [1, 2, 3, 5], **columns}
    assert classified_in(lambda: exactk.evaluate(JUDGED, SCORED, "mrr", **given)) == once
    of_scores = classified_in(lambda: exactk.topk(SCORED, 2, **given))
    assert (of_scores["exclude"], of_scores["candidates"]) == (1, 1)
    assert classified_in(lambda: exactk.as_truth(JUDGED, **columns)) == {"truth": 1}
    assert classified_in(lambda: exactk.as_predictions(SCORED, **columns)) == {"predictions": 1}
    assert classified_in(lambda: exactk.as_exclusions(JUDGED, **columns)) == {"exclude": 1}


WRITERS: Mapping[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "arrow": pyarrow.feather.write_feather,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_is_opened_for_its_columns_and_for_its_rows(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, predictions = paths = [tmp_path / f"{name}.{ending}" for name in ("truth", "predictions")]
    for frame, path in zip((JUDGED, SCORED), paths, strict=True):
        WRITERS[ending](frame, path)
    opened: Counter[str] = Counter()
    open_path, open_by_arrow = Path.open, pa.OSFile

    def counted(path: Path, *arguments: Any, **options: Any) -> Any:
        opened[path.name] += 1
        return open_path(path, *arguments, **options)

    def counted_by_arrow(path: bytes) -> Any:
        opened[Path(path.decode()).name] += 1
        return open_by_arrow(path)

    monkeypatch.setattr(Path, "open", counted)
    monkeypatch.setattr(pa, "OSFile", counted_by_arrow)
    exactk.evaluate(truth, predictions, "mrr")
    assert {path.name: opened[path.name] for path in paths} == dict.fromkeys((path.name for path in paths), 2)


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize(("users", "passes"), [([1, 1, 2], 2), ([1, 2, 1], 3)])
def test_rows_of_large_text_are_read_once_more_to_see_whether_all_ids_are_integers(
    users: list[int], passes: int, shards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for all readings, of which there are two if the rows of users are apart."""
    paths = [tmp_path / f"{shard}.csv" for shard in range(shards)]
    for shard, path in enumerate(paths):
        SCORED.assign(user=[10 * shard + user for user in users]).to_csv(path, index=False)
    read: Counter[str] = Counter()
    plain_parts = Separated.plain_parts

    def counted(source: Separated, columns: Any) -> Any:
        read[source.file.path.name] += 1
        return plain_parts(source, columns)

    monkeypatch.setattr(Separated, "plain_parts", counted)
    monkeypatch.setattr("exactk._files.source._LARGE", 0)
    predictions: Any = read_files([File(path, "predictions") for path in paths], {}, text_ids=False).container
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exactk.evaluate({1: [1], 11: [1]}, predictions, "mrr")
    assert read == {path.name: passes for path in paths}
