"""The public function that explains one user's values: the terms are those that the reference adds."""

from __future__ import annotations

import math
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from exactk._engine.core import core_engine
from exactk._engine.evaluation import problems_of_values
from exactk._engine.fold import evaluate_aligned, evaluate_with_engine
from exactk._engine.request import align_systems
from exactk._engine.systems import ONE_SYSTEM
from exactk._evaluate import takes_options, with_defaults
from exactk._inputs.model.lists import Lists, Rankings
from exactk._inputs.model.scores import SparseScores
from exactk._inputs.registry import BLOCKS, classify
from exactk._options import ValueOptions
from exactk._plan.conventions import as_convention, description
from exactk._plan.fields import STRICT_TIES
from exactk._plan.metric_strings import DEFAULT_METRICS, plan
from exactk._report.explanation import ExplainedItem, ExplainedValue, Explanation
from exactk._report.user_table import user_columns
from exactk._runtime.errors import InUnits, input_error, type_error
from exactk._runtime.texts import did_you_mean
from exactk.reference.engine import ratio_of_judged, ratios_over_ties, value_of_ratio
from exactk.reference.hit_metrics import TERMS, ideal_terms
from exactk.reference.judge import JudgedUsers, is_relevant, judge_user, judged_grades
from exactk.reference.rules import resolved_rules
from exactk.reference.ties import EXPECTATIONS, expected_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from exactk._engine.problem import Problem
    from exactk._engine.request import Request
    from exactk._engine.warnings import Evaluated
    from exactk._inputs.alignment import AlignedInputs
    from exactk._inputs.model.scores import Predictions
    from exactk._inputs.types import PredictionsLike, TruthLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._plan.values import Value
    from exactk._report.report import Report
    from exactk.reference.hit_metrics import Ratio, Term


@takes_options(ValueOptions)
def explain(
    truth: TruthLike,
    predictions: PredictionsLike,
    user_key: int | str | bytes | tuple[Any, ...],
    metrics: MetricsLike = DEFAULT_METRICS,
    **options: Unpack[ValueOptions],
) -> Explanation:
    """Explain one user's values: the list beside the truth, what was missed, and what each item adds to each value.

    The values are those of ``exactk.evaluate(..., per_user=True)``, which it calls; what they consist of are the terms
    that `exactk.reference` adds, in plain Python: a minute or so for a user with scores of a million items, and without a
    cutoff for one of 100,000. Each missed item takes as long as the list down to the cutoff. `Report.worst` and
    `Comparison.worst` find the users to look at.

    Parameters
    ----------
    truth : Truth, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        As in `exactk.evaluate`, but for None.
    predictions : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        As in `exactk.evaluate`, but for an iterator of blocks.
    user_key : int, str, bytes or tuple
        The user: a key, or the row number where users have none. Give it by position, for ``user=`` is the name of a
        column, as in `exactk.evaluate`.

    Returns
    -------
    Explanation
        It prints, and has `to_pandas` and `to_html`.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, no input has the user, or a metric is one of all lists together.

    Warns
    -----
    EvaluationWarning
        As `exactk.evaluate` does, but not of what concerns the values of all users.

    Examples
    --------
    >>> import exactk
    >>> truth = {"q1": {"a": 3, "d": 2, "x": 2, "c": 1, "b": 0}}
    >>> scores = {"q1": {"u1": 9.0, "a": 8.0, "b": 7.0, "c": 6.5, "d": 2.0}}
    >>> explanation = exactk.explain(truth, scores, "q1", "ndcg@4")
    >>> explanation
    user q1; convention standard, ties lowest_id
    rank  item  score  grade    gain  discount    term     sum
       1  u1        9  ?      0.0000    1.0000  0.0000  0.0000
       2  a         8  3      3.0000    0.6309  1.8928  1.8928
       3  b         7  0 -    0.0000    0.5000  0.0000  1.8928
       4  c       6.5  1      1.0000    0.4307  0.4307  2.3235
    missed: d grade 2 at rank 5, x grade 2 not in the list
    ndcg@4 = 0.4082 = 2.3235 / 5.6925
    ideal of ndcg@4: 3 2 2 1 -> 3.0000 + 1.2619 + 1.0000 + 0.4307
    >>> explanation.to_pandas()[["rank", "item", "hit", "status", "if_first"]].tail(2)
       rank item    hit            status  if_first
    4     5    d  False  below the cutoff   0.61484
    5  <NA>    x  False   not in the list   0.61484
    """
    arguments = with_defaults(options, explain, ValueOptions)
    convention = as_convention(arguments.pop("convention"))
    with InUnits(arguments["unit_names"], convention.name):
        for value in plan(metrics, convention):
            if value.info.of_collection:
                raise input_error("metrics", "metrics of users", f"{value.spelling!r}, which all lists together have")
            if value.item_group is not None:
                hint = f"{value.of_all_items.spelling!r} shows the ranks of all hits"
                raise input_error("metrics", "metrics of all items", repr(value.spelling), hint=hint)
        if truth is None:
            raise type_error("truth", "the relevant items of each user", "None")
        if classify(predictions, "predictions").container is BLOCKS:
            hint = "explain the truth and the predictions of the user's block"
            raise type_error("predictions", "the predictions of all users", type(predictions).__name__, hint=hint)
    aligned: list[tuple[Request, AlignedInputs, int]] = []

    def evaluate(request: Request) -> Evaluated:
        chunk = align_systems(request)
        inputs = chunk.inputs("")
        aligned.append((request, inputs, _row_of(inputs, user_key)))
        return evaluate_aligned(request, chunk)._replace(of_one_user=True)

    report = evaluate_with_engine(
        core_engine,
        ONE_SYSTEM,
        truth,
        predictions,
        metrics,
        convention=convention,
        per_user=True,
        groups=None,
        evaluate=evaluate,
        **arguments,
    ).report
    return _explanation(*aligned[0], report)


