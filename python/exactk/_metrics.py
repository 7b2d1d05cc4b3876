"""The public metrics: each makes metric strings by ``@``, gives values when it is called, and explains itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar

from exactk._evaluate import check_names, evaluate, takes_options
from exactk._options import AgreementValueOptions, Options, ValueOptions
from exactk._plan.metric_strings import check_settings, checked_cutoff, checked_setting
from exactk._plan.metrics import (
    MetricEntry,
    Registry,
    agreement_metrics as metrics_of_lists,
    describe,
    evaluation_metrics,
    lists_of,
    meant_by,
    metrics as registry,
    path_of,
    text_of,
)
from exactk._plan.values import range_of_metric
from exactk._runtime.errors import input_error
from exactk._runtime.texts import fold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, Unpack

    from exactk._inputs.types import Blocks, PredictionsLike, TruthLike
    from exactk._metric_names import AgreementNames, MetricNames, Settings
    from exactk._plan.metrics import MetricInfo
else:
    AgreementNames = MetricNames = object  # for type checkers, they declare an attribute for each metric


_OF_REPORTS = Options.__annotations__.keys() - ValueOptions.__annotations__.keys()
"""The options that ask for more than one value."""


class _Documentation:
    """The docstring of a class of metrics or, of an instance, of its metric, as ``help`` shows it."""

    def __init__(self, of_class: str) -> None:
        self._of_class = of_class

    def __get__(self, metric: Metric | AgreementMetric | None, _owner: type) -> str:
        """Return the text."""
        if metric is None:
            return self._of_class
        from exactk._metric_pages import documentation

        return documentation(metric._info)  # noqa: SLF001 - its own


_Call = TypeVar("_Call", bound="Callable[..., float]")


def _of_lists(call: _Call) -> _Call:
    """Return the call of a metric, which says how to write one with settings if it is given these without lists."""

    @wraps(call)
    def checked(self: Metric | AgreementMetric, /, *lists: Any, **options: Any) -> float:  # noqa: ANN401 - as the call
        names = lists_of(self._info)
        if not lists and options and options.keys().isdisjoint(names.split(", ")):
            settings = {name: value for name, value in options.items() if name != "k"}
            metric = repr(self.with_(**settings)) + (f" @ {options['k']!r}" if "k" in options else "")
            lists_text = names.replace(", ", " and ")
            raise TypeError(
                f"{self.name}() computes a value of {lists_text}, which are missing; did you mean {metric}?"
            )
        return call(self, *lists, **options)

    return checked  # type: ignore[return-value]


class _AskedMetric(MetricEntry):
    """A metric of either registry, but for its value."""

    __slots__ = ()

    def __matmul__(self, cutoffs: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the metric string at a cutoff, or at each of several."""
        if (
            isinstance(cutoffs, Iterable)
            and not isinstance(cutoffs, (str, bytes))
            and getattr(cutoffs, "ndim", None) != 0
        ):
            texts = [str(checked_cutoff(k)) for k in cutoffs]
            if not texts:
                raise input_error("k", "at least one cutoff", "none")
            return self._at(f"@[{','.join(texts)}]")
        return self._at(f"@{checked_cutoff(cutoffs)}")

    def with_(self, **settings: Unpack[Settings]) -> Self:
        """Return the metric with a parameter, such as ``beta=2``, or with fields of the convention, such as ``gain="exp2"``.

        Raises
        ------
        InputError, InputTypeError
            If the parameter or field has no such value, or the metric cannot have it.
        TypeError
            If there is no parameter or field of this name.

        Warns
        -----
        EvaluationWarning
            Of a field that the metric does not read, as evaluation does.

        Examples
        --------
        >>> import exactk
        >>> exactk.metrics.ndcg.with_(gain="exp2", discount="log2_floored") @ 5
        'ndcg@5(gain=exp2,discount=log2_floored)'
        """
        checked = dict(checked_setting(self._info, name, value) for name, value in settings.items())
        all_settings = {**self._settings, **checked}
        metric = type(self)(self._info, self._spelling, all_settings)
        check_settings(self._info, all_settings, checked, str(metric))
        return metric

    with_.__qualname__ = "Metric.with_"  # as Python's errors name it

    def _value_string(self, k: int | None, options: Mapping[str, object], function: str) -> str:
        """Return the string of the one value at a cutoff, whose options do not ask for more."""
        text = self._at("" if k is None else f"@{checked_cutoff(k)}")
        if self.parameter is not None and self.parameter.name in options:
            setting = f"{self.name}.with_({self.parameter.name}={options[self.parameter.name]!r})"
            raise TypeError(f"{self.parameter.name} is no option of a value; exactk.metrics.{setting} has it")
        if self._settings.get("item_group") == "every":
            raise TypeError(f"one value is of one group of items; exactk.{function}, {text!r}, ...) has all of them")
        if several := [name for name in options if name in _OF_REPORTS]:
            raise TypeError(f"one value has no {several[0]}; exactk.{function}, {text!r}, ...) takes it")
        check_names(
            options, type(self).__call__, f"exactk.{'agreement_' * self._info.compares_lists}metrics.{self.name}"
        )
        return text

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value under the standard convention, infinite where there is none."""
        return range_of_metric(self._info)

    def __repr__(self) -> str:
        path = path_of(self._info, self._spelling)
        settings = ", ".join(f"{name}={_literal(value)}" for name, value in self._settings.items())
        return f"{path}.with_({settings})" if settings else path

    def _repr_html_(self) -> str:
        from exactk._metric_pages import html_page

        return html_page(self._info)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._restored, (self.name, self._spelling, self._settings)  # noqa: SLF001 - its own

    @classmethod
    def _restored(cls, name: str, spelling: str, settings: dict[str, Any]) -> Self:
        return cls(registry[name], spelling, settings)


def _literal(value: object) -> str:
    """Return what Python reads as the value of a setting."""
    if not isinstance(value, float):
        return repr(value)
    return text_of(value) if math.isfinite(value) else f"float({str(value)!r})"


class Metric(_AskedMetric):
    __doc__ = _Documentation(
        """A metric of `exactk.metrics`, such as ``exactk.metrics.ndcg``.

    ``metric @ k`` is the metric string at a cutoff, or at each of several, for any argument ``metrics=``.
    ``metric.with_(...)`` is the metric with another parameter or other fields of the convention.
    ``metric(truth, predictions, k)`` is its value. In place of a string, the metric itself is that of the whole lists,
    as is ``str(metric)``. ``help``, ``?`` and notebooks show its definition, formula, range, source and an example.

    Attributes
    ----------
    name, summary, formula, source : str
        The name, what it measures, its formula under the standard convention, and where it is from.
    aliases : list of str
        Its other names.
    direction : {"higher", "lower", "none"}
        Which values are better.
    range : tuple of two floats
        The least and the greatest value, infinite where there is none.
    parameter : MetricParameter or None
        The ``name``, the bounds ``low`` and ``high``, and the ``standard`` of its parameter, if it has one.

    Examples
    --------
    >>> import exactk
    >>> exactk.metrics.recall @ [5, 10]
    'recall@[5,10]'
    >>> exactk.metrics.fbeta.with_(beta=2) @ 10
    'fbeta@10(beta=2)'
    >>> exactk.metrics.recall([[1, 4]], [[1, 2, 3]], k=3)
    0.5
    """
    )

    __module__ = "exactk.results"
    __slots__ = ()

    @_of_lists
    @takes_options(ValueOptions)
    def __call__(
        self,
        truth: TruthLike | None,
        predictions: PredictionsLike | Blocks,
        k: int | None = None,
        **options: Unpack[ValueOptions],
    ) -> float:
        """Return the value at a cutoff, or of the whole lists.

        Parameters
        ----------
        k : int, optional
            The cutoff, in [1, 2^31); None for the whole lists.

        Returns
        -------
        float
            The mean over the evaluated users; NaN, with a warning, if there are none.
        """
        text = self._value_string(k, options, "evaluate(truth, predictions")
        report = evaluate(truth, predictions, text, **options)
        return report[report.metrics[0]]


class AgreementMetric(_AskedMetric):
    __doc__ = _Documentation(
        """A metric of `exactk.agreement_metrics`, which compares two lists of each user, such as ``exactk.agreement_metrics.rbo``.

    It is as a metric of `exactk.metrics` is, but for its value: ``metric(one, other, k)``.

    Examples
    --------
    >>> import exactk
    >>> exactk.agreement_metrics.rbo.with_(p=0.8) @ 10
    'rbo@10(p=0.8)'
    >>> exactk.agreement_metrics.overlap([[1, 2, 3]], [[3, 1, 4]], k=3)
    0.6666666666666666
    """
    )

    __module__ = "exactk.results"
    __slots__ = ()

    @_of_lists
    @takes_options(AgreementValueOptions, Metric.__call__)
    def __call__(
        self,
        one: PredictionsLike,
        other: PredictionsLike,
        k: int | None = None,
        **options: Unpack[AgreementValueOptions],
    ) -> float:
        """Return the value at a cutoff, or of the whole lists.

        Parameters
        ----------
        one, other : predictions
            The lists to compare, as in `exactk.agreement`.
        convention : Convention, str or mapping
            As in `exactk.agreement`.
        """
        from exactk._agreement import agreement

        report = agreement(one, other, self._value_string(k, options, "agreement(one, other"), **options)
        return report[report.metrics[0]]


_M = TypeVar("_M", bound=_AskedMetric)


class _Metrics(Registry[_M], Generic[_M]):
    """A registry whose entries are attributes too, each under the name that it is asked for by."""

    def __init__(self, make: type[_M], infos: Mapping[str, MetricInfo]) -> None:
        self._make: type[_M] = make
        aliases = {alias: name for name, info in infos.items() for alias in info.aliases}
        super().__init__({name: make(info) for name, info in infos.items()}, describe, "metric", aliases)

    def name_of(self, spelling: object) -> str | None:
        """Return the name that is meant, by a string or a metric, if there is one."""
        return super().name_of(spelling.name if isinstance(spelling, MetricEntry) else spelling)

    def __getitem__(self, spelling: str) -> _M:
        metric = super().__getitem__(spelling)
        name = getattr(spelling, "name", spelling)  # of a metric
        return metric if fold(name) == fold(metric.name) else self._make(metric._info, name)  # noqa: SLF001 - its own

    def hint(self, spelling: str) -> str:
        """Return what to write for a name that is none of these."""
        meant = meant_by(spelling)
        if meant is None:
            return super().hint(spelling)
        at = "" if meant.info.pairwise else f" @ {meant.cutoff}"
        return f"write {meant.path}" + (f"{at}, or {meant.call} for its value" if meant.cutoff else "")

    if not TYPE_CHECKING:  # which know every name

        def __getattr__(self, name: str) -> _M:
            """Return the metric of this name, or raise with the most similar one."""
            if not name.startswith("_") and name in self:
                return self[name]
            hint = "" if name.startswith("_") else self.hint(name)
            raise AttributeError(f"no metric is named {name!r}{'; ' if hint else ''}{hint}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]


class Metrics(_Metrics[Metric], MetricNames):
    """The metrics of `exactk.evaluate` by name, as a mapping and as attributes."""

    __module__ = "exactk"

    def __reduce__(self) -> str:
        return "metrics"


class AgreementMetrics(_Metrics[AgreementMetric], AgreementNames):
    """The metrics of `exactk.agreement` by name, as a mapping and as attributes."""

    __module__ = "exactk"

    def __reduce__(self) -> str:
        return "agreement_metrics"


metrics = Metrics(Metric, evaluation_metrics)
agreement_metrics = AgreementMetrics(AgreementMetric, metrics_of_lists)
