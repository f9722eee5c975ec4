"""Engines with one wrong rule of the controller, and the pair that notices each."""

import tomllib
from importlib import import_module
from pathlib import Path

from kiplab.protocol.features import parse_features
from kiplab.protocol.kraft import sessions
from kiplab.protocol.replica import leader
from tests.protocol import test_contacts, test_vectors_leader_state

from ..skeleton.wrong_engines import WrongEngine

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["engine"]

ENGINES = (
    *(
        WrongEngine(**{**row, "module": import_module(f"kiplab.protocol.{row['module']}")})
        for row in _TABLE
    ),
    WrongEngine(
        "a contact under an epoch to come is forgotten at the next heartbeat",
        sessions,
        "and (c.epoch == epochs.get(c.broker) or c.epoch >= controller.next_offset)",
        "and c.epoch == epochs.get(c.broker)",
        "4.0",
        test=lambda: (
            test_contacts.test_what_is_noted_under_an_epoch_to_come_counts_once_that_is_given_out(
                parse_features("4.0")
            )
        ),
    ),
    WrongEngine(
        "the leader of 3.2 notes its end at a fetch as 3.3 does",
        leader,
        "seen = end if here.code < (3, 3) else",
        "seen = end if here.code < (3, 2) else",
        "3.2",
        test=lambda: test_vectors_leader_state.test_the_leader_end_noted_at_a_fetch_never_goes_back(
            10, parse_features("3.2")
        ),
    ),
)
"""Those of the table, and those that a test notices."""
