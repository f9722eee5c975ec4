"""Which guards the rules ask for: read from their source, not from a list.

A guard is asked for where its id is looked up among the active ones (``"903.leader-epoch" in
here.active``) or among the overrides; by itself, through a name that was given the id, or through
the table that a loop goes over.
"""

import ast
from collections.abc import Collection, Iterator, Mapping

Places = dict[str, list[str]]
_AMONG = ("active", "overrides")


def asked_for(sources: Mapping[str, str]) -> Places:
    """Every id that the sources (by file) ask for, with the places.

    Raises ValueError for a question whose id cannot be read from the source.
    """
    found: Places = {}
    for file, text in sources.items():
        for line, ids in _questions(file, ast.parse(text)):
            for id in ids:
                found.setdefault(id, []).append(f"{file}:{line}")
    return found


def without_rule(guards: Collection[str], asked: Places) -> Iterator[str]:
    """For each guard that nothing asks for, what to add."""
    for id in guards:
        if id not in asked:
            yield (
                f'nothing asks for the guard {id}: ask for it in its rule (`if "{id}" in'
                " here.active`), or take it out of kiplab/protocol/guards.txt"
            )


def without_guard(guards: Collection[str], asked: Places) -> Iterator[str]:
    """For each id that is asked for and stands in no table, what to add."""
    for id, places in asked.items():
        if id not in guards:
            yield (
                f"{', '.join(places)} asks for the guard {id}, which is not there: add it to the"
                " table in kiplab/protocol/guards.txt, or correct the id"
            )


def _questions(file: str, tree: ast.Module) -> Iterator[tuple[int, set[str]]]:
    tables = {name: value for name, value in _assigned(tree) if isinstance(value, ast.Tuple)}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        yield from _questions_in(file, function, _named(function, tables))


def _questions_in(
    file: str, function: ast.FunctionDef, named: Mapping[str, set[str]]
) -> Iterator[tuple[int, set[str]]]:
    for node in ast.walk(function):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            continue
        if not _among_guards(node.comparators[0]):
            continue
        ids = _ids(node.left, named)
        if not ids:
            problem = f"{file}:{node.lineno}: which guard does `{ast.unparse(node)}` ask for?"
            raise ValueError(f"{problem} Write its id there, or in a table that a loop goes over")
        yield node.lineno, ids


def _among_guards(side: ast.expr) -> bool:
    called = side.func if isinstance(side, ast.Call) else side
    name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
    return name in _AMONG


def _ids(side: ast.expr, named: Mapping[str, set[str]]) -> set[str]:
    if isinstance(side, ast.Name):
        return named.get(side.id, set())
    parts = side.elts if isinstance(side, ast.Tuple) else [side]
    return {p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)}


def _named(function: ast.FunctionDef, tables: Mapping[str, ast.Tuple]) -> dict[str, set[str]]:
    """What each name stands for: the text given to it, or one column of a table of texts."""
    named: dict[str, set[str]] = {}
    for name, value in _assigned(function):
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            named.setdefault(name, set()).add(value.value)
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)) and ast.unparse(node.iter) in tables:
            for name, texts in _columns(node.target, tables[ast.unparse(node.iter)]):
                named.setdefault(name, set()).update(texts)
    return named


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value


def _columns(target: ast.expr, table: ast.Tuple) -> Iterator[tuple[str, set[str]]]:
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    for row in table.elts:
        cells = row.elts if isinstance(row, ast.Tuple) else [row]
        for name, cell in zip(names, cells, strict=True):
            if isinstance(cell, ast.Constant) and isinstance(cell.value, str):
                yield ast.unparse(name), {cell.value}
