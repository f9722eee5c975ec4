"""A real ZooKeeper beside the engine's: the same scripts, the same results, Stats and watches."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo.client import KazooClient
from msgspec.structs import replace

from kiplab.judge.kafka_jars.jar_cache import MissingKafkaError, spark_jars
from kiplab.judge.zookeeper_server import zookeeper_process
from kiplab.protocol.ids import BrokerId, Incarnation, SessionId, Zxid
from kiplab.protocol.zookeeper import ensemble_writes, znodes
from kiplab.protocol.zookeeper.ensemble import Ensemble, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_sessions import end_session, open_session
from kiplab.protocol.zookeeper.ensemble_writes import Transacted, transact
from tests.judge import __main__, kafka_here
from tests.judge.skeleton import command, coverage
from tests.judge.skeleton.sides import Recorded, Run
from tests.judge.zookeeper_server import script_judge, scripted_engine, zookeeper_scripts
from tests.judge.zookeeper_server.scripted_engine import (
    OpenStep,
    ScriptAnswer,
    ScriptedEngine,
    ScriptStep,
)

SCRIPTS = range(40)
ONE = BrokerId(1)
TWO = zookeeper_process.TwoIncarnations(
    zookeeper_process.BrokerIncarnation(4, 9, 2), zookeeper_process.BrokerIncarnation(7, 5, 1)
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a real ZooKeeper answers."""
    with zookeeper_process.ZooKeeperProcess(tick_ms=script_judge.TICK_MS) as zookeeper:
        yield zookeeper.addresses[0]


# --- live ---------------------------------------------------------------------------------------


@pytest.mark.java
@kafka_here.needs_java
def test_scripts_have_the_same_results_stats_and_watches_in_zookeeper_and_in_the_engine(
    address: str,
) -> None:
    result = script_judge.judged("3.9.5", script_judge.compared(address, SCRIPTS))
    assert not result.differences, result.differences[0]
    assert set(script_judge.RULES) <= set(result.hits)


def as_far_as_it_goes(was: Ensemble, came: Transacted, session: SessionId, multi: Any) -> Ensemble:
    """What a refused multi leaves, if what comes before the refused operation is done."""
    return transact(was, session, multi[: came.failing]).ensemble if came.failing > 0 else came[0]


def a_zxid_each(_was: Ensemble, came: Transacted, _session: SessionId, multi: Any) -> Ensemble:
    more = max(len(multi) - 1, 0)
    return replace(came.ensemble, zxid=Zxid(came.ensemble.zxid + more))


NONE = ensemble_writes.ZooKeeperError.NONE
WRONG: dict[str, tuple[Callable[..., Any], Callable[..., Ensemble]]] = {
    "refusals take no zxid": (
        transact,
        lambda was, came, *_: was if came.error != NONE else came[0],
    ),
    "each operation takes a zxid": (transact, a_zxid_each),
    "watches stay": (transact, lambda was, came, *_: replace(came[0], watches=was.watches)),
    "a multi is done as far as it goes": (transact, as_far_as_it_goes),
    "closing takes no zxid": (end_session, lambda was, came, _: replace(came[0], zxid=was.zxid)),
    "ephemerals stay": (end_session, lambda was, came, _: replace(came[0], znodes=was.znodes)),
}
"""A rule, and the ensemble that a wrong engine has after it: by that of before, what the right one
comes to, and with what it is called.
"""


