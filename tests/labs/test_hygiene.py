"""What every notebook keeps to: it ships without outputs, small, and with nothing but kiplab."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

LABS = Path(__file__).resolve().parents[2] / "labs"
SIZE_MAX, CELL_LINES_MAX = 150_000, 12
ALL = sorted(LABS.glob("*.ipynb"))


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One notebook as JSON."""
    content: dict[str, Any] = json.loads(request.param.read_text(encoding="utf-8"))
    return content


def cells(notebook: dict[str, Any], kind: str) -> list[str]:
    """The sources of its cells of one kind."""
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


def test_there_are_labs() -> None:
    assert [path.stem for path in ALL if path.stem.startswith("04")] == ["04-kafka-14139"]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_it_is_small(path: Path) -> None:
    assert path.stat().st_size < SIZE_MAX


def test_it_ships_without_outputs(notebook: dict[str, Any]) -> None:
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in code)
    assert "widgets" not in notebook["metadata"]


def test_it_asks_for_the_usual_kernel(notebook: dict[str, Any]) -> None:
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)


def test_every_cell_has_an_id_of_its_own(notebook: dict[str, Any]) -> None:
    ids = [c["id"] for c in notebook["cells"]]
    assert len(set(ids)) == len(ids)


def test_it_imports_only_kiplab(notebook: dict[str, Any]) -> None:
    for source in cells(notebook, "code"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} == {"kiplab"}
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] == "kiplab"


def test_its_code_is_a_few_lines_and_defines_nothing(notebook: dict[str, Any]) -> None:
    for source in cells(notebook, "code"):
        assert len(source.splitlines()) <= CELL_LINES_MAX, source
        definitions = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
        assert not any(isinstance(node, definitions) for node in ast.walk(ast.parse(source)))


def test_it_ends_with_its_licence(notebook: dict[str, Any]) -> None:
    assert "CC BY 4.0" in cells(notebook, "markdown")[-1]


def test_a_prediction_comes_before_the_run(notebook: dict[str, Any]) -> None:
    code = "\n".join(cells(notebook, "code"))
    if "kiplab.Lab(" in code:
        assert code.index("kiplab.predict(") < code.index("kiplab.Lab(")


def test_it_asserts_nothing(notebook: dict[str, Any]) -> None:
    """An assert beside a question answers it. What a lab claims is a named test of tests/labs."""
    nodes = (node for source in cells(notebook, "code") for node in ast.walk(ast.parse(source)))
    assert not any(isinstance(node, ast.Assert) for node in nodes)


def test_every_answer_has_a_variable_of_its_own_name(notebook: dict[str, Any]) -> None:
    """So an answer stays when the next one is given, and a grader can ask for each."""
    names = []
    for source in cells(notebook, "code"):
        for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
            if ast.unparse(call.func) == "kiplab.check":
                id, answer = (ast.unparse(argument) for argument in call.args)
                names.append("answer_" + id.strip("'").partition("/")[2].replace("-", "_"))
                assert answer == names[-1]
                assert source.startswith(f"{answer} = ")
    assert names
    assert len({*names}) == len(names)
