"""The strip: which property holds, which broke and since when, and what is promised here."""

import pytest

from kiplab.engine.events import PropertyBroken
from kiplab.engine.properties import PROPERTIES, is_promised, properties_of
from kiplab.plays.library import load
from kiplab.protocol.features import parse_features
from kiplab.widgets.controls.inspector import InvariantStrip, Standing, standings, why_not_promised
from kiplab.widgets.history_tree.playback import Playback, open_playback, seek
from tests.repeated import every_play
from tests.widgets.hands import SIX, Hands, at, at_panel, made

STALE, ELECTABLE, LOST = (
    "no-stale-epoch-in-isr",
    "electable-holds-committed",
    "no-committed-record-lost",
)
IN_KRAFT = parse_features("3.5")


def by_id(playback: Playback) -> dict[str, Standing]:
    """How each property does."""
    return {standing.about.id: standing for standing in standings(playback)}


def test_there_is_one_entry_per_property_in_the_order_of_the_table() -> None:
    assert [s.about.id for s in standings(at(0))] == [p.id for p in properties_of(IN_KRAFT)]
    assert len(properties_of(IN_KRAFT)) < len(PROPERTIES), "those of ZooKeeper mode are not here"


def test_before_anything_happened_all_hold() -> None:
    assert all(s.holds and s.label.startswith("● ") for s in standings(at(0)))


def test_a_broken_property_says_since_when() -> None:
    assert by_id(at(5))[STALE].holds
    assert by_id(at(2))[LOST].holds
    for step in (6, 7, 11):
        assert by_id(at(step))[STALE].broken_at == 6
    assert (by_id(at(11))[LOST].broken_at, by_id(at(11))[LOST].holds) == (8, False)
    assert by_id(at(11))[STALE].label == "■ no stale epoch in ISR: broken at step 6"
    assert by_id(at(11))[STALE].partitions == ("orders-0",)


def test_what_is_missing_for_the_promise_is_named() -> None:
    said = by_id(at(6))[STALE].unpromised
    assert said is not None
    assert said.startswith("rules of KIP-903 are off (903.")
    assert "903.controller-epoch" in said
    assert "Not promised in this run, because rules of KIP-903" in by_id(at(6))[STALE].words


def test_with_903_it_holds_and_is_promised() -> None:
    stale = by_id(at(11, kafka="3.9"))[STALE]
    assert (stale.holds, stale.unpromised) == (True, None)
    assert "Promised (with " in stale.words


@pytest.mark.parametrize("name", every_play())
def test_the_strip_says_what_the_engine_reported(name: str) -> None:
    playback = open_playback(load(name))
    playback = seek(playback, playback.last)
    reported: dict[str, bool] = {}
    for event in playback.here.events:
        if isinstance(event, PropertyBroken):
            reported.setdefault(event.property, event.promised)
    told = {s.about.id: s.unpromised is None for s in standings(playback) if not s.holds}
    assert told == reported


@pytest.mark.parametrize("kafka", ["3.2", "3.4", "3.5", "3.9"])
@pytest.mark.parametrize("name", every_play())
def test_a_reason_is_given_exactly_where_nothing_is_promised(name: str, kafka: str) -> None:
    cluster = open_playback(load(name), parse_features(kafka)).whole.cluster
    for found in PROPERTIES.values():
        promised = is_promised(
            found,
            cluster.features,
            excused=any(o.excused for o in cluster.observed),
            forged=cluster.forged or (cluster.inherited and bool(found.needs)),
        )
        assert (why_not_promised(found, cluster) is None) is promised


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("send alter-partition from=2 partition=orders-0 isr=2",), "a raw request was sent"),
        (("elect orders-0 unclean=yes",), None),
        (
            ("crash 5 disk=replaced", "crash 6 disk=replaced"),
            "no member of an ISR that still had the committed records was left",
        ),
    ],
)
def test_faults_that_end_the_promise_are_named(lines: tuple[str, ...], reason: str | None) -> None:
    six = SIX.replace("replicas=5,6", "replicas=5,6 log=7@0")
    playback = made(f"kafka 3.9\n{six}", *lines)
    said = by_id(playback)[LOST].unpromised
    assert said == reason if reason is None else reason in (said or "")


def test_an_alternative_that_was_rejected_ends_the_promise() -> None:
    features = parse_features("3.9", on=("903.bump-leader-epochs",))
    said = why_not_promised(
        PROPERTIES[LOST], open_playback(load("kafka-14139"), features).here.cluster
    )
    assert said == "alternatives that a KIP rejected are on (903.bump-leader-epochs)"


@pytest.fixture
def hands() -> Hands:
    return at_panel(at(11), InvariantStrip)


def test_a_broken_entry_is_a_button_that_goes_there(hands: Hands) -> None:
    strip = hands.panel
    entries = strip.entries.children
    assert strip.broken[STALE] in entries
    assert strip.holding["logs-match"] in entries
    assert strip.broken[STALE].description.startswith("■ no stale epoch in ISR: broken at step 6")
    strip.broken[STALE].click()
    assert hands.playback.at == 6


def test_the_status_changes_only_when_a_property_breaks(hands: Hands) -> None:
    said = []
    for step in range(12):
        hands.seek(step)
        said.append(hands.panel.status.value)
    assert len(set(said[:6])) == 1
    assert f"All {len(properties_of(IN_KRAFT))} properties hold." in said[0]
    assert len(set(said[6:8])) == 1
    assert 'role="status"' in said[6]


def test_words_are_on_hover_and_in_a_drawer(hands: Hands) -> None:
    strip = hands.panel
    assert "Every member of the ISR" in strip.broken[STALE].tooltip
    assert 'title="Two logs that agree' in strip.holding["logs-match"].value
    assert strip.text.value == ""
    strip.drawer.toggle.value = True
    for found in properties_of(IN_KRAFT):
        assert found.sentence in strip.text.value
    assert "Not promised in this run, because rules of KIP-903" in strip.text.value
