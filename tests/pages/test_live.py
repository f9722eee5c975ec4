"""Runs that a reader changes in the page: what follows from a switch or a dropped message."""

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kiplab import run
from kiplab.pages import live_engine
from kiplab.pages.live import ENGINE, answer, offered
from kiplab.pages.page import PageOrder, caption_of, page, words_of
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import CONTROLLER
from kiplab.rows.rows_of_stage import rows_of
from tests.conftest import Command
from tests.pages.test_player import in_page
from tests.repeated import in_long

REQUEST = "drop alter-partition from=1 n=1 life=1"
SAFE, LOSS = "unavailable for a while, nothing lost", "100 committed records lost"


@pytest.fixture(scope="module")
def safe() -> Stage:
    return run("kafka-14139", kafka="3.5").stage


def answered(stage: Stage, *dropped: str, drawn: Any = None, **change: Any) -> dict[str, Any]:
    """What a page gets from its engine."""
    asked = in_page(offered(stage, drawn or {}, 0)) | {"dropped": dropped} | change
    found: dict[str, Any] = json.loads(answer(json.dumps(asked)))
    return found


def ticks(choices: list[Any]) -> dict[str, bool]:
    return {key: on for key, _, _, _, on in choices}


WAYS_TO_DRAW: list[dict[str, Any]] = [
    {},
    {"theme": "dark", "width": 700, "fold": False, "metrics": "all"},
    {"between": (2, 6), "kinds": ("fetch",)},
]


@pytest.mark.parametrize("drawn", WAYS_TO_DRAW)
def test_a_run_that_nobody_changed_is_that_of_the_page(safe: Stage, drawn: dict[str, Any]) -> None:
    rows, found = rows_of(safe), answered(safe, drawn=drawn)
    first, *others = found["picture"]["pictures"]
    in_the_page = in_page(page(rows, include_plotlyjs=False, **drawn))["pictures"]
    assert [{**first, "drawing": None}, *others] == in_the_page
    order = PageOrder((rows,), None, False, "auto", None, {})
    assert found["sections"] == "\n".join(words_of(order))
    assert (found["verdict"], found["title"]) == (SAFE, "Kafka 3.5")


def test_a_switched_rule_gives_the_run_that_the_command_gives(safe: Stage) -> None:
    found = answered(safe, switches={"903.controller-epoch": False})
    rows = run("kafka-14139", kafka="3.5", off="903.controller-epoch").rows()
    assert (found["verdict"], found["caption"]) == (LOSS, caption_of((rows,)))
    assert ticks(found["rules"])["903.controller-epoch"] is False
    assert all(ticks(found["messages"]).values())


def test_a_dropped_message_never_arrives(safe: Stage) -> None:
    found = answered(run("kafka-14139", kafka="3.4").stage, REQUEST)
    assert found["verdict"] == SAFE
    assert ticks(found["messages"])[REQUEST] is False
    assert "lost on the way" in found["caption"]
    assert answered(safe, "drop elect-leaders from=1 n=1") == answered(safe)


@pytest.mark.parametrize(
    "name", ["kafka-14139", "704-zookeeper", *in_long(["343-two-leaders", "hole-level"])]
)
def test_each_message_of_a_play_can_be_dropped(name: str) -> None:
    stage = run_play(load(name))
    lines = list(ticks(answered(stage)["messages"]))
    assert len(set(lines)) == len(lines) == len(rows_of(stage).messages)
    for line in lines[:: len(lines) // 4]:
        assert ticks(answered(stage, line)["messages"])[line] is False


def test_the_rules_offered_are_those_that_make_a_difference(safe: Stage) -> None:
    rules = ticks(answered(safe)["rules"])
    assert rules["903.controller-epoch"] is True
    for id in [id for id in GUARDS if safe.features.mode in GUARDS[id].modes]:
        features = switched(safe.features, id, id not in safe.features.active(CONTROLLER))
        assert (run_play(safe.play, features).events != safe.events) == (id in rules), id


def test_what_cannot_be_run_is_a_sentence(safe: Stage) -> None:
    found = answered(safe, switches={"904": True})
    assert re.match(r"unknown guard '904'.*$", found.pop("problem"))
    assert found == {}


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the registries would give, much smaller."""
    library = archive("os.py", "pdb.py", "email/parser.py", "encodings/utf_8.py")
    core = dict.fromkeys(("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"), b"core")
    core |= {"python_stdlib.zip": library, "pyodide-lock.json": b'{"info": {"arch": "wasm32"}}'}
    wheel = tmp_path / "msgspec.whl"
    wheel.write_bytes(archive("msgspec/_core.so"))
    monkeypatch.setattr(live_engine, "pinned_core", lambda: core)
    monkeypatch.setattr(live_engine, "pinned_wheels", lambda: {"msgspec": wheel})


def archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name in names:
            opened.writestr(name, name)
    return made.getvalue()


@pytest.mark.usefixtures("pieces")
def test_the_engine_has_the_model_and_little_else(command: Command, tmp_path: Path) -> None:
    out, folder = tmp_path / "x.html", tmp_path / ENGINE
    code, _, _ = command("timeline", "kafka-14139", "-o", str(out), "--live")
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert code == 0
    assert f'data-size="{sum(map(len, files.values()))}"' in out.read_text()

    def names_in(packed: str) -> set[str]:
        return {*zipfile.ZipFile(io.BytesIO(gzip.decompress(files[packed]))).namelist()}

    assert names_in("python_stdlib.zip.packed") == {"encodings/utf_8.py", "os.py"}
    model = names_in("kiplab.zip.packed")
    assert {"msgspec/_core.so", "kiplab/__init__.py", "kiplab/pages/live.py"} <= model
    assert not [name for name in model if name.startswith(("kiplab/widgets", "kiplab/judge"))]
    live_engine.write_engine(folder)
    assert files == {file.name: file.read_bytes() for file in folder.iterdir()}
