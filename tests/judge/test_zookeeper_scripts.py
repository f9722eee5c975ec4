"""A real ZooKeeper beside the engine's: the same scripts, the same results, Stats and watches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.zookeeper_server.two_lives import BrokerLife, TwoLives, two_lives
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
from kiplab.protocol.ids import BrokerId, Incarnation, SessionId, Zxid
from kiplab.protocol.zookeeper.ensemble import Ensemble, kafka_ensemble
from kiplab.protocol.zookeeper.ensemble_sessions import Ended, close_session, open_session
from kiplab.protocol.zookeeper.ensemble_writes import (
    Create,
    Delete,
    Operation,
    Transacted,
    ZooKeeperError,
    transact,
)
from kiplab.protocol.zookeeper.znodes import BrokerZnode, broker_path
from tests.judge.zookeeper_here import needs_zookeeper
from tests.judge.zookeeper_server import scripted_engine, zookeeper_command
from tests.judge.zookeeper_server.script_comparing import (
    ComparedScript,
    ScriptParting,
    compared,
    parting_text,
)
from tests.judge.zookeeper_server.script_coverage import TO_TRY, tried, untried
from tests.judge.zookeeper_server.script_steps import OpenStep, WriteStep
from tests.judge.zookeeper_server.scripted_engine import ScriptedEngine
from tests.judge.zookeeper_server.zookeeper_command import TICK_MS
from tests.judge.zookeeper_server.zookeeper_scripts import script, script_root

SCRIPTS = range(40)
ONE = BrokerId(1)
LIVES = TwoLives(BrokerLife(4, 9, 2), BrokerLife(7, 5, 1))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a real ZooKeeper answers."""
    with ZooKeeperProcess(tick_ms=TICK_MS) as zookeeper:
        yield zookeeper.addresses[0]


# --- live ---------------------------------------------------------------------------------------


@pytest.mark.java
@needs_zookeeper
def test_scripts_have_the_same_results_stats_and_watches_in_zookeeper_and_in_the_engine(
    address: str,
) -> None:
    found: Counter[str] = Counter()
    for one in compared(address, SCRIPTS):
        assert one.parting is None, parting_text(one.parting)
        found += one.tried
    assert untried(found) == []


def refusals_take_no_zxid(
    ensemble: Ensemble, session: SessionId, operations: tuple[Operation, ...]
) -> Transacted:
    came = transact(ensemble, session, operations)
    return came if came.error is ZooKeeperError.NONE else came._replace(ensemble=ensemble)


def each_operation_takes_a_zxid(
    ensemble: Ensemble, session: SessionId, operations: tuple[Operation, ...]
) -> Transacted:
    came = transact(ensemble, session, operations)
    more = max(len(operations) - 1, 0)
    return came._replace(ensemble=replace(came.ensemble, zxid=Zxid(came.ensemble.zxid + more)))


def watches_stay(
    ensemble: Ensemble, session: SessionId, operations: tuple[Operation, ...]
) -> Transacted:
    came = transact(ensemble, session, operations)
    return came._replace(ensemble=replace(came.ensemble, watches=ensemble.watches))


def a_multi_is_done_as_far_as_it_goes(
    ensemble: Ensemble, session: SessionId, operations: tuple[Operation, ...]
) -> Transacted:
    came = transact(ensemble, session, operations)
    if came.error is ZooKeeperError.NONE or came.failing < 1:
        return came
    done = transact(ensemble, session, operations[: came.failing])
    return came._replace(ensemble=done.ensemble, fired=done.fired)


def closing_takes_no_zxid(ensemble: Ensemble, session: SessionId) -> Ended:
    ended = close_session(ensemble, session)
    return ended._replace(ensemble=replace(ended.ensemble, zxid=ensemble.zxid))


def ephemerals_stay(ensemble: Ensemble, session: SessionId) -> Ended:
    ended = close_session(ensemble, session)
    return Ended(replace(ended.ensemble, znodes=ensemble.znodes))


WRONG: dict[str, tuple[Callable[..., Any], ...]] = {
    "transact": (
        refusals_take_no_zxid,
        each_operation_takes_a_zxid,
        watches_stay,
        a_multi_is_done_as_far_as_it_goes,
    ),
    "close_session": (closing_takes_no_zxid, ephemerals_stay),
}


