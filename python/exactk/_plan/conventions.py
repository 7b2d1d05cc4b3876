from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from exactk._plan.fields import FIELDS, STANDARD_RULES, field_name
from exactk._plan.metrics import Registry, metrics
from exactk._plan.presets import PRESETS
from exactk._runtime.errors import input_error, type_error
from exactk._runtime.faults import Option
from exactk._runtime.records import Record
from exactk._runtime.texts import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from exactk._plan.literals import FieldChanges, PresetName
    from exactk._plan.values import Value
    from exactk._runtime.errors import ExactkError

_T = TypeVar("_T")

_field_values = attrgetter(*FIELDS)

_AT_CUTOFF = "@k"  # suffix of an override for the metric with a cutoff
_WITH = " with "  # between the name of a preset and what was changed


def _checked_field_name(spelling: object) -> str:
    """Return the field's name, or raise InputError."""
    if not isinstance(spelling, str):
        raise type_error("convention", "field names as keys", repr(spelling))
    name = field_name(spelling)
    if name is None:
        metric = metrics.name_of(spelling)
        of_metric = f"'{metric}.FIELD' changes a field of one metric" if metric else ""
        hint = of_metric or did_you_mean(spelling, FIELDS) or f"the fields are {', '.join(FIELDS)}"
        raise input_error("convention", "the name of a field", repr(spelling), hint=hint)
    return name


def _checked_override_name(spelling: object) -> str:
    """Return the name under which a metric's overrides are kept, or raise InputError."""
    if not isinstance(spelling, str):
        raise type_error("convention", "overrides with metric names as keys", repr(spelling))
    metric = spelling[: -len(_AT_CUTOFF)] if spelling.lower().endswith(_AT_CUTOFF) else spelling
    name, suffix = metrics.name_of(metric), spelling[len(metric) :].lower()
    if name is None or (suffix and metrics[name].pairwise):
        raise input_error(
            "convention", "overrides with metric names as keys", repr(spelling), hint=metrics.hint(metric)
        )
    return name + suffix


def _checked_fields(choices: Mapping[Any, object]) -> dict[str, Any]:
    """Return the fields by name, with their values in canonical form, or raise InputError."""
    by_name = _by_name(choices, _checked_field_name)
    return {name: FIELDS[name].check(value, "convention") for name, value in by_name.items()}


def _by_name(choices: Mapping[Any, _T], name_of: Callable[[object], str]) -> dict[str, _T]:
    """Return the mapping with names for its keys; raise InputError if two spell one name."""
    by_name: dict[str, _T] = {}
    for spelling, choice in choices.items():
        name = name_of(spelling)
        if name in by_name:
            raise input_error("convention", f"{name} once", f"{spelling!r} too")
        by_name[name] = choice
    return by_name


def _plain(choices: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in choices.items()}


def override_name(metric: str, cutoff: int | None) -> str:
    """Return the name of the narrowest override that applies to a value."""
    return metric if cutoff is None else metric + _AT_CUTOFF


