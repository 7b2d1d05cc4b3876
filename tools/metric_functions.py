"""Generate ``_functions.py``: one function per metric, with the options and containers of `exactk.evaluate`."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

import exactk

if TYPE_CHECKING:
    from exactk import _core

LEFT_OUT = ("metrics", "groups", "per_user")  # options that a function returning one number does not have
ALIASES = ("map", "mrr")  # names that are better known than those of their metrics

HEADER = '''"""One function per metric: ``exactk.ndcg_at_k(truth, predictions, k=10)``, or ``exactk.auc``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._metric_values import metric_string, metric_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._inputs.items import CatalogueLike
    from exactk._inputs.types import Blocks, CandidatesLike, ExclusionsLike, PredictionsLike, TruthLike, WeightsLike
    from exactk._plan.conventions import ConventionLike
    from exactk._runtime.progress import ProgressCallback

__all__ = {names!r}
'''

FUNCTION = '''
def {name}({signature}) -> float:
    """{first_line}

{definition}

    Source: {source}.

    Parameters
    ----------
    truth : {types[truth]}
        The relevant items of each user, optionally with grades; None if `predictions` is an iterator{without_truth}.
    predictions : {types[predictions]}
        The predictions of one system: rankings, scores or embeddings.
{own_parameters}    convention : {types[convention]}
        The choices that fix what the name means; ``exactk.conventions`` lists the presets.
    exclude : {types[exclude]}
        Items to remove from each user's list before truncation at k, such as training items.
    candidates : {types[candidates]}
        The only items that may be ranked.
{items}    base_predictions : {types[base_predictions]}
        Other predictions of the same users, for metrics that compare the lists with them.
    weights : {types[weights]}
        The weight of each user in the mean: 0, or from 2^-256 to 2^256.
    num_threads : {types[num_threads]}
        The number of threads. Defaults to every CPU that the process may use. The value does not depend on it.
    progress : {types[progress]}
        True draws a progress bar on stderr; a callable is called with the numbers of finished and of all users.
    user, item, score, rank, grade : {types[user, item, score, rank, grade]}
        Column names in data frames, for all arguments alike. Common names are detected.

    Returns
    -------
    float
        The mean over the evaluated users; NaN, with a warning, if there are none.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid. The message names the argument, what was expected and what was found and, where it
        applies, the first row and position.

    See Also
    --------
    evaluate : Several metrics at once, with counts, groups and per-user values.
    compare : Several systems.

    Examples
    --------
    >>> import exactk
    >>> truth = {truth!r}
    >>> predictions = {predictions!r}
{train}{base_example}    >>> exactk.{name}(truth, predictions{arguments})
    {value!r}
    """
    return {call}, {forwarded})
