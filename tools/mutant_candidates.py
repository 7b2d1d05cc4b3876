"""What a fixed list of operators can change in the sources, and a draw from it by a seed.

The operators, in both languages: another comparison; a sum, a difference or the bound of a slice that is one too
large; another constant; a call that is left out, or replaced by its only argument; the first two arguments swapped; a
branch that is never taken.
"""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tree_sitter import Language, Node, Parser
from tree_sitter_cpp import language

OPERATORS = ("comparison", "plus one", "constant", "dropped call", "swapped arguments", "dropped branch")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
PYTHON_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
# Where the order of the arguments does not matter, or is a matter of their types alone; calls that change no value.
COMMUTATIVE = ("min", "max", "minimum", "maximum", "isinstance")
TRANSPARENT = ("move", "forward", "cast", "size_t", "int", "double", "float")
# What the compiler evaluates, or what is no expression of a function.
STATIC = {
    "template_argument_list",
    "template_parameter_list",
    "static_assert_declaration",
    "requires_clause",
    "noexcept",
    "decltype",
    "sizeof_expression",
    "array_declarator",
    "enumerator",
    "optional_parameter_declaration",
    "attribute_declaration",
    "lambda_capture_specifier",
    "preproc_if",
    "preproc_def",
    "preproc_function_def",
}


@dataclass(frozen=True)
class Key:
    """The name of a candidate, which outlasts changes of other lines."""

    path: str
    function: str
    operator: str
    text: str
    occurrence: int  # of this text under this operator in the function


@dataclass(frozen=True)
class Candidate:
    """A piece of source, as offsets in bytes, and what an operator makes of it."""

    key: Key
    start: int
    end: int
    mutated: str


# Of a candidate that is not numbered yet: the function, the operator, where it starts and ends, what becomes of it.
Change: TypeAlias = tuple[str, str, int, int, str]


def python_changes(source: bytes) -> Iterator[Change]:
    """Yield what the operators can change in a module; nothing in annotations, decorators and patterns."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def change(function: str, operator: str, node: ast.expr, mutated: ast.expr) -> Change:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return function, operator, start, end, ast.unparse(mutated)

    def walk(node: ast.AST, function: str) -> Iterator[Change]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            function = f"{function}.{node.name}".lstrip(".")
        yield from (change(function, *found) for found in python_expressions(node))
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                skipped = isinstance(child, (ast.JoinedStr, ast.pattern)) or (
                    isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                )
                if isinstance(child, ast.AST) and not skipped:
                    yield from walk(child, function)

    return walk(ast.parse(source), "")


def python_expressions(node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.expr]]:  # noqa: C901, PLR0912 - one case an operator
    """Yield the operator, the expression and what becomes of it, for what hangs on one node."""
    one = ast.Constant(1)
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield "comparison", node, ast.Compare(left, [PYTHON_COMPARISONS[type(operator)]], [right])
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if not any(
            isinstance(side, (ast.JoinedStr, ast.List, ast.Tuple))
            or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (left, right)
        ):
            yield "plus one", node, ast.BinOp(node, ast.Add(), one)
        case ast.Slice(lower=lower, upper=upper):
            for bound in (lower, upper):
                if bound is not None and not isinstance(bound, (ast.Constant, ast.BinOp)):
                    yield "plus one", bound, ast.BinOp(bound, ast.Add(), one)
        case ast.Constant(value=bool(value)):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", node, ast.Constant(value + 1)
        case ast.Expr(value=ast.Call() as call):
            yield "dropped call", call, ast.Constant(None)
        case ast.Call(func=function, args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
            name = ast.unparse(function).rpartition(".")[2]
            if name[0].islower() and not any(word in name for word in TRANSPARENT):
                yield "dropped call", node, argument
        case ast.If(test=test):
            yield "dropped branch", test, ast.Constant(False)  # noqa: FBT003 - of the language
        case ast.IfExp(orelse=otherwise):
            yield "dropped branch", node, otherwise
        case _:
            pass
    match node:
        case ast.Call(func=function, args=[first, second, *others]) if (
            ast.unparse(first) != ast.unparse(second)
            and not isinstance(first, ast.Starred)
            and not isinstance(second, ast.Starred)
            and ast.unparse(function).rpartition(".")[2] not in COMMUTATIVE
        ):
            yield "swapped arguments", node, ast.Call(function, [second, first, *others], node.keywords)
        case _:
            pass


def text_of(node: Node | None) -> str:
    """Return the source of a node."""
    return node.text.decode() if node is not None and node.text is not None else ""


def cpp_changes(source: bytes) -> Iterator[Change]:
    """Yield what the operators can change within functions; nothing that the compiler must evaluate."""

    def walk(node: Node, function: str) -> Iterator[Change]:
        if node.type in STATIC or (node.type == "declaration" and "constexpr" in text_of(node).split("=")[0]):
            return
        if node.type == "if_statement" and any(child.type == "constexpr" for child in node.children):
            return
        if node.type in {"class_specifier", "struct_specifier"}:
            function = f"{function}::{text_of(node.child_by_field_name('name'))}".lstrip(":")
        if node.type == "function_definition":
            name = text_of(node.child_by_field_name("declarator")).partition("(")[0].strip("&* ")
            function = f"{function}::{name}".lstrip(":")
            inside = True
        else:
            inside = bool(function)
        if inside and any(ancestor.type == "function_definition" for ancestor in ancestors(node)):
            for operator, changed, mutated in cpp_expressions(node):
                yield function, operator, changed.start_byte, changed.end_byte, mutated
        for child in node.children:
            if node.type == "case_statement" and child == node.child_by_field_name("value"):
                continue
            yield from walk(child, function)

    return walk(Parser(Language(language())).parse(source).root_node, "")


def ancestors(node: Node) -> Iterator[Node]:
    """Yield the nodes around a node, from the inside."""
    while node.parent is not None:
        node = node.parent
        yield node


def cpp_expressions(node: Node) -> Iterator[tuple[str, Node, str]]:  # noqa: C901 - one case an operator
    """Yield the operator, the expression and what becomes of it, for what hangs on one node."""
    text = text_of(node)
    match node.type:
        case "binary_expression":
            operator = text_of(node.child_by_field_name("operator"))
            left, right = (text_of(node.child_by_field_name(side)) for side in ("left", "right"))
            if operator in COMPARISONS:
                yield "comparison", node, f"{left} {COMPARISONS[operator]} {right}"
            if operator in {"+", "-"}:
                yield "plus one", node, f"({text}) + 1"
        case "number_literal":
            yield "constant", node, f"{text} + 1"
        case "true" | "false":
            yield "constant", node, "false" if text == "true" else "true"
        case "expression_statement" if node.children[0].type == "call_expression":
            yield "dropped call", node.children[0], "void()"
        case "call_expression":
            yield from cpp_calls(node)
        case "if_statement":
            clause = node.child_by_field_name("condition")
            condition = clause.named_children if clause is not None else []
            if len(condition) == 1 and condition[0].type not in {"declaration", "init_statement"}:
                yield "dropped branch", condition[0], "false"
        case "conditional_expression":
            yield "dropped branch", node, text_of(node.child_by_field_name("alternative"))
        case _:
            pass


def cpp_calls(node: Node) -> Iterator[tuple[str, Node, str]]:
    """Yield the changes of a call: its only argument in its place, or its first arguments swapped."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    name = text_of(function).rpartition("::")[2].rpartition(".")[2]
    texts = [text_of(argument) for argument in arguments.named_children if argument.type != "comment"]
    if len(texts) == 1 and not any(word in text_of(function) for word in TRANSPARENT) and name[0].islower():
        yield "dropped call", node, texts[0]
    if len(texts) > 1 and texts[0] != texts[1] and name not in COMMUTATIVE:
        swapped = ", ".join([texts[1], texts[0], *texts[2:]])
        yield "swapped arguments", node, f"{text_of(function)}({swapped})"