class Convention(Record, kw_only=True):
    """The choices that fix the value behind a metric's name.

    Every field has a default; together the defaults are the convention ``standard``. ``exactk.conventions`` maps preset
    names to conventions. *Conventions* in the documentation defines every value of every field.

    Parameters
    ----------
    precision_over : {'cutoff', 'list', 'min_cutoff_relevant', 'min_list_relevant'}, default 'cutoff'
        The divisor of precision.
    recall_over : {'relevant', 'min_cutoff_relevant', 'min_list_relevant'}, default 'relevant'
        The divisor of recall.
    weight : {'one', 'values', 'self_normalized'}, default 'one'
        What a relevant item counts: 1, or its value, given by items=, also divided by the values of all relevant items
        where the metric does not.
    ap_over : {'cutoff', 'list', 'relevant', 'min_cutoff_relevant', 'min_list_relevant', 'hits'}, default 'min_cutoff_relevant'
        The divisor of average precision, average recall and q_measure.
    ideal_over : {'cutoff', 'min_cutoff_relevant', 'min_list_relevant', 'all_judged'}, default 'min_cutoff_relevant'
        The number of ranks in the ideal ranking of nDCG.
    gauc_over : {'impressions', 'positives'}, default 'impressions'
        What weighs the users of gauc: the ranked items of each, or the relevant ones.
    recall_rank : {'round', 'plus_0.9'}, default 'round'
        The number of hits at a recall in interpolated precision: recall |T| rounded half up, or the integer part of
        recall |T| + 0.9.
    rbp_over : {'one', 'highest_gain'}, default 'one'
        The divisor of rbp: 1, or the user's highest gain where that is above 1.
    residual_tail : {'always', 'if_unjudged'}, default 'always'
        When the ranks below a list are part of rbp_residual: always, or only if an item of the list is not judged,
        which is 0 otherwise.
    rbo_over : {'extrapolated', 'truncated'}, default 'extrapolated'
        The depths of rank-biased overlap: all, with the overlap at the end of the lists for those below, or those down
        to the cutoff.
    compatibility_over : {'ideal', 'weights'}, default 'ideal'
        The divisor of compatibility: that of the best list, or the weights of the depths.
    popularity : {'users', 'interactions'}, default 'users'
        The popularity of an item: its distinct users in train, or its rows there.
    novelty_over : {'users', 'interactions'}, default 'users'
        What novelty and surprisal compare an item's popularity with: the distinct users of train, or its rows.
    arp_over : {'one', 'users', 'interactions', 'max'}, default 'one'
        The divisor of a popularity in arp: none, the distinct users of train, its rows, or the highest popularity.
    unseen_items : {'rare', 'zero', 'skip', 'least_popular', 'raise'}, default 'rare'
        An item of the catalogue that is not in train: as popular as an item of one user where a logarithm is taken,
        otherwise of none; 0 in the sum over the list; left out; as popular as the least popular item of train; or an
        error.
    foreign_items : {'raise', 'ignore', 'count'}, default 'raise'
        A recommended item outside the catalogue: an error, left out, or an item of popularity 0.
    list_mean_over : {'list', 'cutoff'}, default 'list'
        The divisor of a mean over the list: its items, or the cutoff.
    tail : {'head_share', 'lowest_share', 'at_most'}, default 'head_share'
        The tail of aplt: the items less popular than the fewest that have the share `head` of the total popularity, the
        least popular ones beside the share `head` of the items of train, or the items of popularity `head` or less.
    distance : {'cosine', 'dot', 'euclidean', 'hamming', 'jaccard', 'matrix'}, default 'cosine'
        The distance of two items: 1 minus the cosine or the product of their vectors, the length of the difference, the
        number of unequal columns, 1 minus the share of common tags, or the entry of a matrix of distances.
    ild_over : {'pairs', 'list', 'pairs_or_one'}, default 'pairs'
        The divisor of ild: the pairs of items of the list, its items, or the pairs, but 1 for a list of fewer than two
        items.
    serendipity_of : {'features', 'popularity'}, default 'features'
        What serendipity is measured by: the distance of an item from what the user has in train, or how far the list
        has it above its place among the most popular items.
    history_distance : {'nearest', 'mean'}, default 'nearest'
        The distance of an item from what a user has in train: that of the nearest item, or the mean.
    missing_features : {'raise', 'skip'}, default 'raise'
        An item without features, recommended or, where a metric reads it, in train: an error, or left out.
    list_users : {'lists', 'users'}, default 'lists'
        Whose lists count in metrics of all lists: all of them, or those of the users in the mean, whom neither
        empty_truth nor empty_list skips.
    gini_over : {'items', 'items_less_one'}, default 'items'
        The divisor of gini beside the recommendations: the items, or one fewer.
    gini_items : {'catalogue', 'recommended'}, default 'catalogue'
        The items of gini: the catalogue, or those that any list has.
    entropy_base : {'2', 'e'}, default '2'
        The base of the logarithm in entropy.
    entropy_over : {'one', 'log_items', 'distinct_items'}, default 'one'
        The divisor of entropy: none, the logarithm of the number of items, or the number of items that any list has.
    list_similarity : {'cosine', 'overlap'}, default 'cosine'
        The similarity of two lists in personalization: the items in common over the geometric mean of their lengths, or
        all items in common over all mean lengths.
    gain : {'linear', 'binary', 'exp2', 'exp2_shifted', 'table', 'scaled'}, default 'linear'
        The gain of a relevant item: its grade, 1, 2^grade - 1, 2^(grade - min_grade + 1) - 1, gain_table[grade], or
        from 0 to 1 as the grade is within gain_range.
    discount : {'log2', 'log2_floored', 'log', 'log_floored', 'inverse', 'power', 'geometric', 'none', 'table'}, default 'log2'
        The weight of rank i: 1/log2(i+1), 1/max(1, log2 i), the same two with the logarithm to discount_base, 1/i,
        1/i^discount_power, discount_persistence^(i-1), 1, or discount_table[i-1].
    average : {'macro', 'micro', 'geometric', 'of_means'}, default 'macro'
        The mean of the users' ratios, the ratio of their sums, the geometric mean of the ratios (each at least
        0.00001), or F of the mean precision and the mean recall.
    users : {'truth', 'both', 'predictions', 'union'}, default 'truth'
        The users in the mean: those in the truth, in both truth and predictions, in the predictions, or in either.
    empty_truth : {'compute', 'skip', 'zero', 'one', 'error'}, default 'skip'
        A user without relevant items.
    empty_list : {'compute', 'skip', 'zero', 'one', 'error'}, default 'compute'
        A user with an empty list.
    missing_list : {'compute', 'skip', 'zero', 'one', 'error'}, default 'compute'
        A user in the truth without a list.
    undefined : {'zero', 'one', 'nan', 'skip'}, default 'zero'
        A ratio with divisor 0.
    duplicate_items : {'raise', 'first', 'count', 'collapse'}, default 'raise'
        An item repeated in a list: an error, no hit at its later ranks, a hit each time, or one item at its best rank,
        with later copies removed before ranks are counted.
    duplicate_truth : {'raise', 'first', 'max', 'count'}, default 'raise'
        An item repeated in a user's truth: an error, one item with its first or highest grade, or several items with
        its first grade.
    negative_grades : {'raise', 'unjudged', 'zero_gain'}, default 'raise'
        An item with a negative grade: an error if its gain counts; not judged, as if absent from the truth; or judged,
        with gain 0 unless gain='binary'.
    unjudged : {'keep', 'remove'}, default 'keep'
        An item of the list that is not in the truth: no hit at its rank, or removed before ranks are counted.
    ties : {'lowest_id', 'highest_id', 'input_order', 'optimistic', 'pessimistic', 'shared', 'expected', 'raise'}, default 'lowest_id'
        The order of ties: lowest or highest id first, in input order, relevant items first or last, all at the tie's
        last rank, the mean over all orders, or an error if an item of the truth is tied.
    nan : {'raise', 'last'}, default 'raise'
        A NaN score: an error, or ranked below all others.
    min_grade : float, Literal['any'], None, default None
        The lowest grade of a relevant item; None: any grade above 0; 'any': every grade.
    gain_table : tuple[float, ...], default ()
        The gains of the grades 0, 1, 2, ... for gain='table'.
    gain_range : tuple[float, ...], default ()
        The highest grade of gain 0 and the lowest of gain 1 for gain='scaled'.
    discount_base : float, default 2.0
        The base of the logarithm for discount='log' and discount='log_floored'.
    discount_power : float, default 1.0
        The exponent for discount='power'.
    discount_persistence : float, default 0.85
        The ratio of the weights of a rank and the one above it for discount='geometric'.
    discount_table : tuple[float, ...], default ()
        The weights of the ranks 1, 2, ... for discount='table', of which none is above the one before; ranks below
        weigh 0.
    decimals : int, None, default None
        The number of decimals, 0 to 15, to which the mean (not a user's value) is rounded; None: not rounded.
    score_dtype : {'native', 'float32'}, default 'native'
        The type in which scores are compared: their own, or float32, which makes more ties.
    negative_infinity : {'rank', 'exclude'}, default 'rank'
        An item with score -inf: ranked like any other, or dropped, as is an item with score NaN.
    rank_gaps : {'close', 'keep'}, default 'close'
        Given ranks with gaps: closed, so that only their order counts, or kept, so that each item stays at its rank.
    chunk_score : {'max', 'sum', 'mean', 'first'}, default 'max'
        With parents=, the score of a document: the highest of its chunks in the list, their sum, their mean, or that of
        the chunk that parents lists first; lists without scores have its first chunk alone.
    item_group_value : {'restricted', 'share'}, default 'restricted'
        A value of a group of items (item_group=): with the truth restricted to the group, or the share that hits in the
        group have in the value of all items.
    overrides : mapping from metric to mapping of fields, optional
        Fields for single metrics, such as ``{"ndcg": {"gain": "exp2"}}``. The key ``"ndcg@k"`` applies only where the
        metric has a cutoff, and takes precedence.
    name : str
        The convention's name. It does not affect equality.

    Examples
    --------
    >>> import exactk
    >>> mine = exactk.conventions["standard"].replace(recall_over="min_cutoff_relevant")
    >>> mine.diff("standard")
    {'recall_over': ('min_cutoff_relevant', 'relevant')}
    """

    precision_over: Literal["cutoff", "list", "min_cutoff_relevant", "min_list_relevant"] = "cutoff"
    recall_over: Literal["relevant", "min_cutoff_relevant", "min_list_relevant"] = "relevant"
    weight: Literal["one", "values", "self_normalized"] = "one"
    ap_over: Literal["cutoff", "list", "relevant", "min_cutoff_relevant", "min_list_relevant", "hits"] = (
        "min_cutoff_relevant"
    )
    ideal_over: Literal["cutoff", "min_cutoff_relevant", "min_list_relevant", "all_judged"] = "min_cutoff_relevant"
    gauc_over: Literal["impressions", "positives"] = "impressions"
    recall_rank: Literal["round", "plus_0.9"] = "round"
    rbp_over: Literal["one", "highest_gain"] = "one"
    residual_tail: Literal["always", "if_unjudged"] = "always"
    rbo_over: Literal["extrapolated", "truncated"] = "extrapolated"
    compatibility_over: Literal["ideal", "weights"] = "ideal"
    popularity: Literal["users", "interactions"] = "users"
    novelty_over: Literal["users", "interactions"] = "users"
    arp_over: Literal["one", "users", "interactions", "max"] = "one"
    unseen_items: Literal["rare", "zero", "skip", "least_popular", "raise"] = "rare"
    foreign_items: Literal["raise", "ignore", "count"] = "raise"
    list_mean_over: Literal["list", "cutoff"] = "list"
    tail: Literal["head_share", "lowest_share", "at_most"] = "head_share"
    distance: Literal["cosine", "dot", "euclidean", "hamming", "jaccard", "matrix"] = "cosine"
    ild_over: Literal["pairs", "list", "pairs_or_one"] = "pairs"
    serendipity_of: Literal["features", "popularity"] = "features"
    history_distance: Literal["nearest", "mean"] = "nearest"
    missing_features: Literal["raise", "skip"] = "raise"
    list_users: Literal["lists", "users"] = "lists"
    gini_over: Literal["items", "items_less_one"] = "items"
    gini_items: Literal["catalogue", "recommended"] = "catalogue"
    entropy_base: Literal["2", "e"] = "2"
    entropy_over: Literal["one", "log_items", "distinct_items"] = "one"
    list_similarity: Literal["cosine", "overlap"] = "cosine"
    gain: Literal["linear", "binary", "exp2", "exp2_shifted", "table", "scaled"] = "linear"
    discount: Literal[
        "log2", "log2_floored", "log", "log_floored", "inverse", "power", "geometric", "none", "table"
    ] = "log2"
    average: Literal["macro", "micro", "geometric", "of_means"] = "macro"
    users: Literal["truth", "both", "predictions", "union"] = "truth"
    empty_truth: Literal["compute", "skip", "zero", "one", "error"] = "skip"
    empty_list: Literal["compute", "skip", "zero", "one", "error"] = "compute"
    missing_list: Literal["compute", "skip", "zero", "one", "error"] = "compute"
    undefined: Literal["zero", "one", "nan", "skip"] = "zero"
    duplicate_items: Literal["raise", "first", "count", "collapse"] = "raise"
    duplicate_truth: Literal["raise", "first", "max", "count"] = "raise"
    negative_grades: Literal["raise", "unjudged", "zero_gain"] = "raise"
    unjudged: Literal["keep", "remove"] = "keep"
    ties: Literal[
        "lowest_id", "highest_id", "input_order", "optimistic", "pessimistic", "shared", "expected", "raise"
    ] = "lowest_id"
    nan: Literal["raise", "last"] = "raise"
    min_grade: float | Literal["any"] | None = None
    gain_table: tuple[float, ...] = ()
    gain_range: tuple[float, ...] = ()
    discount_base: float = 2.0
    discount_power: float = 1.0
    discount_persistence: float = 0.85
    discount_table: tuple[float, ...] = ()
    decimals: int | None = None
    score_dtype: Literal["native", "float32"] = "native"
    negative_infinity: Literal["rank", "exclude"] = "rank"
    rank_gaps: Literal["close", "keep"] = "close"
    chunk_score: Literal["max", "sum", "mean", "first"] = "max"
    item_group_value: Literal["restricted", "share"] = "restricted"
    overrides: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    name: str = "custom"

    _uncompared = frozenset({"name"})

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        for name in FIELDS:
            object.__setattr__(self, name, FIELDS[name].check(getattr(self, name), "convention"))
        if not isinstance(self.name, str):
            raise type_error("convention", "name to be a string", repr(self.name)[:200])
        frozen: dict[str, Mapping[str, Any]] = {}
        if not isinstance(self.overrides, Mapping):
            raise type_error("convention", "overrides to be a mapping", repr(self.overrides))
        for metric, choices in _by_name(self.overrides, _checked_override_name).items():
            if not isinstance(choices, Mapping):
                raise type_error("convention", f"overrides of {metric} to be a mapping", repr(choices))
            frozen[metric] = MappingProxyType(_checked_fields(choices))
        object.__setattr__(self, "overrides", MappingProxyType(frozen))

    def rules(self, metric: str) -> dict[str, Any]:
        """Return every field's value for a metric, or for ``metric@k`` with a cutoff, after overrides."""
        return dict(_rules(self, metric))

    def replace(self, /, **changes: Unpack[FieldChanges]) -> Convention:
        """Return a convention with some fields changed.

        Parameters
        ----------
        **changes
            Fields and their new values. ``overrides`` replaces all overrides.

        Returns
        -------
        Convention
            Without ``name=``, its name says what was changed of which preset, as in ``"ranx with ties='expected'"``;
            if this convention is no preset and none that was changed, its name is ``"custom"``.
        """
        of_fields: dict[str, Any] = {**changes}
        others = {name: of_fields.pop(name) for name in ("overrides", "name") if name in of_fields}
        changed = self._replace(**_by_name(of_fields, _checked_field_name), **others)
        if "name" not in others:
            name = "custom" if base_of(self) is None else description(changed)
            is_confirmed = "undefined" in map(field_name, changes) or confirms_undefined(self)
            if is_confirmed and base_of(self) is not None and not confirms_undefined(name):
                name += f"{', ' if _WITH in name else _WITH}undefined={changed.undefined!r}"  # the preset's, but chosen
            object.__setattr__(changed, "name", name)  # it is nobody else's yet
        return changed

    def diff(self, other: ConventionLike) -> dict[str, tuple[Any, Any]]:
        """Return the fields that differ, each with both values: ``{field: (own, other)}``.

        Differences in overrides are under ``metric.field``.

        Parameters
        ----------
        other : Convention, str or mapping
            Anything that ``convention=`` accepts.
        """
        other = as_convention(other)
        differing = {
            name: (getattr(self, name), getattr(other, name))
            for name in FIELDS
            if getattr(self, name) != getattr(other, name)
        }
        for metric in sorted({*self.overrides, *other.overrides}):
            rules, other_rules = self.rules(metric), other.rules(metric)
            for name in sorted({*self.overrides.get(metric, {}), *other.overrides.get(metric, {})}):
                if rules[name] != other_rules[name]:
                    differing[f"{metric}.{name}"] = (rules[name], other_rules[name])
        return differing

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; ``Convention.from_dict`` reads them back."""
        data: dict[str, Any] = _plain({name: getattr(self, name) for name in FIELDS})
        data["overrides"] = {metric: _plain(choices) for metric, choices in self.overrides.items()}
        return data | {"name": self.name}

    @classmethod
    def from_dict(cls, data: Mapping[Any, Any]) -> Convention:
        """Return the convention that `to_dict` described."""
        if not isinstance(data, Mapping) or {*map(type, data)} - {str}:  # type: ignore[redundant-expr]
            raise type_error("convention", "a mapping of fields", repr(data)[:200])
        overrides = data.get("overrides")
        if isinstance(overrides, dict) and {*map(type, overrides)} <= {str}:  # JSON has no other keys
            import json

            try:
                return _convention_of_json(json.dumps(data))
            except (TypeError, ValueError):  # which the fields explain
                pass
        return cls().replace(**data)

    def __repr__(self) -> str:
        text, all_changes = description(self), departures(self)
        return f"<Convention {text}>" if text.endswith(all_changes) else f"<Convention {text}: {all_changes}>"

    def _repr_html_(self) -> str:
        from exactk._runtime.table import Table, html_of_tables

        changes = _changes(self, _STANDARD)
        names = list(changes or FIELDS)
        fields = [name.rpartition(".")[2] for name in names]
        rows = [
            [
                name,
                _as_text(changes.get(name, STANDARD_RULES[field])),
                _as_text(STANDARD_RULES[field]),
                FIELDS[field].summary,
            ]
            for name, field in zip(names, fields, strict=True)
        ]
        notes = ["all other fields have the values of standard"] if changes else []
        header, caption = ["field", "value", "standard", "meaning"], f"Convention {self.name}"
        return html_of_tables([Table.of_rows(header, rows, 4, caption=caption, notes=notes, longest=400)])

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:  # each call looks plans up by it
        overrides = tuple((metric, tuple(sorted(choices.items()))) for metric, choices in self.overrides.items())
        return hash((_field_values(self), frozenset(overrides)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Convention.from_dict, (self.to_dict(),))


Convention.__module__ = "exactk"  # where a dataclass would look for names, if it stood in its body


@lru_cache(maxsize=64)  # states of one evaluation have the same
def _convention_of_json(text: str) -> Convention:
    import json

    return Convention().replace(**json.loads(text))


@lru_cache(maxsize=1024)  # each call reads those of its values
def _rules(convention: Convention, metric: str) -> dict[str, Any]:
    rules = {name: getattr(convention, name) for name in FIELDS}
    for name in dict.fromkeys((metric.removesuffix(_AT_CUTOFF), metric)):
        rules |= convention.overrides.get(name, {})
    return rules


_STANDARD = Convention(name="standard")

ConventionLike: TypeAlias = "Convention | PresetName | str | Mapping[str, Any]"
"""The type of every argument `convention=`: a convention, the name of a preset, or changes to a preset.

