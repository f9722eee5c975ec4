"""What an operator does not read here, and why: for every kind of event, error and change.

Either Kafka writes nothing, or it writes at a level that nobody keeps on, or its line is left out
for the reason given. A reason that quotes Kafka names who writes it and in which releases. The
reasons are in unlogged.toml.
"""

import tomllib
from collections import ChainMap
from pathlib import Path

from kiplab.engine import events
from kiplab.protocol import facts, zookeeper_facts
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.replica.broker_state import Lifecycle

_REASONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_KINDS = ChainMap(*map(vars, (facts, zookeeper_facts, events)))
UNLOGGED: dict[type, str] = {_KINDS[name]: why for name, why in _REASONS["events"].items()}
"""Events that no operator reads of here, and why."""
UNLOGGED_CHANGES = {facts.BrokerChange[name]: why for name, why in _REASONS["changes"].items()}
"""What may become of a registration without a line of the controller, and why."""
UNLOGGED_FETCH_ERRORS = {KafkaError[name]: why for name, why in _REASONS["fetch_errors"].items()}
"""Errors of a fetch without an entry of `_FETCH_ERRORS`, and why."""
UNLOGGED_WAITING = {KafkaError[name]: why for name, why in _REASONS["waiting"].items()}
"""Errors at which a leader waits without a line, and why."""
UNLOGGED_LIFE = {Lifecycle[name]: why for name, why in _REASONS["life"].items()}
"""States of a process that none of its lines is about, and why."""