def candidates(root: Path, path: str) -> list[Candidate]:
    """Return all candidates of one file, each with its name."""
    source = (root / path).read_bytes()
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for function, operator, start, end, mutated in (python_changes if path.endswith(".py") else cpp_changes)(source):
        named = (function, operator, " ".join(source[start:end].decode().split()))
        found.append(Candidate(Key(path, *named, seen[named]), start, end, mutated))
        seen[named] += 1
    return found


def room(path: str) -> str:
    """Return the folder of a file."""
    return str(Path(path).parent)


def orders(found: list[Candidate], seed: int) -> dict[str, list[Candidate]]:
    """Return the candidates of each room as they are drawn: the operators in turns, each at random."""
    rooms: defaultdict[str, defaultdict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        rooms[room(one.key.path)][one.key.operator].append(one)
    drawn = {}
    for name, operators in sorted(rooms.items()):
        draws = random.Random(f"{seed} {name}")  # noqa: S311 - no secret
        turns = draws.sample(OPERATORS, len(OPERATORS))
        shuffled = {operator: draws.sample(operators[operator], len(operators[operator])) for operator in turns}
        ranks = [
            (rank, turns.index(operator), one) for operator in turns for rank, one in enumerate(shuffled[operator])
        ]
        drawn[name] = [one for _, _, one in sorted(ranks, key=lambda rank: rank[:2])]
    return drawn


def quotas(drawn: dict[str, list[Candidate]], total: int, least: int = 2) -> dict[str, int]:
    """Return how many mutants each room gets: a few each, the rest by the number of candidates."""
    quota = {name: min(least, len(room_candidates)) for name, room_candidates in drawn.items()}
    while sum(quota.values()) < total:
        emptiest = max(quota, key=lambda name: (len(drawn[name]) / (quota[name] + 1), name))
        quota[emptiest] += 1
    return quota


def select(drawn: dict[str, list[Candidate]], quota: dict[str, int], refused: set[Key]) -> list[Candidate]:
    """Return the first candidates of each room that compile and do not overlap."""
    selected: list[Candidate] = []
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, order in drawn.items():
        left = quota[name]
        for one in order:
            if left == 0:
                break
            overlaps = any(one.start < end and start < one.end for start, end in spans[one.key.path])
            if one.key not in refused and not overlaps:
                spans[one.key.path].append((one.start, one.end))
                selected.append(one)
                left -= 1
    return selected