Other spellings of the presets' names are accepted too: the literals are for completion.
"""


def base_of(convention: Convention) -> Convention | None:
    """Return the preset that the convention is, or was changed from, by its name."""
    name = conventions.name_of(convention.name.partition(_WITH)[0])
    return None if name is None else conventions[name]


def confirms_undefined(convention: Convention | str) -> bool:
    """Return whether the name of the convention, or this name, says that somebody chose what 0 / 0 is."""
    name = convention if isinstance(convention, str) else convention.name
    return any(part.startswith("undefined=") for part in name.partition(_WITH)[2].split(", "))


def description(convention: Convention) -> str:
    """Return what the convention is: a preset, a preset with changes, or a name with all that is not standard."""
    base = base_of(convention)
    if base is None:
        return f"{convention.name}: {departures(convention)}"
    changes = _changes_as_text(convention, base)
    return f"{base.name}{_WITH}{changes}" if changes else base.name


def departures(convention: Convention) -> str:
    """Return the differences from the standard convention as text."""
    return _changes_as_text(convention, _STANDARD) or "the defaults"


_MOST_NUMBERS = 8  # of a table of gains that is written in full


def _changes_as_text(convention: Convention, base: Convention) -> str:
    return ", ".join(f"{name}={_as_text(value)}" for name, value in _changes(convention, base).items())


def _as_text(value: object) -> str:
    if isinstance(value, tuple) and len(value) > _MOST_NUMBERS:
        return f"({value[0]!r}, {value[1]!r}, ... {value[-1]!r})"
    return repr(value)


def _changes(convention: Convention, base: Convention) -> dict[str, Any]:
    """Return the fields that differ from another convention, ``metric.field`` for overrides."""
    changes = {name: value for name, (value, _) in convention.diff(base).items()}
    for metric, choices in convention.overrides.items():  # including overrides that restore the field for one metric
        plain = metric.removesuffix(_AT_CUTOFF)
        wider = vars(convention) if plain == metric else convention.rules(plain)
        of_base = base.overrides.get(metric, {})
        changes |= {
            f"{metric}.{name}": value
            for name, value in choices.items()
            if value != wider[name] and (name not in of_base or value != of_base[name])
        }
    return changes


def as_convention(convention: ConventionLike) -> Convention:
    """Return the convention itself, the preset of that name, or a preset with changes."""
    if isinstance(convention, Convention):
        return convention
    if isinstance(convention, Mapping):
        return _changed_preset(convention)
    if not isinstance(convention, str):
        raise type_error("convention", "a name, a Convention, or a mapping of changes", type(convention).__name__)
    preset = conventions.get(convention)
    if preset is None:
        hint = conventions.hint(convention) or f"the presets are {', '.join(conventions)}"
        raise input_error("convention", "the name of a preset", repr(convention), hint=hint)
    return preset


def _changed_preset(changes: Mapping[Any, Any]) -> Convention:
    """Return the preset that ``base`` names, by default the standard, with fields and overrides changed."""
    fields_changed: dict[str, Any] = {}
    metric_changes: dict[str, dict[str, Any]] = {}
    for name, value in dict(changes).items():
        if not isinstance(name, str):
            raise type_error("convention", "field names as keys", repr(name))
        metric, dot, metric_field = name.rpartition(".")
        if dot:
            of_metric = metric_changes.setdefault(_checked_override_name(metric), {})
            if metric_field in of_metric:
                raise input_error("convention", f"{metric_field} once for each metric", f"{name!r} too")
            of_metric[metric_field] = value
        elif name != "base":
            fields_changed[name] = value
    base = changes.get("base", "standard")
    if not isinstance(base, (str, Convention)):
        raise type_error("convention", "base to be the name of a preset", repr(base))
    convention = as_convention(base).replace(**fields_changed) if fields_changed else as_convention(base)
    if metric_changes:
        checked_changes = {metric: _checked_fields(choices) for metric, choices in metric_changes.items()}
        overrides = {
            metric: {**convention.overrides.get(metric, {}), **checked_changes.get(metric, {})}
            for metric in {**convention.overrides, **checked_changes}
        }
        convention = convention.replace(overrides=overrides)
    return convention


def changes_from(convention: Convention, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping that, as ``convention=``, is this convention with some fields changed."""
    base = base_of(convention) or _STANDARD
    of_base = {} if base is _STANDARD else {"base": base.name}
    return of_base | _changes(convention, base) | dict(changes)