@pytest.mark.parametrize("wrong", WRONG)
def test_an_engine_that_has_it_wrong_is_found_out(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """Beside the right engine's answers, which are ZooKeeper's: the test above holds them so."""
    right = {seed: alike(seed) for seed in SCRIPTS}
    rule, after = WRONG[wrong]

    def wrong_rule(was: Ensemble, *rest: Any) -> Any:
        came = rule(was, *rest)
        return came._replace(ensemble=after(was, came, *rest))

    monkeypatch.setattr(scripted_engine, rule.__name__, wrong_rule)
    assert any(again(seed, one).parted for seed, one in right.items())


def again(seed: int, one: script_judge.ScriptRun) -> script_judge.ScriptRun:
    """The same script, with the answers that were given."""
    real = Recorded[ScriptStep, ScriptAnswer]([done.real for done in one.done])
    run_again: script_judge.ScriptRun = Run(
        real, ScriptedEngine(zookeeper_scripts.script_root(seed)), script_judge.difference
    )
    run_again.follow([done.turn for done in one.done])
    return run_again


@pytest.mark.java
@kafka_here.needs_java
def test_of_two_incarnations_czxids_rise_and_session_ids_need_not_as_in_the_engine() -> None:
    """What KIP-380 builds on, and why it did not take session ids."""
    incarnations = zookeeper_process.two_incarnations(live=True)
    ensemble, before = open_session(kafka_ensemble(servers=2), ONE, Incarnation(1), server=1)
    ensemble = _registered(ensemble, before, 1)
    (first,) = ensemble.registrations
    ensemble, after = open_session(
        end_session(ensemble, before).ensemble, ONE, Incarnation(2), server=0
    )
    (second,) = _registered(ensemble, after, 2).registrations
    assert incarnations.second.czxid > incarnations.first.czxid
    assert incarnations.second.session <= incarnations.first.session
    assert (second.epoch > first.epoch, after > before) == (True, False)
    assert second.epoch - first.epoch == incarnations.second.czxid - incarnations.first.czxid


def _registered(ensemble: Ensemble, session: SessionId, incarnation: int) -> Ensemble:
    data = znodes.BrokerZnode(ONE, Incarnation(incarnation))
    created = ensemble_writes.Create(znodes.broker_path(ONE), data, ephemeral=True)
    return transact(ensemble, session, (created,)).ensemble


# --- without Java -------------------------------------------------------------------------------


def test_equal_seeds_give_equal_scripts_and_different_ones_others() -> None:
    assert zookeeper_scripts.script(7) == zookeeper_scripts.script(7)
    assert len({zookeeper_scripts.script(seed) for seed in SCRIPTS}) == len(SCRIPTS)


def alike(seed: int) -> script_judge.ScriptRun:
    """A script with the engine on both sides."""
    one: script_judge.ScriptRun = Run(
        ScriptedEngine(zookeeper_scripts.script_root(seed)),
        ScriptedEngine(zookeeper_scripts.script_root(seed)),
        script_judge.difference,
    )
    one.follow(zookeeper_scripts.script(seed))
    return one


def other_answers(*steps: ScriptStep) -> script_judge.ScriptRun:
    """Steps to which a ZooKeeper answers nonsense."""
    real = Recorded[ScriptStep, ScriptAnswer]([("NONODE", 0, 2)] * len(steps))
    one: script_judge.ScriptRun = Run(real, ScriptedEngine("/script-3"), script_judge.difference)
    one.follow(steps)
    return one


def test_the_scripts_of_every_run_try_whatever_there_is() -> None:
    hits = sum((script_judge.tried(alike(seed)) for seed in SCRIPTS), Counter[coverage.Rule]())
    assert set(script_judge.RULES) <= set(hits)


def test_a_difference_is_shown_with_its_step_and_both_answers() -> None:
    assert other_answers(OpenStep("a"), OpenStep("b")).difference("script 3") == (
        "# script 3, turn 1: OpenStep(who='a')\n"
        "#   the last step: Kafka has ('NONODE', 0, 2), the engine ('rises', 1)"
    )


# --- the command --------------------------------------------------------------------------------


def test_what_no_script_has_tried_makes_the_command_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = nullcontext(SimpleNamespace(addresses=("127.0.0.1:1",)))
    monkeypatch.setattr(script_judge, "ZooKeeperProcess", lambda **_: server)
    monkeypatch.setattr(script_judge, "compared", lambda _, seeds: [(n, alike(n)) for n in seeds])
    few = ["zookeeper", "--seed", "1", "--count", "1"]
    assert command.main(__main__.JUDGES, few) == command.PARTED
    assert "3.9.5: end lapsed was tried 0 times of 1" in capsys.readouterr().err
    assert command.main(__main__.JUDGES, ["zookeeper", "--recorded"]) == command.LACKING
    assert "is never recorded: it is asked live" in capsys.readouterr().err


def test_two_incarnations_are_told_as_a_table() -> None:
    assert str(TWO).splitlines()[1:] == [
        "first             2            0x4                  0x9",
        "second            1            0x7                  0x5",
    ]


# --- the server out of PySpark's jars -------------------------------------------------------------


@pytest.mark.java
@kafka_here.needs_java
def test_two_servers_of_one_ensemble_have_one_tree_and_leave_nothing_behind() -> None:
    with zookeeper_process.ZooKeeperProcess(servers=2) as ensemble:
        folder = ensemble._folder
        first, second = (KazooClient(address) for address in ensemble.addresses)
        first.start()
        second.start()
        first.create("/a", b"x")
        second.sync("/a")
        assert second.get("/a")[0] == b"x"
        for client in (first, second):
            client.stop()
            client.close()
    assert not folder.exists()


def test_without_pyspark_it_is_said_what_brings_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_process, "spark_jars", lambda: None)
    with pytest.raises(MissingKafkaError, match=r"pip install 'kiplab\[real\]'"):
        zookeeper_process.zookeeper_jars()


def test_pysparks_jars_are_those_of_the_package_that_is_installed() -> None:
    folder = spark_jars()
    assert folder is not None
    assert list(folder.glob("zookeeper-*.jar"))


def test_every_server_of_an_ensemble_knows_the_others_and_one_alone_knows_none() -> None:
    ports = [[1, 2, 3], [4, 5, 6]]
    second = zookeeper_process.zookeeper_settings(2, ports, Path("/data"), tick_ms=200)
    assert "clientPort=4\n" in second
    assert "server.1=127.0.0.1:2:3\nserver.2=127.0.0.1:5:6\n" in second
    assert "server." not in zookeeper_process.zookeeper_settings(
        1, ports[:1], Path("/data"), tick_ms=200
    )
