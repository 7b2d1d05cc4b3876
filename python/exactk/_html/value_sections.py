"""Sections of values: of each system, by cutoff, by user, crossed, and of the recommended items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from exactk._figures import (
    curves_figure,
    distribution_figure,
    has_users,
    metrics_with_cutoffs,
    pair_figure,
    trade_off_figure,
    values_figure,
)
from exactk._html.charts import (
    IntervalRow,
    StepLine,
    curves_chart,
    intervals_chart,
    scatter_chart,
    shares_chart,
    steps_chart,
)
from exactk._html.page_parts import (
    Cell,
    Chart,
    Fold,
    Paragraph,
    joined_counts,
    number,
    page_table,
    share_text,
    with_intervals,
)
from exactk._runtime.errors import ExactkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exactk._figures import CurvesFigure, DistributionFigure, PairFigure, TradeOffFigure, ValuesFigure
    from exactk._html.page_parts import Content, Part
    from exactk._html.page_source import Source
    from exactk._plan.values import Value
    from exactk._runtime.table import Table


def values(source: Source) -> Content:
    figures = [values_figure(source.reports, value.name, source.confidence) for value in source.values]
    parts: list[Part] = [_table_of_values(source, figures)]
    if source.comparison is not None:
        parts += [_chart_of_values(source, figure) for figure in [one for one in figures if _has_interval(one)][:1]]
    return parts


def _table_of_values(source: Source, figures: Sequence[ValuesFigure]) -> Table:
    columns = [
        with_intervals([one.values[system] for one in figures], [one.intervals[system] for one in figures])
        for system in source.reports
    ]
    rows = [
        [value.spelling, *_cells(source, value, figure, texts), *_facts(source, value)]
        for value, figure, texts in zip(source.values, figures, zip(*columns, strict=True), strict=True)
    ]
    baseline = None if source.comparison is None else source.comparison.state.options.baseline
    has_tied = any(isinstance(cell, Cell) and cell.mark == "~" for row in rows for cell in row)
    intervals = _note_on_intervals(source, columns) if any(map(_has_interval, figures)) else ""
    if intervals and source.has_clusters:
        intervals += source.named(
            ", as if users were independent: it ignores the clusters, which the differences do not"
        )
    notes = [
        intervals or source.named("no intervals: they need SciPy, and with weights or of micro averages per_user=True"),
        *(["* best"] if len(source.reports) > 1 else []),
        *(["~ not significantly worse than the best"] if has_tied else []),
        *([f"only differences from {baseline} are tested"] if baseline and len(source.reports) > 2 else []),
        *_notes_on_users(source),
    ]
    header = ["metric", *source.column_names(), "better", source.named("users")]
    return page_table("Values", header, rows, note="; ".join(notes) + ".")


def _note_on_intervals(source: Source, columns: Iterable[Iterable[str]]) -> str:
    """Return what stands beside the values."""
    signs = {sign for texts in columns for text in texts for sign in "±[" if sign in text}
    interval = f"{source.level_text} confidence interval"
    forms = f"± half of the {interval}" if "±" in signs else f"in brackets the {interval}"
    forms += ", or the whole in brackets" * (signs == {"±", "["})
    counts = (report.counts["evaluated"].values() for report in source.reports.values())
    few = source.named("; an interval of one user says little") * any(1 in some for some in counts)
    return f"{forms}{few}"


def _cells(source: Source, value: Value, figure: ValuesFigure, texts: Iterable[str]) -> list[Cell | str]:
    tied = _tied_with_best(source, value, figure)
    cells: list[Cell | str] = []
    for system, text in zip(source.reports, texts, strict=True):
        is_best = len(source.reports) > 1 and system in figure.best
        cells.append(Cell(text, is_best=is_best, mark="*" if is_best else "~" if system in tied else ""))
    return cells


def _tied_with_best(source: Source, value: Value, figure: ValuesFigure) -> set[str]:
    """Return the systems that are compared with the best one, and not significantly worse."""
    is_one_sided = source.comparison is not None and source.comparison.state.options.alternative != "two_sided"
    tied = set()
    for row in () if is_one_sided else source.rows_of.get(value.spelling, ()):
        if row.p_adjusted > source.level and (row.system in figure.best or row.baseline in figure.best):
            tied |= {row.system, row.baseline}
    return tied - set(figure.best)


def _facts(source: Source, value: Value) -> Sequence[str]:
    direction = {"none": "neither"}.get(value.info.direction, value.info.direction)
    return [direction, joined_counts(report.counts["evaluated"][value.name] for report in source.reports.values())]


def _notes_on_users(source: Source) -> list[str]:
    users = {report.state.counts.users for report in source.reports.values()}
    if len(users) > 1:
        return [source.named("the systems have different users")]
    (count,) = users
    is_partial = any(
        evaluated != count for report in source.reports.values() for evaluated in report.counts["evaluated"].values()
    )
    return [f"{source.named('users')}: those in the mean, of {count:,}"] if is_partial else []


def _has_interval(figure: ValuesFigure) -> bool:
    return not all(math.isnan(one.low) for one in figure.intervals.values())


def _chart_of_values(source: Source, figure: ValuesFigure) -> Chart:
    rows = [
        IntervalRow(system, figure.values[system], *figure.intervals[system], number(figure.values[system]), style)
        for system, style in source.shown_styles(source.reports).items()
    ]
    best = " and ".join(figure.best[:3])
    finding = f"{best} {'has' if len(figure.best) == 1 else 'have'} the best value" if best else "each system's value"
    title = f"{figure.metric} of each system"
    caption = f"The point is the value, the line its {source.level_text} confidence interval; {finding}."
    return Chart.of(title, finding, intervals_chart(rows, figure.metric), caption=caption)


_NO_CURVE = "no metric was computed at two cutoffs or more; ask for some, such as ndcg@[5,10,20]"


def curves(source: Source) -> Content:
    metrics = metrics_with_cutoffs(source.reports)
    if not metrics:
        return _NO_CURVE
    in_order = sorted(metrics, key=lambda metric: metric != source.values[0].label)
    shown = in_order[: source.limits.charts]
    charts = [_chart_of_curves(source, curves_figure(source.reports, metric, source.confidence)) for metric in shown]
    parts: list[Part] = list(charts[:1])
    if len(metrics) > 1:
        left_out = len(metrics) - len(shown)
        more = f" (the first {len(shown)}, {left_out} more in the values)" if left_out else ""
        parts.append(Fold(f"Curves of the other metrics{more}", charts[1:]))
    return parts


def _chart_of_curves(source: Source, figure: CurvesFigure) -> Chart:
    styles = source.shown_styles(figure.values)
    finding = _finding_of_curves(figure)
    has_bands = any(math.isfinite(one.low) for system in styles for one in figure.intervals[system])
    bands = f" Bands are {source.level_text} confidence intervals of each value by itself." if has_bands else ""
    table = _table_of_curves(figure)
    return Chart.of(table.caption, finding, curves_chart(figure, styles), table, caption=f"{finding}{bands}")


def _finding_of_curves(figure: CurvesFigure) -> str:
    """Return the first and the last value of one system, or which system has the highest at each cutoff."""
    if len(figure.values) == 1:
        (values,) = figure.values.values()
        cutoffs = figure.cutoffs
        return f"From {number(values[0])} at {cutoffs[0]} to {number(values[-1])} at {cutoffs[-1]}."
    highest: dict[str, list[str]] = {}
    for index, cutoff in enumerate(figure.cutoffs):
        numbers = {system: values[index] for system, values in figure.values.items() if math.isfinite(values[index])}
        for system in [system for system, one in numbers.items() if one == max(numbers.values())]:
            highest.setdefault(system, []).append(str(cutoff))
    sentences = [f"{system} at {', '.join(cutoffs)}" for system, cutoffs in list(highest.items())[:4]]
    return f"Highest: {'; '.join(sentences)}." if sentences else "No system has a value."


def _table_of_curves(figure: CurvesFigure) -> Table:
    header = ["system" if len(figure.values) > 1 else "", *(f"@{cutoff}" for cutoff in figure.cutoffs)]
    values, intervals = (zip(*of_systems.values(), strict=True) for of_systems in (figure.values, figure.intervals))
    columns = map(with_intervals, values, intervals)
    rows = [[system or figure.metric, *cells] for system, *cells in zip(figure.values, *columns, strict=True)]
    return page_table(f"{figure.metric} by cutoff", header, rows)


_SHOWN_LEVELS = (0, 10, 25, 50, 75, 90, 100)  # in percent


def users(source: Source) -> Content:
    try:
        metric = next((value.name for value in source.values if has_users(value)), None)
        figure = distribution_figure(source.reports, metric)
    except ExactkError as error:
        return str(error)
    if not any(figure.users.values()):
        return f"no user has a value of {figure.metric}"
    parts: list[Part] = [_chart_of_users(source, figure)]
    pairs = [pair for pair in source.pairs if not source.runs.keys() & set(pair)][: source.limits.marks]
    pair_figures = [one for pair in pairs if (one := pair_figure(source.reports, *pair, figure.metric)).users]
    if pair_figures:
        parts += [_chart_of_pairs(source, pair_figures), _table_of_shares(source, pair_figures)]
    return parts


def _chart_of_users(source: Source, figure: DistributionFigure) -> Chart:
    styles = source.shown_styles(system for system, count in figure.users.items() if count)
    lines = [StepLine(system or figure.metric, style, figure.quantiles[system]) for system, style in styles.items()]
    first, *_ = styles
    finding = f"The median{f' of {first}' if first else ''} is {number(figure.quantiles[first][50])}."
    weights = "; users count once each, whatever their weights" if source.first.state.weighted else ""
    height = source.named(f"The height of a line is the share of users whose value is at most x{weights}.")
    names = "metric" if list(styles) == [""] else "system"
    counts = [figure.users[one] for one in styles]
    table = _table_of_quantiles(source, f"Quantiles of users' {figure.metric}", names, lines, counts)
    drawing = steps_chart(lines, figure.metric, source.named("share of users"))
    title = source.named(f"Users by {figure.metric}")
    return Chart.of(title, finding, drawing, table, caption=f"{finding} {height}")


def _table_of_quantiles(
    source: Source, caption: str, names: str, lines: Sequence[StepLine], users: Sequence[int]
) -> Table:
    rows = [
        [line.label, *(number(line.quantiles[level]) for level in _SHOWN_LEVELS), f"{count:,}"]
        for line, count in zip(lines, users, strict=True)
    ]
    levels = ({0: "least", 50: "median", 100: "largest"}.get(level, f"{level} %") for level in _SHOWN_LEVELS)
    return page_table(source.named(caption), [names, *levels, source.named("users")], rows)


def _chart_of_pairs(source: Source, figures: Sequence[PairFigure]) -> Chart:
    lines = [StepLine(source.pair_name(one), source.styles[one.system], one.quantiles) for one in figures]
    first = figures[0]
    finding = f"The median difference of {first.system} from {first.baseline} is {number(first.quantiles[50])}."
    drawing = steps_chart(lines, f"difference in {first.metric}", source.named("share of users"))
    counts = [one.users for one in figures]
    table = _table_of_quantiles(source, "Quantiles of users' differences", "system", lines, counts)
    return Chart.of(source.named(f"Users by their difference in {first.metric}"), finding, drawing, table)


def _table_of_shares(source: Source, figures: Sequence[PairFigure]) -> Table:
    rows = [[source.pair_name(one), *_shares_text(one.gains), *_shares_text(one.losses)] for one in figures]
    header = [
        "system",
        "share of all gains: 1 % of users who gain most",
        "10 %",
        "share of all losses: 1 % of users who lose most",
        "10 %",
    ]
    note = "If 1 % of the users have most of the gains, the difference is theirs, not that of a typical user."
    caption = source.named("How few users have the gains and losses")
    return page_table(caption, [*map(source.named, header)], rows, note=source.named(note))


def _shares_text(shares: Sequence[tuple[float, float]]) -> list[str]:
    return [share_text(share) for _, share in shares] or ["none", "none"]


def trade_offs(source: Source) -> Content:
    if source.comparison is None:
        return source.no_differences
    try:
        x, y = [*(value.name for value in source.headline), None, None][:2]
        figure = trade_off_figure(source.reports, x, y or _other_aim(source), source.confidence)
    except ExactkError as error:
        return str(error)
    return [_chart_of_trade_off(source, figure)]


def _other_aim(source: Source) -> str | None:
    """Return the first metric of what is recommended, whether relevant or not; None if there is none."""
    first = source.values[0]
    aims = [value.name for value in source.values if _is_of_recommended(value) and value.info.direction != "none"]
    return next((name for name in aims if name != first.name), None)


def _is_of_recommended(value: Value) -> bool:
    """Return whether the value is of what is recommended: precision of a group reads lists, but is of relevant items."""
    return value.info.of_collection or (value.info.reads_list and value.item_group is None)


def _chart_of_trade_off(source: Source, figure: TradeOffFigure) -> Chart:
    directions = {value.spelling: value.info.direction for value in source.values}
    x, y = figure.x.metric, figure.y.metric
    titles = [f"{metric} ({directions[metric]} is better)" for metric in (x, y)]
    front = ", ".join(figure.front) or "no system, as no one has both values"
    finding = (
        f"On the Pareto front, that is, with no other system better in one metric and not worse in the other: {front}."
    )
    title = f"{x} against {y}"
    columns = [with_intervals(one.values.values(), one.intervals.values()) for one in (figure.x, figure.y)]
    rows = [
        [system, *cells, "yes" if system in figure.front else "no"]
        for system, *cells in zip(figure.x.values, *columns, strict=True)
    ]
    table = page_table(title, ["system", x, y, "on the front"], rows)
    drawing = scatter_chart(figure, source.shown_styles(source.reports), *titles)
    return Chart.of(title, finding, drawing, table)


_MOST_SHARES = 6  # systems in the picture of popularity

_NO_ITEM_METRIC = (
    "no metric of the recommended items was computed; ask for some, such as coverage@10 and novelty@10, with "
    "items=exactk.Items(catalogue, train=train)"
)


def catalogue(source: Source) -> Content:
    values = [value for value in source.values if _is_of_recommended(value)]
    if not values:
        return _NO_ITEM_METRIC
    rows = [
        [
            value.spelling,
            source.named(value.info.summary),
            *(number(report[value.name]) for report in source.reports.values()),
        ]
        for value in values
    ]
    catalogue_text = source.first.state.catalogue
    note = "" if catalogue_text is None else source.named(f"The catalogue: {catalogue_text}.")
    header = ["metric", "what it is", *source.column_names()]
    caption = source.named("Metrics of the recommended items")
    return [page_table(caption, header, rows, 2, note), *_groups_of_items(source), *_popularity(source)]


def _popularity(source: Source) -> list[Part]:
    """Return how popular the recommended items are, or what to write for it."""
    value, rows = source.value_of_lists, source.popularity
    if value is None or not rows:
        needed = "items= of to_html" if value else "a metric of all lists, such as coverage@10"
        return [Paragraph(source.named(f"How popular the recommended items are in train is shown with {needed}."))]
    first = rows[0]
    styles = {system: source.styles[system] for system in list(source.reports)[:_MOST_SHARES]}
    of = [f"{share_text(first.shares[one])} of what {one or 'the system'} recommends" for one in styles]
    most_popular = f"{first.items:,} most popular items are" if first.items > 1 else "most popular item is"
    finding = f"The {most_popular} {share_text(first.train)} of train, and {', '.join(of)}."
    cutoff = "" if value.cutoff is None else f"the first {value.cutoff} items of "
    caption = (
        f"{finding} A line is the share of {cutoff}all lists, the stroke that of train; a row is a tenth of train, "
        "the most popular items first, and has all that are equally popular."
    )
    cells = [[row.part, f"{row.items:,}", *map(share_text, (row.train, *row.shares.values()))] for row in rows]
    title = source.named("Popularity of the recommended items")
    table = page_table(title, ["part of train", source.named("items"), "train", *source.column_names("share")], cells)
    drawing = shares_chart(rows, styles, "part of train", "share")
    return [Chart.of(title, source.named(finding), drawing, table, caption=source.named(caption))]


def _groups_of_items(source: Source) -> list[Table]:
    by_system = {system: report.by_item_group for system, report in source.reports.items()}
    labels = list(dict.fromkeys(label for groups in by_system.values() for label in groups))
    if not labels:
        return []
    metrics = list(dict.fromkeys(chain.from_iterable(chain.from_iterable(map(Mapping.values, by_system.values())))))
    names = (" ".join(filter(None, [system, metric])) for system in by_system for metric in metrics)
    rows = [
        [
            str(label),
            *(
                number(of[label][metric]) if metric in of.get(label, ()) else "-"
                for of in by_system.values()
                for metric in metrics
            ),
        ]
        for label in labels
    ]
    return [page_table(source.named("By group of items"), [source.named("group of items"), *names], rows)]
