"""Engines that are wrong on purpose, in one rule each: a judge that does not notice is none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import NamedTuple

from kiplab.protocol.kraft import (
    alter_partition,
    broker_registration,
    elections,
    fencing,
    heartbeats,
    partition_change,
    replay,
    sessions,
)


class WrongEngine(NamedTuple):
    """One rule that `module` has as `right`, and this engine as `wrong`; who shall notice."""

    rule: str
    module: ModuleType
    right: str
    wrong: str
    pair: str
    unseen: str = ""
    """Why nobody can notice it, if nobody can."""


ENGINES = (
    WrongEngine(
        "who sends is asked after the partition epoch",
        alter_partition,
        "for guard, check, error in CHECKS:",
        "for guard, check, error in (*CHECKS[:2], CHECKS[3], CHECKS[2], *CHECKS[4:]):",
        "3.3",
    ),
    WrongEngine(
        "a partition epoch that is newer by one is an old one",
        alter_partition,
        "if item.partition_epoch > held.partition_epoch:",
        "if item.partition_epoch > held.partition_epoch + 1:",
        "3.4",
    ),
    WrongEngine(
        "a member without a broker epoch is refused",
        alter_partition,
        "if is_of_another_life(epoch, found.epoch) and",
        "if epoch != found.epoch and",
        "3.5",
    ),
    WrongEngine(
        "an ISR may list a broker twice",
        alter_partition,
        "proper = len(set(members)) == len(members) and set(members)",
        "proper = set(members)",
        "3.6",
    ),
    WrongEngine(
        "version 2 tells the recovery state to nobody",
        alter_partition,
        "told = state.recovery if version >= 1 else",
        "told = state.recovery if version >= 2 else",
        "3.2",
    ),
    WrongEngine(
        "an unknown topic has no id in version 2",
        alter_partition,
        "if known or request.version < 2:",
        "if known or request.version < 3:",
        "3.7",
    ),
    WrongEngine(
        "version 2 does not know INELIGIBLE_REPLICA",
        alter_partition,
        "newer = case.request.version >= 2\n    error = KafkaError.INELIGIBLE",
        "newer = case.request.version >= 3\n    error = KafkaError.INELIGIBLE",
        "3.3/3.3-IV0",
    ),
    WrongEngine(
        "a fenced member that is shutting down is refused as fenced",
        alter_partition,
        'if found.in_controlled_shutdown and "841',
        'if found.in_controlled_shutdown and not found.fenced and "841',
        "3.5",
        unseen="Both are refused with the same error: only the engine's own explanation differs.",
    ),
    WrongEngine(
        "a shutdown is granted an offset later",
        heartbeats,
        "known.controlled_shutdown_offset <= lowest_active_offset",
        "known.controlled_shutdown_offset < lowest_active_offset",
        "3.6",
    ),
    WrongEngine(
        "caught up is only who is ahead",
        heartbeats,
        "caught_up = request.metadata_offset >= _target_offset",
        "caught_up = request.metadata_offset > _target_offset",
        "3.4",
    ),
    WrongEngine(
        "every heartbeat of a shutdown names a new offset",
        heartbeats,
        "overwritten = features.code_of(CONTROLLER) < (3, 3)",
        "overwritten = True",
        "3.5",
    ),
    WrongEngine(
        "a broker's own fence leaves its metadata offset",
        heartbeats,
        "if known is None or features.code_of(CONTROLLER) < (3, 7):",
        "if known is None or features.code_of(CONTROLLER) < (9, 9):",
        "3.7",
    ),
    WrongEngine(
        "who wants the fence and the shutdown gets the fence",
        heartbeats,
        "return BrokerState.SHUTDOWN_NOW if want_shut_down else BrokerState.FENCED",
        "return BrokerState.FENCED",
        "3.8",
    ),
    WrongEngine(
        "the fence is written before the ISRs",
        fencing,
        "return [*removal_records(controller, found.broker, features), fence]",
        "return [fence, *removal_records(controller, found.broker, features)]",
        "3.9",
    ),
    WrongEngine(
        "silence ends a shutdown in every release",
        fencing,
        "if features.code_of(CONTROLLER) >= (3, 7):\n        known = replace(known, con",
        "if features.code_of(CONTROLLER) >= (3, 2):\n        known = replace(known, con",
        "3.5",
    ),
    WrongEngine(
        "the flag of a shutdown is written at every metadata version",
        fencing,
        'flagged = at_least(features.metadata_version, "3.3-IV3") and',
        'flagged = at_least(features.metadata_version, "3.3-IV0") and',
        "3.4/3.3-IV2",
    ),
    WrongEngine(
        "who comes back is offered no partition",
        fencing,
        "return [unfence, *changes]",
        "return [unfence]",
        "3.3",
    ),
    WrongEngine(
        "the last member leaves the ISR",
        partition_change,
        "return _differs(goal.isr, partition.isr) if goal.isr else None",
        "return _differs(goal.isr, partition.isr)",
        "3.8",
    ),
    WrongEngine(
        "another order is the same ISR",
        partition_change,
        "return None if goal == now else goal",
        "return None if sorted(goal) == sorted(now) else goal",
        "3.6",
    ),
    WrongEngine(
        "a second unclean election writes the recovery state again",
        partition_change,
        "if not unclean or (recovering and not _only_uncleanly(partition, code)):",
        "if not unclean:",
        "3.7",
    ),
    WrongEngine(
        "an unclean election takes the last replica",
        partition_change,
        "for replica in replicas:\n            if acceptable(replica):",
        "for replica in reversed(replicas):\n            if acceptable(replica):",
        "3.9",
    ),
    WrongEngine(
        "KAFKA-16624 is mended a release early",
        partition_change,
        "return self.version < (3, 8)",
        "return self.version < (3, 7)",
        "3.7/3.5-IV2",
    ),
    WrongEngine(
        "KAFKA-16624 is mended a release early, and the metadata version is new",
        partition_change,
        "return self.version < (3, 8)",
        "return self.version < (3, 7)",
        "3.7",
        unseen="From metadata version 3.6-IV0 on no ISR that shrinks bumps an epoch.",
    ),
    WrongEngine(
        "a recovery state alone is worth a record at 3.2",
        partition_change,
        "if code.version >= (3, 3):",
        "if code.version >= (3, 2):",
        "3.2",
    ),
    WrongEngine(
        "the preferred leader is not preferred",
        partition_change,
        "if election is Election.PREFERRED and clean and valid(replicas[0]):",
        "if election is Election.UNCLEAN and clean and valid(replicas[0]):",
        "3.8/3.5-IV2",
    ),
    WrongEngine(
        "the same process gets a new epoch at 3.9",
        broker_registration,
        "if code >= (3, 9):",
        "if code >= (9, 9):",
        "3.9",
    ),
    WrongEngine(
        "a registration forgets a shutdown at 3.7",
        broker_registration,
        "fenced, leaving = existing.fenced, existing.in_controlled_shutdown",
        "fenced = existing.fenced",
        "3.7",
    ),
    WrongEngine(
        "3.2 replays a registration as later releases do",
        broker_registration,
        "if code >= (3, 3) or existing is None or not same:",
        "if code >= (3, 2) or existing is None or not same:",
        "3.2",
    ),
    WrongEngine(
        "a new controller knows where its log ends",
        broker_registration,
        "return UNKNOWN_METADATA_OFFSET if known is None else MetadataOffset(known + 1)",
        "return UNKNOWN_METADATA_OFFSET",
        "3.3/3.3-IV0",
    ),
    WrongEngine(
        "a new incarnation leaves the ISRs of the old one alone",
        broker_registration,
        "if features.code_of(CONTROLLER) < (4, 0) or existing is None:",
        "if features.code_of(CONTROLLER) < (9, 9) or existing is None:",
        "4.1",
    ),
    WrongEngine(
        "4.0 keeps sessions as 3.9 does",
        sessions,
        "return code >= (4, 0)",
        "return code >= (9, 9)",
        "4.0",
    ),
    WrongEngine(
        "a broker is forgotten before it leaves its ISRs",
        broker_registration,
        "        *removal_records(controller, found.broker, features),\n"
        "        UnregisterBrokerRecord(found.broker, found.epoch),\n",
        "        UnregisterBrokerRecord(found.broker, found.epoch),\n"
        "        *removal_records(controller, found.broker, features),\n",
        "4.2",
    ),
    WrongEngine(
        "a session lasts half a second less",
        sessions,
        "oldest.last_contact_ms + SESSION_TIMEOUT_MS < now_ms",
        "oldest.last_contact_ms + SESSION_TIMEOUT_MS - 500 < now_ms",
        "3.6",
    ),
    WrongEngine(
        "preferred is the first of the ISR",
        elections,
        "held.leader != held.replicas[0]",
        "held.leader != held.isr[0]",
        "3.5",
    ),
    WrongEngine(
        "who needed no election is not told so",
        elections,
        "if request.partitions is not None or error is not",
        "if error is not",
        "3.4",
    ),
    WrongEngine(
        "an epoch rises only with another leader",
        replay,
        "bump = 0 if record.leader is None else 1",
        "bump = 0 if record.leader in (None, state.leader) else 1",
        "3.5",
    ),
)


@contextmanager
def built(engine: WrongEngine) -> Iterator[None]:
    """The engine with that rule, and the right one again. Whoever has imported a function has the
    wrong one too: its code is exchanged, not its name.
    """
    source = inspect.getsource(engine.module)
    assert source.count(engine.right) == 1, (
        f"{engine.module.__name__} does not say {engine.right!r} once: the rule"
        f" {engine.rule!r} has moved; say in tests/judge/wrong_engines.py where it is now"
    )
    wrong = _functions(_made_of(source.replace(engine.right, engine.wrong), engine.module))
    functions = _functions(vars(engine.module))
    right = {name: function.__code__ for name, function in functions.items()}
    try:
        for name, function in functions.items():
            function.__code__ = wrong[name].__code__
        yield
    finally:
        for name, function in functions.items():
            function.__code__ = right[name]


def _made_of(source: str, module: ModuleType) -> dict[str, object]:
    made: dict[str, object] = {"__name__": module.__name__, "__package__": module.__package__}
    exec(compile(source, str(module.__file__), "exec"), made)
    return made


def _functions(made: Mapping[str, object]) -> dict[str, FunctionType]:
    """Functions, methods and properties that were made there, by their qualified names."""
    found: list[object] = []
    for value in made.values():
        found += vars(value).values() if isinstance(value, type) else [value]
    plain = (value.fget if isinstance(value, property) else value for value in found)
    own = (f for f in plain if isinstance(f, FunctionType) and f.__module__ == made["__name__"])
    return {function.__qualname__: function for function in own}