def _row_of(inputs: AlignedInputs, user: object) -> int:
    keys = [*range(len(inputs.truth))] if inputs.user_array is None else inputs.user_array.tolist()
    rows: dict[object, int] = {key: row for row, key in enumerate(keys)}
    try:
        if user in rows and not isinstance(user, (bool, np.bool_)):  # True is 1 to a dict
            return rows[user]
    except TypeError:
        raise type_error("user_key", "the key of one user", type(user).__name__) from None
    alike = next((key for key in keys if str(key) == str(user)), None)
    hint = _hint_of_keys(str(user), keys) if alike is None else f"its key is {alike!r}"
    raise input_error("user_key", "a user of the truth or the predictions", repr(user), hint=hint)


_MOST_COMPARED = 100_000  # in a few seconds


def _hint_of_keys(name: str, keys: list[Any]) -> str:
    """Return a hint with the most similar key, or with an example."""
    if not keys:
        return ""
    names = [key for key in keys if isinstance(key, str)]  # similar numbers mean nothing
    return did_you_mean(name, names if len(names) <= _MOST_COMPARED else ()) or f"for example {keys[0]!r}"


def _explanation(request: Request, inputs: AlignedInputs, row: int, report: Report) -> Explanation:
    values = tuple(value for value in request.values if len(value.parts) == 1)  # not those of means over users
    explained: dict[str, ExplainedValue] = {}
    users: dict[int, JudgedUsers] = {}  # of each distinct problem
    problems = [*problems_of_values(request, inputs, values)]
    for value, problem in zip(values, problems, strict=True):
        judged = users.setdefault(id(problem), JudgedUsers(problem))
        explained[value.name] = _explained(_OneUser(problem, judged, inputs, row, value), report)
    of_means = ExplainedValue(math.nan, "computed from means over users, not for a user", ())
    ties = "" if isinstance(inputs.predictions, Rankings) else f", ties {request.convention.rules('')['ties']}"
    (key,) = report.users[row : row + 1].tolist()
    return Explanation(
        user=key,
        convention=f"{description(request.convention)}{ties}",
        _spellings={value.name: value.spelling for value in request.values},
        _convention=request.convention,
        _values={value.spelling: explained.get(value.name, of_means) for value in request.values},
        _key_columns=user_columns(report.users[row : row + 1], report.unit_names.user),
        _unit_names=report.unit_names.pair,
        _no_list=_no_list(inputs.predictions, row),
    )


def _no_list(predictions: Predictions, row: int) -> str:
    """Return what a user has in place of a list of items; empty for a list."""
    if not predictions.has(row):
        return "no predictions"
    lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
    return "an empty list" if isinstance(lists, Lists) and not len(lists.row(row)) else ""


