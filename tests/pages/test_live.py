"""Runs that a reader changes in the page: what follows from a switch or a dropped message."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplab import run
from kiplab.pages import live_engine
from kiplab.pages.live import ENGINE, RecordedRun, answer, offered, rules_that_matter
from kiplab.pages.page import PageOrder, caption_of, page, page_of, words_of
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import CONTROLLER
from kiplab.rows.rows_of_stage import rows_of
from tests.conftest import Command
from tests.pages.test_player import in_page

REQUEST = "drop alter-partition from=1 n=1 life=1"
SAFE, LOSS = "unavailable for a while, nothing lost", "100 committed records lost"


@pytest.fixture(scope="module")
def safe() -> Stage:
    return run("kafka-14139", kafka="3.5").stage


def answered(stage: Stage, *dropped: str, drawn: Any = None, **change: Any) -> dict[str, Any]:
    """What a page gets from its engine."""
    recorded = RecordedRun(
        play=format_play(stage.play),
        name=stage.play.name,
        features=stage.features,
        rules=rules_that_matter(stage),
        drawn=drawn or {},
        engine=ENGINE,
        size=0,
    )
    change["dropped"] = dropped
    found: dict[str, Any] = json.loads(
        answer(msgspec.json.encode(recorded).decode(), json.dumps(change))
    )
    return found


def ticks(choices: list[dict[str, Any]]) -> dict[str, bool]:
    return {choice["key"]: choice["on"] for choice in choices}


@pytest.mark.parametrize(
    "drawn",
    [
        {},
        {"theme": "dark", "width": 700, "fold": False, "metrics": "all"},
        {"between": (2, 6), "kinds": ("fetch",)},
    ],
)
def test_a_run_that_nobody_changed_is_that_of_the_page(safe: Stage, drawn: dict[str, Any]) -> None:
    rows, found = rows_of(safe), answered(safe, drawn=drawn)
    first, *others = found["picture"]["pictures"]
    in_the_page = in_page(page(rows, include_plotlyjs=False, **drawn))["pictures"]
    assert [{**first, "drawing": None}, *others] == in_the_page
    assert found["caption"] == caption_of((rows,))
    order = PageOrder((rows,), None, False, "auto", None, {})
    assert found["sections"] == "\n".join(words_of(order))
    assert (found["verdict"], found["title"]) == (SAFE, "Kafka 3.5")


def test_a_switched_rule_gives_the_run_that_the_command_gives(safe: Stage) -> None:
    found = answered(safe, switches={"903.controller-epoch": False})
    rows = run("kafka-14139", kafka="3.5", off="903.controller-epoch").rows()
    assert (found["verdict"], found["caption"]) == (LOSS, caption_of((rows,)))
    assert found["title"] == "KIP-903 off · Kafka 3.5"
    assert ticks(found["rules"])["903.controller-epoch"] is False
    assert all(ticks(found["messages"]).values())


def test_a_dropped_message_never_arrives_and_can_arrive_again() -> None:
    lossy = run("kafka-14139", kafka="3.4").stage
    found = answered(lossy, REQUEST)
    assert found["verdict"] == SAFE
    assert ticks(found["messages"])[REQUEST] is False
    assert "lost on the way" in found["caption"]
    assert answered(lossy)["verdict"] == LOSS


def test_what_nobody_sends_under_other_rules_is_not_dropped(safe: Stage) -> None:
    unsent = "drop elect-leaders from=1 n=1"
    assert answered(safe, unsent) == answered(safe)


@pytest.mark.parametrize("name", ["kafka-14139", "704-zookeeper", "343-two-leaders", "hole-level"])
def test_each_message_of_a_play_can_be_dropped(name: str) -> None:
    stage = run_play(load(name))
    lines = list(ticks(answered(stage)["messages"]))
    assert len(set(lines)) == len(lines) == len(rows_of(stage).messages)
    for line in lines[:: max(1, len(lines) // 4)]:
        assert ticks(answered(stage, line)["messages"])[line] is False


def test_the_rules_offered_are_those_that_make_a_difference(safe: Stage) -> None:
    offered_here = rules_that_matter(safe)
    assert "903.controller-epoch" in offered_here
    for id in GUARDS.keys() - set(offered_here):
        on = id in safe.features.active(CONTROLLER)
        try:
            features = switched(safe.features, id, not on)
        except ValueError:  # a rule of another mode
            continue
        assert run_play(safe.play, features).events == safe.events


def test_what_cannot_be_run_is_a_sentence(safe: Stage) -> None:
    found = answered(safe, switches={"904": False})
    assert found["problem"].startswith("unknown guard '904'")
    assert found["picture"] is None


def test_a_page_says_what_it_loads_and_loads_it_from_beside_it(safe: Stage) -> None:
    controls = offered(safe, {}, 5_670_000)
    whole = PageOrder((rows_of(safe),), None, False, "auto", None, {}, controls)
    assert "Loads 5.7 MB, once." in controls
    assert in_page(controls)["engine"] == "kiplab-engine"
    assert 'role="status"' in controls
    assert controls in page_of(whole)
    assert "tryIt" not in page(rows_of(safe), include_plotlyjs=False)


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


def names_in(packed: Path) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(gzip.decompress(packed.read_bytes()))).namelist()


@pytest.mark.usefixtures("pieces")
def test_the_engine_has_the_model_and_little_else(command: Command, tmp_path: Path) -> None:
    code, _, _ = command("timeline", "kafka-14139", "-o", str(tmp_path / "x.html"), "--live")
    folder = tmp_path / ENGINE
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert code == 0
    assert in_page((tmp_path / "x.html").read_text().partition("kiplab-live")[2])["size"] == sum(
        map(len, files.values())
    )
    assert names_in(folder / "python_stdlib.zip.packed") == ["encodings/utf_8.py", "os.py"]
    model = names_in(folder / "kiplab.zip.packed")
    assert {"msgspec/_core.so", "kiplab/pages/live.py", "kiplab/engine/step.py"} <= {*model}
    assert not [name for name in model if name.startswith(("kiplab/widgets", "kiplab/judge"))]
    live_engine.write_engine(folder)
    assert files == {file.name: file.read_bytes() for file in folder.iterdir()}