@pytest.mark.java
@needs_zookeeper
@pytest.mark.parametrize(
    ("rule", "wrong"),
    [(rule, wrong) for rule, every in WRONG.items() for wrong in every],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_engine_that_has_it_wrong_is_found_out(
    address: str, monkeypatch: pytest.MonkeyPatch, rule: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(scripted_engine, rule, wrong)
    assert any(one.parting is not None for one in compared(address, SCRIPTS))


@pytest.mark.java
@needs_zookeeper
def test_of_two_lives_of_a_broker_czxids_rise_and_session_ids_need_not_as_in_the_engine() -> None:
    """What KIP-380 builds on, and why it did not take session ids."""
    lives = two_lives(live=True)
    ensemble, before = open_session(kafka_ensemble(servers=2), ONE, Incarnation(1), server=1)
    ensemble = _registered(ensemble, before, 1)
    (first,) = ensemble.registrations
    ensemble, after = open_session(
        close_session(ensemble, before).ensemble, ONE, Incarnation(2), server=0
    )
    (second,) = _registered(ensemble, after, 2).registrations
    assert (lives.czxids_rise, lives.sessions_rise) == (True, False)
    assert (second.epoch > first.epoch, after > before) == (True, False)
    assert second.epoch - first.epoch == lives.second.czxid - lives.first.czxid


def _registered(ensemble: Ensemble, session: SessionId, incarnation: int) -> Ensemble:
    data = BrokerZnode(ONE, Incarnation(incarnation))
    return transact(ensemble, session, (Create(broker_path(ONE), data, ephemeral=True),)).ensemble


# --- without Java -------------------------------------------------------------------------------


def test_equal_seeds_give_equal_scripts_and_different_ones_others() -> None:
    assert script(7) == script(7)
    assert len({script(seed) for seed in SCRIPTS}) == len(SCRIPTS)


def test_the_scripts_of_every_run_try_whatever_there_is() -> None:
    found: Counter[str] = Counter()
    for seed in SCRIPTS:
        engine = ScriptedEngine(script_root(seed))
        answered = [(step, engine.answer(step)) for step in script(seed)]
        found += tried(answered, engine.heard())
    assert untried(found) == []


def test_a_difference_is_told_with_the_script_as_far_as_it_went() -> None:
    steps = (OpenStep("a"), WriteStep("a", (Delete("/x"),), multi=False))
    assert parting_text(ScriptParting(3, steps, ("NONODE", 0, 2), ("NONODE", 0, 1))) == (
        "script 3 parts after 2 steps:\n"
        "  a: open\n"
        "  a: Delete(/x, version=-1)\n"
        "  ZooKeeper says ('NONODE', 0, 2)\n"
        "  the engine says ('NONODE', 0, 1)"
    )


# --- the command --------------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, *scripts: ComparedScript, lives: TwoLives = LIVES) -> int:
    """The command where a ZooKeeper has said just that."""
    server = nullcontext(SimpleNamespace(addresses=("127.0.0.1:1",)))
    monkeypatch.setattr(zookeeper_command, "ZooKeeperProcess", lambda **_: server)
    monkeypatch.setattr(zookeeper_command, "compared", lambda _, seeds: scripts[: len(seeds)])
    monkeypatch.setattr(zookeeper_command, "two_lives", lambda **_: lives)
    return zookeeper_command.main(["--scripts", str(len(scripts))])


def test_the_command_prints_what_was_tried_the_differences_and_two_lives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = ComparedScript(19, Counter(TO_TRY), None)
    assert run(monkeypatch, every, every) == 0
    said = capsys.readouterr()
    assert not said.err
    assert "SetData                          2\n" in said.out
    assert "ZooKeeper: 2 scripts, 38 steps, 0 differences, " in said.out
    assert said.out.endswith(f"{LIVES}\n")


def test_a_difference_and_what_nothing_has_tried_make_the_command_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parting = ScriptParting(0, (OpenStep("a"),), "one", "another")
    assert run(monkeypatch, ComparedScript(1, Counter(TO_TRY), parting)) == 1
    assert "script 0 parts after 1 steps:" in capsys.readouterr().out
    assert run(monkeypatch, ComparedScript(1, Counter(TO_TRY[1:]), None)) == 1
    assert capsys.readouterr().err == f"judge: nothing has tried {TO_TRY[0]}\n"


def test_without_java_the_command_says_so_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(tick_ms: int) -> ZooKeeperProcess:  # noqa: ARG001
        raise MissingKafkaError("No Java.", "Install one.")

    monkeypatch.setattr(zookeeper_command, "ZooKeeperProcess", lacking)
    assert zookeeper_command.main([]) == 3
    assert capsys.readouterr().err == "judge: No Java. Install one.\n"


@pytest.mark.parametrize("count", ["0", "many", "-1"])
def test_no_number_of_scripts_is_refused(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        zookeeper_command.main([f"--scripts={count}"])
    assert f"'{count}' is no number of scripts; ask for 1 or more" in capsys.readouterr().err


def test_two_lives_are_told_as_a_table() -> None:
    assert str(LIVES).splitlines()[1:] == [
        "first        2            0x4                  0x9",
        "second       1            0x7                  0x5",
    ]
