"""What there is: metrics and conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._cli.arguments import add_command
from exactk._cli.output import say
from exactk._plan.conventions import FIELDS, SUMMARIES, as_convention, conventions, departures
from exactk._plan.metric_strings import metric_info, metrics
from exactk._report import display

if TYPE_CHECKING:
    import argparse

    from exactk._cli.arguments import Commands


def add(commands: Commands) -> None:
    """Describe both commands."""
    summary = "list the metrics, or say what some are"
    listed = add_command(commands, "metrics", _metrics, summary, "exactk metrics ndcg map")
    listed.add_argument("metrics", nargs="*", metavar="METRIC", help="a metric, by any of its names")

    summary = "list the presets of conventions, say what one settles, or in what two differ"
    presets = add_command(
        commands, "conventions", _conventions, summary, "exactk conventions --diff trec_eval pytrec_eval"
    )
    asked = presets.add_mutually_exclusive_group()
    asked.add_argument("name", nargs="?", metavar="NAME", help="a preset, to have all of its choices")
    asked.add_argument("--diff", nargs=2, metavar=("A", "B"), help="two presets to compare")


def _metrics(arguments: argparse.Namespace) -> int:
    if arguments.metrics:
        say("\n".join([_metric_text(name) for name in arguments.metrics]))
    else:
        rows = [[info.name, ", ".join(info.aliases), info.summary] for info in metrics.values()]
        _say_table(["metric", "also", "what it is"], rows)
    return 0


def _metric_text(name: str) -> str:
    info = metric_info(name)
    rows = {"also": ", ".join(info.aliases), "is": info.summary, "formula": info.formula, "source": info.source}
    if info.parameter:
        bounds = info.parameter
        default = "which must be given" if bounds.standard is None else f"by default {bounds.standard:g}"
        rows["parameter"] = f"{bounds.name}, {bounds.low:g} to {bounds.high:g}, {default}"
    return display.text([info.name, ""], list(rows.items()), numbers=False) + "\n"


def _conventions(arguments: argparse.Namespace) -> int:
    if arguments.diff is not None:
        one, other = map(as_convention, arguments.diff)
        rows = [[field, str(own), str(others)] for field, (own, others) in one.diff(other).items()]
        _say_table(["field", one.name, other.name], rows)
    elif arguments.name is not None:
        preset = as_convention(arguments.name)
        rows = [[name, str(getattr(preset, name)), SUMMARIES[name]] for name in FIELDS]
        for metric, choices in preset.overrides.items():
            rows += [[f"{metric}.{name}", str(choice), f"the same, of {metric}"] for name, choice in choices.items()]
        _say_table(["field", preset.name, "what it settles"], rows)
    else:
        rows = [[name, departures(preset)] for name, preset in conventions.items()]
        _say_table(["preset", "differs from standard in"], rows)
    return 0


def _say_table(header: list[str], rows: list[list[str]]) -> None:
    say(display.text(header, rows, numbers=False) + "\n")
