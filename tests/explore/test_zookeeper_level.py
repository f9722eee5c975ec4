"""The level "zookeeper": KIP-380's four failures, each with one guard off, and none with all on."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.cli.command import main
from kiplab.engine.cluster import Cluster
from kiplab.engine.setup import cluster_of
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import Action, ExploreError, Level, do, offered
from kiplab.explore.levels.zookeeper_level import AT_ONCE
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.breadth_first import broken as that_broke
from kiplab.explore.search.explored import play_of
from kiplab.explore.search.question import question_about
from kiplab.explore.search_terms import PROVED, REFUTED, SearchOutcome
from kiplab.plays.grammar import parse
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.verdict import expectations
from kiplab.protocol.features import parse_features
from kiplab.protocol.messages import KINDS
from tests.explore.bounds import begun

TWO = """\
title     A follower, and a leader, on a broker that comes and goes
kafka     zk-2.2
controller broker=0 epoch=5
broker    0 epoch=90
broker    1 epoch=100
topic     F replicas=0,1 isr=0,1 leader=0 leader-epoch=7 log=5@7
topic     L replicas=1,0 isr=1,0 leader=1 leader-epoch=3 log=9@3
"""
LED = "\n".join(line for line in TWO.splitlines() if not line.startswith("topic     F"))
"""The same, with L alone."""
LEVEL = level_named("zookeeper")
SERVES, FETCHES, ELECTABLE, CHECKPOINT = LEVEL.asks
REQUESTS, SHUTDOWN, BOUNCE = (
    "380.control-request-epoch",
    "380.shutdown-epoch",
    "380.bounce-detection",
)
DEFAULT = LEVEL.with_defaults({})
NOTHING = dict.fromkeys(DEFAULT, 0)
EVERYTHING_HELD = replace(
    LEVEL,
    holds=(*LEVEL.holds, *(KINDS[body] for body in AT_ONCE)),
    passes=lambda _cluster: (),
)


def asked(
    off: tuple[str, ...] = (),
    within: dict[str, int] = DEFAULT,
    properties: tuple[str, ...] = LEVEL.asks,
    *,
    kafka: str = "zk-2.2",
    level: Level = LEVEL,
    text: str = TWO,
) -> SearchOutcome:
    start = begun(text, kafka, off=off)
    return search(EngineModel(level, start, {**NOTHING, **within}), properties)


@pytest.mark.parametrize(
    ("within", "states", "transitions", "depth"),
    [
        ({"crashes": 1}, 10, 12, 6),
        ({"shutdowns": 1}, 32, 67, 10),
        ({"expiries": 1}, 9, 11, 5),
        (DEFAULT, 167, 382, 15),
    ],
    ids=["crash", "shutdown", "expiry", "default"],
)
def test_with_all_guards_on_nothing_stays_wrong(
    within: dict[str, int], states: int, transitions: int, depth: int
) -> None:
    found = asked(within=within)
    assert found.verdict == PROVED
    assert (found.states, found.transitions, found.depth) == (states, transitions, depth)


@pytest.mark.parametrize(
    ("off", "property", "steps"),
    [
        (BOUNCE, FETCHES, 4),
        (SHUTDOWN, ELECTABLE, 7),
        (REQUESTS, CHECKPOINT, 5),
        (REQUESTS, FETCHES, 11),
    ],
    ids=["missed-bounce", "stale-controlled-shutdown", "overwritten-checkpoint", "stop-replica"],
)
def test_each_case_of_the_motivation_comes_of_one_missing_guard(
    off: str, property: str, steps: int
) -> None:
    found = asked((off,), properties=(property,))
    assert (found.verdict, found.violated, len(found.path)) == (REFUTED, property, steps)
    features = parse_features("zk-2.2", off=(off,))
    shown = play_of(parse(TWO, "two"), features, LEVEL, found.path, property)
    assert expectations(run_play(shown)) == {"held": 1, "failed": 0, "skipped": 0}


@pytest.mark.parametrize("kafka", ["zk-2.5.0", "zk-2.6", "zk-2.8", "zk-3.4", "zk-3.4/2.7-IV2"])
def test_later_releases_stay_well_too(kafka: str) -> None:
    assert asked(kafka=kafka).verdict == PROVED


def test_under_the_old_protocol_nothing_is_refused_and_a_bounce_is_seen() -> None:
    """None of the requests has a broker epoch then; both refusals are as good as off."""
    for property, verdict in ((CHECKPOINT, REFUTED), (ELECTABLE, REFUTED), (SERVES, PROVED)):
        assert asked(kafka="zk-3.4/2.1-IV2", properties=(property,)).verdict == verdict


def test_an_election_that_an_operator_asks_for_brings_the_old_request_too() -> None:
    """Where another broker leads than the first replica; a crash alone brings none of it."""
    back = TWO.replace("F replicas=0,1", "F replicas=1,0")
    for within, verdict in (({"crashes": 1}, PROVED), ({"crashes": 1, "elections": 1}, REFUTED)):
        found = asked((REQUESTS,), within, (CHECKPOINT,), text=back)
        assert found.verdict == verdict
    assert [action.kind for action in found.path].count("elect") == 1


def test_the_stop_replica_of_an_earlier_incarnation_needs_two_visits() -> None:
    """In one alone, what the bounce brings mends it: leader epochs have moved on since."""
    again = (FETCHES, SERVES, ELECTABLE)
    assert asked((REQUESTS,), {"shutdowns": 1}, again).verdict == PROVED
    assert asked((REQUESTS,), {"crashes": 1}, again).verdict == PROVED


class Watched(EngineModel):
    """Remembers all that broke anywhere, whatever is asked."""

    def successors(self, state: Any) -> Iterator[Any]:
        for action, after, broken in super().successors(state):
            self.broken |= {*broken}
            yield action, after, broken

    broken: frozenset[str] = frozenset()


def everything_that_breaks(
    level: Level, text: str, kafka: str, off: tuple[str, ...], within: dict[str, int]
) -> frozenset[str]:
    start = begun(text, kafka, off=off)
    model = Watched(level, start, {**NOTHING, **within})
    assert search(model, ()).verdict == PROVED
    return model.broken


@pytest.mark.parametrize(
    ("text", "kafka", "off", "within", "expected"),
    [
        (TWO, "zk-2.2", (), {"crashes": 1}, set()),
        (TWO, "zk-2.2", (BOUNCE,), {"crashes": 1}, {SERVES, FETCHES}),
        (TWO, "zk-2.1", (), {"crashes": 1}, {SERVES, FETCHES}),
        (LED, "zk-2.2", (), {"shutdowns": 1}, set()),
        (LED, "zk-2.2", (BOUNCE, REQUESTS), {"shutdowns": 1}, {FETCHES, ELECTABLE}),
    ],
)
def test_what_arrives_at_once_makes_no_difference(
    text: str, kafka: str, off: tuple[str, ...], within: dict[str, int], expected: set[str]
) -> None:
    """The search that holds everything finds the same broken, and no more."""
    found = everything_that_breaks(LEVEL, text, kafka, off, within)
    assert found == expected
    assert found == everything_that_breaks(EVERYTHING_HELD, text, kafka, off, within)


def consequences(cluster: Cluster) -> Iterator[tuple[Action, Cluster, frozenset[str], Cluster]]:
    """Of every action that is possible: the state after it, what broke, and the cluster itself."""
    for _, action in offered(LEVEL, cluster):
        done = do(LEVEL, cluster, action)
        if done is None:
            continue
        there = replace(done.cluster, broken=())
        hit = frozenset(that_broke(done.cluster, done.events)) & {*LEVEL.asks}
        yield action, LEVEL.normal(there), hit, there


@pytest.mark.parametrize(("kafka", "off"), [("zk-2.2", ()), ("zk-3.4", (BOUNCE, REQUESTS))])
def test_the_normal_form_hides_nothing_that_an_action_could_tell(
    kafka: str, off: tuple[str, ...]
) -> None:
    """What can be done with a cluster, and what comes of it, is so with its normal form."""
    start = begun(TWO, kafka, off=off)
    todo, met = [start], {LEVEL.normal(start)}
    for _ in range(40):
        cluster = todo.pop(0)
        found = list(consequences(cluster))
        here = [one[:3] for one in consequences(LEVEL.normal(cluster))]
        assert [one[:3] for one in found] == here
        for _, normal, _, there in found:
            if normal not in met:
                met.add(normal)
                todo.append(there)
    assert len(met) > 60


def test_a_queue_that_is_drained_at_once_leads_to_no_other_state() -> None:
    one_by_one = replace(LEVEL, kinds=tuple(k for k in LEVEL.kinds if k.name != "drain"))
    found, slow = asked(within={"shutdowns": 1}), asked(within={"shutdowns": 1}, level=one_by_one)
    assert found.states == slow.states
    assert found.depth < slow.depth


def test_the_controllers_broker_is_left_alone() -> None:
    found = asked(within={"crashes": 1})
    assert set(found.taken) == {"crash", "deliver", "drain", "expire", "start"}
    start = LEVEL.admit(begun(TWO, "zk-2.2"))
    assert [action.node for kind, action in offered(LEVEL, start) if kind.name == "crash"] == [1]


def test_it_asks_of_what_stays_and_says_what_it_is_blind_for() -> None:
    play = parse(TWO, "two")
    question = question_about(play, level="zookeeper")
    assert question.properties == (SERVES, FETCHES, ELECTABLE, CHECKPOINT)
    with pytest.raises(ExploreError, match="level zookeeper could break no-committed-record-lost"):
        question_about(play, level="zookeeper", property="no-committed-record-lost")


def test_a_property_of_another_mode_is_no_question() -> None:
    with pytest.raises(ExploreError, match=r"is for mode zookeeper, and Kafka 3\.4"):
        question_about(load("kafka-14139"), level="cluster", property=SERVES)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("kafka-14139", "has no ZooKeeper"),
        ("343-two-leaders", "KIP-343"),
        ("380-session-id", "uses session ids as broker epochs"),
    ],
)
def test_what_it_cannot_speak_of_it_refuses(name: str, problem: str) -> None:
    play = load(name)
    question = question_about(play, level="zookeeper")
    start = cluster_of(setup_of(play, question.features))
    with pytest.raises(PlayError, match=problem):
        LEVEL.admit(start)


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Path:
    file = tmp_path / "two.play"
    file.write_text(TWO, encoding="utf-8")
    return file


def test_the_command_says_what_it_has_proved_and_within_which_bounds(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", str(two), "--level", "zookeeper", "--bound", "shutdowns=0"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "Proved for these bounds (Kafka zk-2.2, level zookeeper, within 0 requests for controlled"
        " shutdowns, 1 crash, 0 sessions that end although their brokers run and 0 preferred"
        " elections): At rest, a leader that is up knows that it leads."
    )
    assert "All 10 states were checked." in said
    assert "no shutdown was possible" in said


def test_a_counterexample_is_a_play_that_runs_and_shrinks(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--level", "zookeeper", "--off", BOUNCE, "--property", FETCHES, "--json"]
    assert main(["explore", str(two), *words]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["steps"], found["property"]) == ("refuted", 4, FETCHES)
    assert found["bounds"] == DEFAULT
    for _ in range(2):
        two.write_text(found["play"], encoding="utf-8")
        assert "controller broker=0 epoch=5" in " ".join(found["play"].split())
        assert main(["play", str(two), "--json"]) == 0
        ran = json.loads(capsys.readouterr().out)
        assert ran["verdict"] == "harm"
        assert FETCHES in [broken["property"] for broken in ran["violated"]]
        assert main(["minimise", str(two), "--property", FETCHES, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
    assert (found["minimal"], found["dropped"]) == (True, 0)


def test_no_controller_no_search(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in TWO.splitlines() if not line.startswith("controller")]
    down = [f"{line} down=yes" if line.startswith("broker") else line for line in lines]
    two.write_text("\n".join(down), encoding="utf-8")
    assert main(["explore", str(two), "--level", "zookeeper"]) == 2
    assert "no broker is the controller as the play begins" in capsys.readouterr().err