'''

ITEMS = """    items : {types[items]}
        The items that could be recommended, and what is known of them, or the training data that has them.
"""

SYMBOLS = {
    r"\bh\b": "h is the number of hits among the first k items, h(i) among the first i",
    r"\bT\b": "T is the set of relevant items",
    r"\bL\b": "L is the list",
    r"\bD_P\b": "D_P and D_R are the divisors of precision and recall, k and |T|",
    r"\bDCG\b": "DCG is the sum over i <= k of gain(i) / log2(i + 1)",
    r"\bB\b": "B is the list of base_predictions, down to the same cutoff",
    r"\bp\(i": "p(i) is the number of users of train who have the item",
    r"\bU\b": "U is the number of users of train",
    r"\bd\(i, j": "d(i, j) is the distance of two items",
    r"\bd\(i, history": "d(i, history) is the distance of the item from the nearest item that the user has in train",
    r"\bp\(g": "p(g) and q(g) are the shares of the tag in what the user has in train and, by the weights 1 / log2(i + 1), in the list",
    r"\bgain": "the gain of a relevant item is its grade, that of others 0",
}
"""What the letters of a formula mean, where it has them."""

TRUTH = [{1: 3.0, 4: 1.0}, {21: 2.0, 3: 0.0}]
PREDICTIONS = [[1, 2, 4], [2, 3, 21]]
TRAIN = [[1, 2], [1, 3, 4], [1, 21]]
TRAIN_OF_USERS = [[2, 3], [1, 4, 21]]
GROUPS = {1: "a", 2: "a", 3: "b", 4: "b", 21: "b"}
HISTORIES = [[2, 3], [1, 4]]  # of the same users
FEATURES = {1: [1.0, 0.0], 2: [0.6, 0.8], 3: [0.0, 1.0], 4: [1.0, 0.0], 21: [0.0, 1.0]}
BASE_PREDICTIONS = [[1, 2, 3], [1, 2, 3]]
TAGS = {1: ["drama"], 2: ["drama", "war"], 3: ["war"], 4: ["drama"], 21: ["war"]}
REQUIRED = 100  # the example's parameter for metrics without a default


def function_name(info: _core.MetricInfo) -> str:
    """Return the name of a metric's function."""
    return info.name if info.pairwise else f"{info.name}_at_k"


def functions_module(evaluate_text: str) -> str:
    """Return the module's text; argument types come from the docstring of `evaluate` in the given module text."""
    types = dict(re.findall(r"^    ([a-z_, ]+) : (.+)$", evaluate_text, re.MULTILINE))
    infos = [*exactk.metrics.values(), *map(exactk.metrics.__getitem__, ALIASES)]
    names = [*map(function_name, exactk.metrics.values()), *(f"{alias}_at_k" for alias in ALIASES)]
    functions = (_function(name, info, types) for name, info in zip(names, infos, strict=True))
    return HEADER.format(names=sorted(names)) + "".join(functions)


def _function(name: str, info: _core.MetricInfo, types: dict[str, str]) -> str:
    """Return a metric's function, or another that calls it."""
    parameters = inspect.signature(exactk.evaluate).parameters
    options = [option.name for option in parameters.values() if option.default is not option.empty]
    parameter = "" if info.parameter is None else info.parameter.name  # items of list_auc is a number
    options = [option for option in options if option not in {*LEFT_OUT, parameter}]
    signature = [f"{argument}: {parameters[argument].annotation}" for argument in ("truth", "predictions")]
    arguments, passed, own_parameters = "", [repr(info.name), "k"], ""
    if not info.pairwise:
        signature.append("k: int | None = 10")
        arguments = ", k=3"
        own_parameters = "    k : int or None, default 10\n        The cutoff, in [1, 2^31); None for the whole list.\n"
    signature.append("*")
    if info.parameter is not None:
        bounds = info.parameter
        default = "" if bounds.standard is None else f" = {bounds.standard!r}"
        signature.append(f"{bounds.name}: float{default}")
        arguments += f", {bounds.name}={REQUIRED}" if bounds.standard is None else ""
        passed.append(f"{bounds.name}={bounds.name}")
        whole_number = ", a whole number" if bounds.whole else ""
        own_parameters += f"    {bounds.name} : float\n        In [{bounds.low:g}, {bounds.high!r}]{whole_number}.\n"
    signature += [f"{option}: {parameters[option].annotation} = {parameters[option].default!r}" for option in options]
    string = repr(info.name) if info.pairwise else f"metric_string({', '.join(passed)})"
    metric_function = function_name(info)
    if name == metric_function:
        first_line = f"Return {info.name}{'' if info.pairwise else '@k'}, averaged over users."
        call = f"metric_value({string}, truth, predictions"
    else:
        first_line = f"Return {name.removesuffix('_at_k').upper()}@k: another name of `{metric_function}`."
        call = f"{metric_function}(truth, predictions, k"
    train = ""
    if info.reads_groups:
        train, arguments = (
            f"    >>> items = exactk.Items(train={_train_of(info)!r}, item_groups={GROUPS!r})\n",
            f"{arguments}, items=items",
        )
    elif info.walks_list:
        train, arguments = f"    >>> train = {TRAIN!r}\n", f"{arguments}, items=train"
    if info.reads_features:
        train = _code_of_features(info)
        arguments = arguments.replace("items=train", "items=items")
    base_example = ""
    if info.reads_base:
        base_example = f"    >>> base = {BASE_PREDICTIONS!r}\n"
        arguments = f"{arguments}, base_predictions=base"
    meanings = [meaning for letters, meaning in SYMBOLS.items() if re.search(letters, info.formula)]
    return FUNCTION.format(
        definition=_paragraphs(
            f"Definition: {info.summary}.",
            f"Formula under the standard convention: ``{info.formula}``{', where ' if meanings else ''}{'; '.join(meanings)}.",
        ),
        name=name,
        signature=", ".join(signature),
        first_line=first_line,
        source=info.source,
        types=types,
        without_truth="" if info.reads_truth else ", or as the metric does not read it",
        items=ITEMS.format(types=types) if "items" in options else "",
        base_example=base_example,
        own_parameters=own_parameters,
        truth=TRUTH,
        predictions=PREDICTIONS,
        train=train,
        arguments=arguments,
        value=_example_value(info),
        call=call,
        forwarded=", ".join(f"{option}={option}" for option in options),
    )


def _paragraphs(*texts: str) -> str:
    indent = " " * 4
    wrapped = (
        textwrap.fill(text, 120, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        for text in texts
    )
    return "\n\n".join(wrapped)


def _example_features(info: _core.MetricInfo) -> dict[int, Any]:
    return {**FEATURES} if "distance" in info.own_fields else {**TAGS}


def _code_of_features(info: _core.MetricInfo) -> str:
    """Return the lines of an example that make its items."""
    of_train = "train=train, " if info.reads_history else ""
    train = f"    >>> train = {HISTORIES!r}\n" if info.reads_history else ""
    items = f"exactk.Items(list(features), {of_train}features=features)"
    return f"{train}    >>> features = {_example_features(info)!r}\n    >>> items = {items}\n"


def _train_of(info: _core.MetricInfo) -> list[list[int]]:
    """Return the training data of a metric's example: what its users have, if the metric reads that."""
    return TRAIN_OF_USERS if info.reads_history else TRAIN


def _example_value(info: _core.MetricInfo) -> float:
    cutoff = "" if info.pairwise else "@3"
    required = info.parameter is not None and info.parameter.standard is None
    parameter = f"({info.parameter.name}={REQUIRED})" if info.parameter is not None and required else ""
    items: Any = TRAIN if info.walks_list else None
    if info.reads_groups:
        items = exactk.Items(train=_train_of(info), item_groups=GROUPS)
    if info.reads_features:
        features = _example_features(info)
        items = exactk.Items(list(features), train=HISTORIES if info.reads_history else None, features=features)
    base = BASE_PREDICTIONS if info.reads_base else None
    metric = f"{info.name}{cutoff}{parameter}"
    (value,) = exactk.evaluate(TRUTH, PREDICTIONS, metric, items=items, base_predictions=base).values()
    return value
