"""The text of ``_functions.py``: one function per metric, with the signature and the containers of `exactk.evaluate`."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import exactk

if TYPE_CHECKING:
    from exactk import _core

LEFT_OUT = ("metrics", "groups", "per_user")  # what a function of one metric, which returns a number, does not take

HEADER = '''"""One function per metric: ``exactk.ndcg_at_k(truth, predictions, k=10)``, or ``exactk.auc``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._metric_values import metric_string, metric_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exactk._plan.conventions import AnyConvention
    from exactk._runtime.progress import ProgressCallback

__all__ = {names!r}
'''

FUNCTION = '''
def {name}({signature}) -> float:
    """Return {title}: {summary}, averaged over the users.

    Under the standard convention: ``{formula}``. Source: {source}.

    Parameters
    ----------
    truth : {types[truth]}
        The relevant items of each user, perhaps with grades; None if `predictions` is an iterator.
    predictions : {types[predictions]}
        What one system recommends to each user: items, best first, or with scores, or what scores are made of.
{own_parameters}    convention : {types[convention]}
        The choices behind the name; ``exactk.conventions`` has the presets.
    exclude : {types[exclude]}
        Items that are taken out of each user's list before it is cut, such as training items.
    candidates : {types[candidates]}
        Beside a matrix of scores, or embeddings, the only columns or items that may be ranked.
    weights : {types[weights]}
        Weights in the mean over users: 0, or from 2^-256 to 2^256.
    num_threads : {types[num_threads]}
        By default, as many as the process may use. No number changes a bit of the value.
    progress : {types[progress]}
        Whether to draw a bar on stderr, or what is called with the numbers of finished users and of all.
    user, item, score, rank, grade : {types[user, item, score, rank, grade]}
        What the columns of data frames are called, in all arguments alike, where they have no usual names.

    Returns
    -------
    float
        The mean over the users who are evaluated; NaN, and a warning, if none is.

    Raises
    ------
    InputError, InputTypeError
        If an argument is not what it must be: which, what was expected, what came, where first.

    See Also
    --------
    evaluate : Several metrics or systems at once, with counts, groups, and the values of each user.

    Examples
    --------
    >>> import exactk
    >>> truth = {truth!r}
    >>> predictions = {predictions!r}
    >>> exactk.{name}(truth, predictions{arguments})
    {value!r}
    """
    return metric_value({string}, truth, predictions, {forwarded})
'''

TRUTH = [{1: 3.0, 4: 1.0}, {21: 2.0, 3: 0.0}]
PREDICTIONS = [[1, 2, 4], [2, 3, 21]]
REQUIRED = 100  # the parameter of a metric that has no default, in its example


def function_name(info: _core.MetricInfo) -> str:
    """Return the name of a metric's function."""
    return info.name if info.pairwise else f"{info.name}_at_k"


def functions_module(evaluate_text: str) -> str:
    """Return the module; the text is that of the module of `evaluate`, whose docstring has the types of arguments."""
    types = dict(re.findall(r"^    ([a-z_, ]+) : (.+)$", evaluate_text, re.MULTILINE))
    infos = exactk.metrics.values()
    return HEADER.format(names=sorted(map(function_name, infos))) + "".join(_function(info, types) for info in infos)


def _function(info: _core.MetricInfo, types: dict[str, str]) -> str:
    parameters = inspect.signature(exactk.evaluate).parameters
    options = [name for name, option in parameters.items() if option.default is not option.empty]
    options = [name for name in options if name not in LEFT_OUT]
    signature = ["truth: object", "predictions: object"]
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
    signature += [f"{name}: {parameters[name].annotation} = {parameters[name].default!r}" for name in options]
    return FUNCTION.format(
        name=function_name(info),
        signature=", ".join(signature),
        title=info.name if info.pairwise else f"{info.name}@k",
        summary=info.summary,
        formula=info.formula,
        source=info.source,
        types=types,
        own_parameters=own_parameters,
        truth=TRUTH,
        predictions=PREDICTIONS,
        arguments=arguments,
        value=_example_value(info),
        string=repr(info.name) if info.pairwise else f"metric_string({', '.join(passed)})",
        forwarded=", ".join(f"{name}={name}" for name in options),
    )


def _example_value(info: _core.MetricInfo) -> float:
    cutoff = "" if info.pairwise else "@3"
    required = info.parameter is not None and info.parameter.standard is None
    parameter = f"({info.parameter.name}={REQUIRED})" if info.parameter is not None and required else ""
    (value,) = exactk.evaluate(TRUTH, PREDICTIONS, f"{info.name}{cutoff}{parameter}").values.values()
    return value
