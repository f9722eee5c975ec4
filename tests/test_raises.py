"""Whoever may raise says so: a public function names its errors in its docstring."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import kiplab

PACKAGE = Path(kiplab.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MISTAKES_OF_OURS = {"AssertionError", "NotImplementedError"}
"""What says that kiplab itself is wrong; no caller is meant to deal with it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Public(NamedTuple):
    """A public function, or a method of a public class, and what is said about it."""

    function: Function
    said: str


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Functions of the package that give back an error to be raised, by name: at -> PlayError."""
    every = (node for path in FILES for node in ast.walk(ast.parse(path.read_text())))
    return {
        f.name: f.returns.id
        for f in every
        if isinstance(f, FUNCTIONS)
        and isinstance(f.returns, ast.Name)
        and f.returns.id.endswith("Error")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_public_function_names_the_errors_it_raises(path: Path, made: dict[str, str]) -> None:
    for function, said in _publics(ast.parse(path.read_text())):
        silent = sorted(_raised(function, made) - MISTAKES_OF_OURS - set(_words(said)))
        assert not silent, (
            f"{path.relative_to(PACKAGE)}:{function.lineno} {function.name} raises"
            f" {' and '.join(silent)}; say so in its docstring: 'Raises {silent[0]} when ...'"
        )


def test_errors_made_elsewhere_are_seen_through(made: dict[str, str]) -> None:
    source = (
        "def read():\n    problem = ValueError()\n    try: ...\n    except E as e: raise e.at()\n"
    )
    function = ast.parse(source + "    raise problem").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert _raised(function, made) == {"PlayError", "ValueError"}


def _publics(tree: ast.Module) -> Iterator[Public]:
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            yield Public(node, ast.get_docstring(node) or "")
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            about = ast.get_docstring(node) or ""
            for method in node.body:
                # AttributeError is how __getattr__ says no; nobody looks that up.
                if isinstance(method, FUNCTIONS) and _is_public_method(method.name):
                    yield Public(method, about + " " + (ast.get_docstring(method) or ""))


def _is_public_method(name: str) -> bool:
    return name != "__getattr__" and (not name.startswith("_") or name.startswith("__"))


def _raised(function: Function, made: dict[str, str]) -> set[str]:
    """The names of the errors that its own body raises; what it only lets through is not."""
    own = list(_own(function))
    values = {
        target.id: node.value
        for node in own
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    names = set()
    for node in own:
        if isinstance(node, ast.Raise):
            error = node.exc
            if isinstance(error, ast.Name):
                error = values.get(error.id, error)
            name = _called(error)
            names.add(made.get(name, name))
    return {name for name in names if _is_error(name)}


def _called(error: ast.expr | None) -> str:
    called = error.func if isinstance(error, ast.Call) else error
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _is_error(name: str) -> bool:
    return name[:1].isupper()


def _own(function: Function) -> Iterator[ast.AST]:
    """Its body without the functions defined in it: they raise when they are called."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _words(said: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in said).split()
