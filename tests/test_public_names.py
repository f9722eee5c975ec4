"""The names that authors import: loaded when asked for, and alike for people and type checkers."""

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import kiplab
from kiplab import classroom, fleet

PACKAGES = (kiplab, classroom, fleet)


def told_to_type_checkers(package: ModuleType) -> dict[str, str]:
    """Each public name, and the module that type checkers are told it comes from."""
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert len(imports) == len(block.body)
    return {
        str(name.asname): node.module or name.name
        for node in imports
        for name in node.names
        if name.asname == name.name  # what type checkers take for public
    }


def loaded_from(package: ModuleType) -> dict[str, str]:
    """Each public name that is not there from the start, and the module that it is loaded from."""
    # As a package, `explore` can be called: type checkers are told of the function in it.
    rooms = {"explore": "explore.search.explore_play", "fleet": "fleet"}
    return {**package._HOME_OF, **{name: rooms[name] for name in getattr(package, "_ROOMS", ())}}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_type_checkers_are_told_of_the_names_that_can_be_loaded(package: ModuleType) -> None:
    told, loaded = told_to_type_checkers(package), loaded_from(package)
    wrong = {name for name in {*told, *loaded} if told.get(name) != loaded.get(name)}
    assert not wrong, (
        f"{package.__name__}: write {sorted(wrong)} both under TYPE_CHECKING, as"
        " `from .home import name as name`, and in _HOMES, from the same module"
    )


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_is_the_one_of_its_home(package: ModuleType) -> None:
    for name, home in package._HOME_OF.items():
        module = import_module(f"{package.__name__}.{home}")
        assert getattr(package, name) is getattr(module, name)
    assert {*package.__all__} <= {*dir(package)}


def test_an_old_name_of_a_check_says_what_came_in_its_place() -> None:
    with pytest.raises(AttributeError, match=r"write kiplab\.check\('epochs/twelve', answer\)"):
        _ = kiplab.check_epochs
    assert not hasattr(kiplab, "check_nothing")
    assert [name for name in kiplab.__all__ if name.startswith("check")] == ["check"]
