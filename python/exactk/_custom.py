"""The public function `custom`: a metric of one's own among those of `evaluate` and `compare`."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias

from exactk._plan.custom_metric import CustomInfo, CustomMetric, check_name
from exactk._plan.function_digest import digest_of_function, digest_of_text
from exactk._plan.metric_strings import checked_cutoff, spelling_of_custom
from exactk._plan.metrics import metrics
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.numbers import as_double

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from exactk._plan.literals import Average
    from exactk._report.judged_lists import JudgedLists

CustomFunction: TypeAlias = "Callable[[JudgedLists], NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]]"


def custom(
    name: str,
    function: CustomFunction,
    *,
    k: int,
    of: Literal["judged", "lists"] = "judged",
    range: tuple[float, float] | None = None,  # noqa: A002 - what statistics calls it
    higher_is_better: bool | None = True,
    average: Average | None = None,
    version: str | None = None,
) -> CustomMetric:
    """Return a metric of your own, which stands among the metrics of `exactk.evaluate` and `exactk.compare`.

    What the function computes goes through the same conventions, weights, groups, exact sums, states and merges as any
    other metric. It is called with the judged lists of some users at a time, in the calling thread.

    Parameters
    ----------
    name : str
        The name in reports, before ``@k``: letters, digits, ``_`` and ``-``, from a letter to a letter. It may not be that
        of another metric.
    function : callable
        Takes `exactk.JudgedLists` of some users, and returns an array of one number per user; or a tuple of two arrays, the
        numerators and denominators, whose ratio is the user's value. Denominators are above 0, or 0 over 0, which is as
        ``undefined`` of the convention says. With ``average="micro"`` the sums of both are divided. Numbers of users whom
        the convention skips, such as those without relevant items, are not read and may be NaN. The number of a user must
        not depend on the other users of the call.
    k : int
        The number of ranks that the function sees. The metric is ``name@k``.
    of : {"judged", "lists"}
        ``"lists"``: the function does not read the truth, so that users without relevant items count as all others do, and
        no truth is needed.
    range : tuple of two floats, optional
        The least and the greatest value. A value outside is an error.
    higher_is_better : bool, optional
        Whether higher values are better, lower ones (False), or neither (None).
    average : {"macro", "micro", "geometric"}, optional
        The convention's field for this metric alone. Other fields may stand in a string beside the metric:
        ``[metric, "name@10(undefined=one)"]``.
    version : str, optional
        What tells this function from others of its name, in place of its code: change it when the function changes. By
        default that is a digest of the function's bytecode, which depends on the version of Python, and of the numbers,
        strings, arrays, tuples, lists, sets and mappings of these that it reads, as they are now.

    Returns
    -------
    CustomMetric
        For the metrics of `exactk.evaluate` and `exactk.compare`, alone or in a list with others.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, or the function reads something of which there is no digest. When it is evaluated: if the
        function returns anything but such arrays, or NaN, an infinite number or one outside `range`; the message names the
        first user. Errors that the function raises have a note with the users of the call.

    See Also
    --------
    judge : The judged lists themselves.

    Examples
    --------
    >>> import exactk
    >>> def late_hits(judged):
    ...     return judged.hits[:, 1:].sum(axis=1), judged.relevant
    >>> metric = exactk.custom("late_hits", late_hits, k=3, range=(0, 1))
    >>> exactk.evaluate([[1, 4], [2]], [[1, 4, 2], [2, 3, 5]], ["recall@3", metric])
    metric        value     std  evaluated  skipped
    recall@3     1.0000  0.0000          2        0
    late_hits@3  0.2500  0.2500          2        0
    convention standard; 2 users
    """
    if (metric := metrics.name_of(check_name(name))) is not None:
        raise input_error("name", "a name that no other metric has", f"{name!r}, which is {metric}")
    if not callable(function):
        raise type_error("function", "a function of exactk.JudgedLists", type(function).__name__)
    if of not in ("judged", "lists"):
        raise input_error("of", "'judged' or 'lists'", repr(of))
    if higher_is_better is not None and not isinstance(higher_is_better, bool):
        raise type_error("higher_is_better", "True, False or None", repr(higher_is_better))
    if version is not None and not isinstance(version, str):
        raise type_error("version", "a string", repr(version))
    info = CustomInfo(
        name,
        of,
        None if range is None else _checked_range(range),
        "none" if higher_is_better is None else "higher" if higher_is_better else "lower",
        digest_of_function(function, name) if version is None else digest_of_text(version),
    )
    return CustomMetric(info, spelling_of_custom(name, checked_cutoff(k), average), function)


def _checked_range(bounds: object) -> tuple[float, float]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2 or not all(isinstance(one, Real) for one in bounds):
        raise type_error("range", "the least and the greatest value", repr(bounds))
    low, high = (as_double(bound) for bound in bounds)
    if math.isnan(low + high) or not low <= high:
        raise input_error("range", "the least value, then the greatest", repr(bounds))
    return low, high