class _Presets(Mapping[str, Convention]):
    """The presets, each made when it is asked for: all of them are a tenth of a first call."""

    def __getitem__(self, name: str) -> Convention:
        return _preset(name)

    def __iter__(self) -> Iterator[str]:
        return iter((_STANDARD.name, *PRESETS))

    def __len__(self) -> int:
        return 1 + len(PRESETS)


@cache
def _preset(name: str) -> Convention:
    return _STANDARD if name == _STANDARD.name else _STANDARD.replace(name=name, **PRESETS[name])


conventions: Registry[Convention] = Registry(_Presets(), departures, "convention")
"""The presets, by name."""


_REFUSED_CHOICES = frozenset({"raise", "unjudged", "cutoff", "input_order"})
"""The choices that hints propose to change."""


def convention_option(convention: Convention, **changes: object) -> Option:
    """Return the keyword argument for a change of the convention."""
    return Option("convention", changes_from(convention, changes))


def with_complete_hint(error: ExactkError, convention: Convention, values: Sequence[Value]) -> ExactkError:
    """Return the error with its hint, written for the standard convention, completed with the call's own changes."""
    hint = tuple(_complete(part, convention, values) for part in error.fault.hint)
    return error if hint == error.fault.hint else error.amended(hint=hint)


def _complete(part: str | Option, convention: Convention, values: Sequence[Value]) -> str | Option:
    """Return the completed part of a hint."""
    if not isinstance(part, Option) or part.name != "convention" or not isinstance(part.value, dict):
        return part
    ((field, choice),) = part.value.items()
    for value in values:
        refused = value.rules[field]
        of_convention = convention.rules(override_name(value.metric, value.cutoff))[field]
        if refused in _REFUSED_CHOICES and refused != of_convention:  # by the metric's string
            return Option("metrics", value.name.replace(f"{field}={refused}", f"{field}={choice}"))
    overridden = {f"{metric}.{field}": choice for metric, rules in convention.overrides.items() if field in rules}
    return Option("convention", changes_from(convention, {field: choice} | overridden))
