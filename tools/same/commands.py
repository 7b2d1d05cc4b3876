"""Cases of the command line: what is printed on both streams, the exit code, and every file that is written."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from same.data import FILES, draw, ones, write, write_lines
from same.evaluations import COMPARISONS, Cases, call, seeded

FORMATS = ("table", "json", "csv", "markdown", "latex", "trec")
BINARY = {".parquet", ".arrow"}
EVALUATE = """
-m ndcg@[2,5] -m map|--convention trec_eval|--set ties=shared|--set ndcg.gain=exp2|--exclude exclude.csv|--candidates candidates.csv
--groups groups.csv|--weights weights.csv|--train train.csv -m novelty@3 -m coverage@3|--per-user users.csv|--per-user users.json
--train train.csv --catalogue catalogue.csv --item-group kind -m rsp@3|--per-user users.jsonl|--min ndcg@10=0.9|--max ndcg@10=0.9
--base-predictions other.csv -m unexpectedness@3|--state sums.state|--shard 1/3 --state a.state|--threads 2|--user user --item item
--rank score|--grade nope|--text-ids|-m ndgc|--convention ranks|--set ties|--set x=1|--mn 3|--min ndcg|--threads 0|--exclude nowhere.csv
--exclude broken.csv|--groups empty.csv|--shards 3 --shard-folder shards|--per-user truth.csv|-q|-h|--no-progress
"""
COMPARE = """
--baseline other|--baseline nobody|--better ndcg@10|--no-worse map@10=0.05|--equivalent map@10=5% --junit gate.xml|--margin 0.1|-h
--margin ndcg@10=2%|--min one:map@10=0.9|--runs both=one,reverse|--clusters clusters.csv|--groups groups.csv|--per-user users.csv
--better ndcg@10 --baseline reverse|--test permutation --permutations 99|-m ndgc|--missing error|--seed x|--weights weights.csv
"""
OTHER = """
|--help|--version|evalute|evaluate|metrics|metrics ndcg|metrics ndgc|conventions|conventions ranx|conventions ranx trec_eval|merge -h
conventions nope|merge|merge nowhere.state|merge truth.csv|topk one.csv|topk one.csv -k 0|topk one.csv -k x|report|compare truth.csv
evaluate nowhere.csv one.csv|evaluate truth.csv empty.csv|metrics -h|evaluate truth.csv broken.csv|evaluate truth.csv .|topk -h
evaluate folder folder|evaluate truth.csv folder|evaluate truth.csv folder/*.csv|compare truth.csv a=one.csv a=other.csv|report -h
compare truth.csv =one.csv|report truth.csv one.csv|report truth.csv one.csv -o truth.csv|conventions -h|doctor -h|report -o page.html
evaluate truth.trec one.trec --format trec -m all_trec|evaluate truth.trec one.trec --format trec -m ndcg_cut.5,10 -q
"""
SEQUENCES = """
evaluate truth.csv one.csv --shard 1/2 --state 1; evaluate truth.csv one.csv --shard 2/2 --state 2; merge 1 2; merge 1; merge 1 --incomplete
evaluate truth.csv one.csv --state 1; merge 1 1 --format csv; merge 1 --state 2 --format json; merge 1 --min map@10=1
evaluate truth.csv one.csv --shards 3 --shard-folder s; evaluate truth.csv one.csv --shards 3 --shard-folder s; merge s
"""


def _choices(text: str) -> list[list[str]]:
    return [words.split() for line in text.strip("\n").split("\n") for words in line.split("|")]


def commands() -> Cases:
    """Yield commands, each in a folder with inputs of every format."""
    systems = ["one=one.csv", "other=other.csv", "reverse=reverse.csv"]
    evaluate, compare = ["evaluate", "truth.csv", "one.csv"], ["compare", "truth.csv", *systems]
    lines = [
        [*evaluate, *options, "--format", form] for options, form in product([[], *_choices(EVALUATE)], FORMATS[:2])
    ]
    lines += [[*compare, *options, "--format", form] for options, form in product([[], *_choices(COMPARE)], FORMATS)]
    lines += [
        ["evaluate", f"truth{one}", f"one{two}", "--format", form]
        for one, two, form in product(FILES, FILES, FORMATS[:1])
    ]
    lines += [[*evaluate, "--format", form] for form in (*FORMATS, "nope")] + _choices(OTHER)
    lines += [[*compare, f"--{name}", str(choice)] for name, choices in COMPARISONS.items() for choice in choices]
    lines += [["topk", "one.csv", "-k", k, "--format", form] for k, form in product("14", ("trec", "csv", "json"))]
    report = ("--title T<b>", "--examples 2 --item-names names.csv", "--better mrr", "--groups groups.csv")
    lines += [
        ["report", "truth.csv", *given, *words.split(), "-o", "page.html"]
        for words, given in product(report, (["one.csv"], systems))
    ]
    for number in range(60):
        rng = seeded("command", number)
        chosen = [*rng.sample(_choices(EVALUATE), 2), *([rng.choice(_choices(COMPARE))] if number % 2 else [])]
        lines.append([*(compare if number % 2 else evaluate), *(word for words in chosen for word in words)])
    for number, words in enumerate(lines):
        yield f"{number} {' '.join(words)}", partial(_run, words)
    for sequence in SEQUENCES.strip().split("\n"):
        yield sequence, partial(_run, *(words.split() for words in sequence.split(";")))


def make_files() -> None:
    """Write the inputs of all commands."""
    data = draw(101, "str", 12)
    for extension in FILES:
        write(data.truth, "grade", f"truth{extension}")
        write(data.scores, "score", f"one{extension}")
    for name in ("other", "reverse"):
        write(data.systems[name], "score", f"{name}.csv")
    for name in ("exclude", "candidates", "train"):
        write(ones(getattr(data, name)), "grade", f"{name}.csv")
    for name, values in (
        ("groups", data.groups),
        ("weights", data.weights),
        ("clusters", dict.fromkeys(data.groups, "a")),
    ):
        write_lines(["user,value", *(f"{user},{value}" for user, value in values.items())], f"{name}.csv")
    write_lines(["item,kind", *(f"{item},{item[-1]}" for item in data.items)], "catalogue.csv")
    write_lines(["item,name", *(f"{item},the {item}" for item in data.items)], "names.csv")
    write_lines([], "empty.csv")
    write_lines(["user,item,score", "a,b,x"], "broken.csv")
    Path("folder").mkdir()
    for number, (user, row) in enumerate(data.scores.items()):
        write({user: row}, "score", f"folder/{number}.csv")


def _run(*sequence: list[str]) -> object:
    """Return the exit code, both streams and new files of some commands, one after the other."""
    if not Path("inputs").is_dir():
        Path("inputs").mkdir()
        with chdir("inputs"):
            make_files()
    shutil.copytree("inputs", "case")
    try:
        with chdir("case"):
            before = _files()
            printed = [_print(words) for words in sequence]
            after = _files()
            return [
                *printed,
                {name: held for name, held in after.items() if before.get(name) != held},
                sorted(before.keys() - after.keys()),
            ]
    finally:
        shutil.rmtree("case")


def _files() -> dict[str, Any]:
    paths = [path for path in sorted(Path().rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() if path.suffix in BINARY else _text(path.read_bytes()) for path in paths}


def _text(held: bytes) -> str:
    text = held.decode(errors="backslashreplace").replace("><", ">\n<")
    return json.dumps(json.loads(text), indent=1) if text.startswith("{") and text.count("\n") <= 1 else text


def _print(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(err):
        code = call("exactk._cli.main", words)
        out.flush()
        err.flush()
    return code, _text(out.buffer.getvalue()), _text(err.buffer.getvalue())


KINDS = {"commands": commands}