class _OneUser:
    """A user's list, as it counts for a value."""

    def __init__(self, problem: Problem, users: JudgedUsers, inputs: AlignedInputs, row: int, value: Value) -> None:
        self.users, self.row, self.value, self.rules = users, row, value, resolved_rules(value)
        self.judged = self.users.judged_user(row, self.rules)
        self.excluded = self.users.excluded_items(row)
        self._problem, self._inputs, self._keys = problem, inputs, inputs.item_keys
        scored = users.scored_row(row)
        self.scores = {} if scored is None else _best_first(zip(scored.ids, scored.scores, strict=True))
        counted = set(self.judged.items)
        groups = ([one for one in group if one in counted] for group in users.ranked_groups(row, self.rules))
        self.groups = [group for group in groups if group]
        again = _repeats([*chain.from_iterable(self.groups)])  # which an order that moves ties has no ids of
        self.items = [next(again) if item < 0 else item for item in self.judged.items]
        scores = {item: iter(some) for item, some in self.scores.items()}
        self.list_scores = [next(scores[item]) if scores else None for item in self.items]

    def key(self, item: int) -> object:
        """Return the key of an item."""
        key = item if self._keys is None else self._keys[item]
        return key.item() if isinstance(key, np.generic) else key

    def terms(self) -> Iterator[Term] | None:
        """Return what the items down to the cutoff add to the numerator; None where that is not a sum over items."""
        metric, arguments = self.value.metric, (self.judged, self.value.cutoff, self.rules, self.value.parameter)
        if self.value.is_of_curve:  # which is scaled
            return None
        if self.rules["ties"] == "expected" and metric in EXPECTATIONS:
            return expected_terms(metric, *arguments) if metric in TERMS else None
        return TERMS[metric](*arguments) if metric in TERMS and self.value.custom is None else None

    def status_of(self, item: int) -> str:
        """Return why an item is not in the list."""
        if item in self.excluded:
            return "excluded"
        if item in self.scores:  # and yet not in the list
            return "score is -inf" if self.scores[item][0] == -math.inf else "below min_score"
        candidates, predictions = self._problem.candidates, self._inputs.predictions
        if isinstance(predictions, (Rankings, SparseScores)):  # from which others were removed
            lists = predictions.lists if isinstance(predictions, SparseScores) else predictions
            is_removed = item in lists.row(self.row).tolist() and item not in self.scores
        else:
            is_removed = (
                candidates is not None and item < predictions.item_count and item not in candidates.row(self.row)
            )
        return "no candidate" if is_removed else "not in the list"

    def ratio_if_first(self, item: int, old: float) -> Ratio:
        """Return the ratio with an item moved to rank 1 from its old rank, infinite for none; the others keep their order."""
        groups, count = [[item]], 1
        for group in self.groups:
            if self.value.cutoff is not None and count > self.value.cutoff:
                break
            groups.append([one for one in group if one != item])
            count += len(groups[-1])
        listed = zip(self.items, self.judged.list_ranks, strict=True)
        ranks = [1, *islice((rank + (rank < old) for one, rank in listed if one != item), count)]
        truth, catalogue = self.users.graded_items(self.row), self.users.catalogue
        judged = judge_user(truth, [*filter(None, groups)], frozenset(), self.rules, ranks, catalogue, {})
        return ratio_of_judged(judged, self.value, self.rules)


def _best_first(scores: Iterable[tuple[int, float]]) -> dict[int, list[float]]:
    """Return the scores of each item in the order of the list: the highest first, NaN last."""
    by_item: dict[int, list[float]] = {}
    for item, score in scores:
        by_item.setdefault(item, []).append(score)
    for some in by_item.values():
        some.sort(key=lambda score: (math.isnan(score), -score))
    return by_item


def _repeats(items: list[int]) -> Iterator[int]:
    """Yield the items that have occurred before."""
    seen = set[int]()
    for item in items:
        if item in seen:
            yield item
        seen.add(item)


