"""The names that authors import: loaded when asked for, and alike for people and type checkers."""

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import kiplab
from kiplab import classroom, fleet
from kiplab.extras import homes_of

PACKAGES = (kiplab, classroom, fleet)


def imported_for_type_checkers(package: ModuleType) -> dict[str, str]:
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


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_what_type_checkers_are_told_of_can_be_loaded(package: ModuleType) -> None:
    assert homes_of(package.__name__) == imported_for_type_checkers(package)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_is_the_one_of_its_home(package: ModuleType) -> None:
    homes = homes_of(package.__name__)
    for name in homes.keys() - {"explore", "fleet"}:
        module = import_module(f"{package.__name__}.{homes[name]}")
        assert getattr(package, name) is getattr(module, name)
    assert {*package.__all__} <= {*dir(package)}


@pytest.mark.parametrize("old", ["real_mail", "two_lives"])
def test_an_old_name_says_what_came_in_its_place(old: str) -> None:
    with pytest.raises(AttributeError, match=r"write kiplab\.") as hint:
        getattr(kiplab, old)
    assert str(hint.value).rpartition(".")[2] in kiplab.__all__


def test_an_old_name_of_a_check_says_what_came_in_its_place() -> None:
    with pytest.raises(AttributeError, match=r"write kiplab\.check\('epochs/twelve', answer\)"):
        _ = kiplab.check_epochs
    assert not hasattr(kiplab, "check_nothing")
    assert [name for name in kiplab.__all__ if name.startswith("check")] == ["check"]