def _explained(user: _OneUser, report: Report) -> ExplainedValue:
    value, judged, row = user.value, user.judged, user.row
    number = float(report.per_user[value.name][row])
    policy, field = user.users.policy(row, value)
    choice = user.rules["users"] if field == "users" else policy
    terms = user.terms() if policy == "compute" else None
    listed = list(_listed(user, [] if terms is None else list(terms)))
    if policy != "compute":
        return ExplainedValue(number, f"{number:.4f}, by {field}={choice}", listed, _missed(user, len(listed)))
    if terms is None:
        return ExplainedValue(number, f"{number:.4f}", listed, _missed(user, len(listed)))
    ideal = ideal_terms(judged, value.cutoff, user.rules) if value.info.uses_ideal else ()
    ratio = ratio_of_judged(judged, value, user.rules)
    return ExplainedValue(
        number,
        _how(user, number, ratio, listed),
        listed,
        _missed(user, len(listed), has_terms=True),
        ratio=ratio,
        ideal=[(one.gain, one.value) for one in ideal],
    )


def _listed(user: _OneUser, terms: list[Term]) -> Iterator[ExplainedItem]:
    """Yield the items down to the cutoff."""
    judged, total = user.judged, 0.0
    last_of_ties = {*accumulate(user.users.judged_user(user.row, {**user.rules, "ties": "expected"}).ties)}
    for index, (rank, item) in enumerate(judged.counted(user.value.cutoff)):
        row = ExplainedItem(
            rank,
            user.key(user.items[index]),
            user.list_scores[index],
            None if item is None else item.grade,
            item is not None and item.relevant,
            index + 1 not in last_of_ties,
            "repeated" if judged.repeats[index] else "listed",
        )
        if terms:
            total += terms[index].value
            row = row._replace(
                term=terms[index].value, gain=terms[index].gain, discount=terms[index].discount, total=total
            )
        yield row


def _missed(user: _OneUser, size: int, *, has_terms: bool = False) -> list[ExplainedItem]:
    """Return the relevant items that are not among so many first ones."""
    grades = judged_grades(user.users.graded_items(user.row), user.rules)
    listed = [*zip(user.items, user.judged.ranks, user.judged.repeats, strict=True)]
    ranks = {item: rank for item, rank, is_repeat in reversed(listed) if not is_repeat}
    first = {item for item, _, is_repeat in listed[:size] if not is_repeat}
    missed = [item for item, grade in grades.items() if is_relevant(grade, user.rules) and item not in first]
    missed.sort(key=lambda item: (-grades[item], ranks.get(item, math.inf)))
    rows = []
    for item in missed:
        status = "below the cutoff" if item in ranks else user.status_of(item)
        row = ExplainedItem(
            ranks.get(item),
            user.key(item),
            user.scores.get(item, [None])[0],
            grades[item],
            hit=False,
            tied=False,
            status=status,
        )
        if has_terms:
            ratio = user.ratio_if_first(item, ranks.get(item, math.inf))
            row = row._replace(if_first=value_of_ratio(ratio, user.rules))
        rows.append(row)
    return rows


_DIVISORS = {
    "precision": "precision_over",
    "recall": "recall_over",
    "average_precision": "ap_over",
}
"""The field that says what the numerator is divided by."""

_SCALED = {"rbp": "(1 - {:g})"}
"""What the sum of the terms is multiplied by, with the metric's parameter."""


def _how(user: _OneUser, number: float, ratio: Ratio, listed: list[ExplainedItem]) -> str:
    """Return how a value is computed."""
    value, rules = user.value, user.rules
    numerator, denominator = ratio
    text = f"{number:.4f}"
    if value.metric in _SCALED:
        text += f" = {_SCALED[value.metric].format(value.parameter)} * {listed[-1].total if listed else 0:.4f}"
    elif denominator != 1 or value.metric in _DIVISORS:
        text += f" = {_text(numerator)} / {_text(denominator)}"
    if value.metric in _DIVISORS:
        text += f" ({_DIVISORS[value.metric]}={rules[_DIVISORS[value.metric]]})"
    if rules["ties"] in STRICT_TIES and user.users.tied_list_ranks(user.row, rules):
        extremes = sorted(value_of_ratio(one, rules) for one in ratios_over_ties(user.users, user.row, value, rules))
        if extremes[0] < extremes[1]:
            text += f" ({extremes[0]:.4f} to {extremes[1]:.4f} by the order of ties)"
    return text


def _text(number: float) -> str:
    return f"{number:g}" if number == int(number) else f"{number:.4f}"
