"""What can happen next: every button writes a line of a play, and that line replays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiplab.engine.nodes import has_zookeeper
from kiplab.engine.truth import truth
from kiplab.plays.grammar import VERBS
from kiplab.plays.header import features_of
from kiplab.plays.library import load
from kiplab.plays.play_errors import PlayError
from kiplab.plays.stage import Stage
from kiplab.protocol.ids import NO_LEADER, BrokerId
from kiplab.protocol.releases import Mode
from kiplab.widgets.controls import cluster_offers as about
from kiplab.widgets.controls.broker_offers import Offer, about_broker, more_about_broker
from kiplab.widgets.controls.inflight import next_up
from kiplab.widgets.controls.inject import Inject
from kiplab.widgets.history_tree.playback import Playback, act, open_playback, seek
from tests.engine.unrouted import NO_BUTTON
from tests.repeated import COVERING, every_play
from tests.widgets import hands as by_hand
from tests.widgets.hands import SIX, THREE, Hands
from tests.widgets.test_broker_offers import all_of

RECOVERING = f"""on 704.specified
{THREE}crash 2
crash 3
expire 2
expire 3
crash 1 disk=replaced
expire 1
start 2
unfence 2
elect orders-0 unclean=yes
"""


BOUNCE, HEARTBEATS = "380-missed-bounce", "343-partitioned-broker"
SHIPPED = ("kafka-14139", "last-replica", "isr-committed", BOUNCE, HEARTBEATS)
OPENED = {name: by_hand.opened(name) for name in SHIPPED}
OPENED["recovering"] = by_hand.made(RECOVERING)
OPENED["six"], OPENED["timed"] = by_hand.made(SIX), by_hand.made("timed\n" + THREE)
OPENED["manual"] = by_hand.made("manual\n" + THREE)
OPENED["shop"] = by_hand.made(THREE + "crash 2\nproduce orders-0 count=2 producer=shop\n")


def with_zookeeper() -> list[Playback]:
    """Plays of that mode, a leader that recovers there, and a producer that waits."""
    shipped = [
        by_hand.opened(name)
        for name in (*COVERING, "kafka-14139-zookeeper")
        if features_of(load(name)).mode is Mode.ZOOKEEPER
    ]
    recovering = by_hand.made("kafka zk-3.4\n" + RECOVERING.replace("unfence 2\n", ""))
    shop = by_hand.made(f"kafka zk-2.2\n{THREE}crash 1\nproduce orders-0 count=2 producer=shop\n")
    return [*shipped, recovering, shop]


def every_choice(stage: Stage) -> tuple[Offer, ...]:
    """Every button that any panel has here."""
    cluster = stage.cluster
    found: list[Offer] = [*about.about_controller(cluster), *about.about_time(stage)]
    found += about.about_zookeeper(cluster) if has_zookeeper(cluster) else ()
    for node in cluster.brokers:
        found += [*about_broker(stage, node.id, "tail-lost"), *more_about_broker(stage, node.id)]
    for state in truth(cluster).partitions:
        found += about.about_partition(cluster, state.name)
        found += about.more_about_partition(cluster, state.name)
        for to in (None, *about.believes_to_lead(cluster, state.name)):
            found += [about.produce(cluster, state.name, 3, acks, to) for acks in ("all", "1")]
        found += about.sends_again(cluster, state.name)
        found += (about.delete_records(cluster, state.name),)
        for who in about.consumers(cluster):
            found += about.about_consumer(cluster, who, state.name)
        for who in about.producers(cluster):
            found += about.about_producer(cluster, who, state.name, 2, "1")
    for message in cluster.messages:
        found += about.about_message(cluster, message)
    for kind, sender in (("fetch", None), ("alter-partition", BrokerId(1))):
        found += [about.hold(stage, kind, sender), about.let_flow(stage, kind, sender)]
    return (*found, next_up(cluster, cluster.messages))


def refused(playback: Playback, choice: Offer) -> bool:
    """Whether the engine has something against a line too."""
    try:
        act(playback, choice.line)
    except (PlayError, ValueError, IndexError, KeyError):
        return True
    return False


@given(st.data())
@settings(max_examples=60)
def test_on_a_random_walk_what_is_offered_can_be_done(data: st.DataObject) -> None:
    playback = OPENED[data.draw(st.sampled_from(sorted(OPENED)))]
    playback = seek(playback, data.draw(st.integers(0, playback.last)))
    for _ in range(data.draw(st.integers(1, 12))):
        enabled = [c for c in every_choice(playback.here) if c.reason is None]
        playback = act(playback, data.draw(st.sampled_from(enabled), label="choice").line)
    hands = Hands(playback)
    assert hands.replayed()


SWEEP = "test_inject.py::test_what_the_engine_refuses_is_disabled_with_its_reason"
EVERY = every_play()


@pytest.mark.parametrize("name", EVERY)
def test_what_the_engine_refuses_is_disabled_with_its_reason(name: str) -> None:
    """A button's word against the engine's, for one step after the other of every play."""
    for playback in by_hand.steps(by_hand.opened(name)):
        for choice in every_choice(playback.here):
            if choice.reason is None:
                assert act(playback, choice.line).at >= playback.at
            elif choice.line.verb not in ("hold", "release", "unfence", "heartbeat"):
                assert refused(playback, choice), choice


# --- single choices -------------------------------------------------------------------------------


def test_a_follower_can_be_cut_off_from_controller_and_leader_and_healed() -> None:
    playback = by_hand.made(THREE)
    assert all_of(playback)["Cut off from controller"].line.text == "cut 2 controller"
    assert all_of(playback)["Cut off from leader 1"].line.text == "cut 2 1"
    cut = act(playback, all_of(playback)["Cut off from leader 1"].line)
    assert "Cut off from leader 1" not in all_of(cut)
    healed = act(cut, all_of(cut)["Heal link to leader 1"].line)
    assert healed.here.cluster.cut == ()


def test_a_link_that_is_cut_can_be_healed_whoever_leads_by_now() -> None:
    playback = by_hand.made(THREE, "cut 2 1", "crash 1", "expire 1")
    assert all_of(playback, BrokerId(3))["Cut off from leader 2"].reason is None
    assert all_of(playback)["Heal link to broker 1"].reason is None


def test_who_follows_nobody_has_no_leader_to_be_cut_off_from() -> None:
    alone = by_hand.made("broker 1\ntopic t replicas=1")
    choice = all_of(alone, BrokerId(1))["Cut off from leader"]
    assert choice.reason == "broker 1 follows nobody"


def test_a_broker_of_several_partitions_has_several_leaders() -> None:
    labels = [label for label in all_of(by_hand.made(SIX), BrokerId(3)) if label.startswith("Cut")]
    assert labels == ["Cut off from controller", "Cut off from leader 1", "Cut off from leader 2"]


def test_a_write_without_a_leader_says_so() -> None:
    playback = by_hand.made("broker 1\ntopic t replicas=1", "crash 1", "expire 1")
    assert about.produce(playback.here.cluster, "t-0", 1, "all").reason == "t-0 has no leader"


@pytest.mark.parametrize(
    ("acks", "to", "line"),
    [
        ("all", None, "produce orders-0 count=3"),
        ("1", None, "produce orders-0 count=3 acks=1"),
        ("1", BrokerId(1), "produce orders-0 count=3 to=1 acks=1"),
    ],
)
def test_a_write_says_how_many_and_where(acks: str, to: BrokerId | None, line: str) -> None:
    assert (
        about.produce(by_hand.made(THREE).here.cluster, "orders-0", 3, acks, to).line.text == line
    )


def test_a_stale_leader_still_takes_writes() -> None:
    """Broker 1 has not heard that it was fenced."""
    playback = by_hand.made(THREE, "cut 1 controller", "expire 1")
    cluster = playback.here.cluster
    assert about.believes_to_lead(cluster, "orders-0") == (1, 2)
    assert about.produce(cluster, "orders-0", 1, "1", BrokerId(1)).reason is None


def test_only_a_run_with_a_clock_can_wait() -> None:
    assert about.about_time(by_hand.made(THREE).here) == ()
    waits = about.about_time(OPENED["timed"].here)
    assert [c.line.text for c in waits] == ["advance 500ms", "advance 2s", "advance 9s"]
    assert all(c.reason is None for c in waits)


def test_every_verb_that_is_no_raw_request_has_a_button_or_is_an_operators_upgrade() -> None:
    offered_verbs = {c.line.verb for playback in OPENED.values() for c in _along(playback)}
    actions = {verb for verb, found in VERBS.items() if not found.header}
    typed = {"expect", "send", "upgrade", "race", "end-transaction", *NO_BUTTON}
    typed |= {"configure-brokers", "delete-topic", "remove-directory"}
    assert actions - offered_verbs == typed


def _along(playback: Playback) -> list[Offer]:
    choices = [choice for seen in by_hand.steps(playback) for choice in every_choice(seen.here)]
    cluster = playback.here.cluster
    keeper = "zookeeper" if has_zookeeper(cluster) else "controller"
    cut = by_hand.done(playback, f"cut {cluster.brokers[0].id} {keeper}")
    return [*choices, *every_choice(cut.here)]


def test_with_zookeeper_there_is_no_button_that_never_can_be_pressed() -> None:
    """What only KRaft has is not offered at all: a button that is greyed out comes to life."""
    choices = [c for playback in with_zookeeper() for c in _along(playback)]
    assert all(c.label and c.line.verb in VERBS for c in choices)
    # Whom it concerns may be said or not: "Cut off from leader 2".
    offers = {(c.label.rstrip(" 0123456789"), c.reason is None) for c in choices}
    assert {label for label, _ in offers} == {label for label, possible in offers if possible}


# --- the panel ------------------------------------------------------------------------------------


def at_inject(playback: Playback) -> Hands:
    return by_hand.at_panel(playback, Inject)


@pytest.mark.parametrize(
    ("before", "label", "line"),
    [
        ((), "Crash", "crash 2"),
        ((), "Expire", "expire 2"),
        (("crash 2",), "Start", "start 2"),
        (("crash 2", "expire 2", "start 2"), "Unfence", "unfence 2"),
        ((), "Fetch", "fetch 2"),
        ((), "Shut down", "shut-down 2"),
        (("crash 2", "expire 2", "start 2"), "Recover", "recover 2"),
        ((), "Heartbeat", "heartbeat 2"),
        ((), "Catch up", "catch-up 2"),
        ((), "Check lag", "check-lag 2"),
        ((), "Cut off from controller", "cut 2 controller"),
        ((), "Cut off from leader 1", "cut 2 1"),
        (("cut 2 controller",), "Heal link to controller", "heal 2 controller"),
    ],
)
def test_each_button_is_a_line_that_replays(before: tuple[str, ...], label: str, line: str) -> None:
    hands = at_inject(by_hand.made(THREE, *before))
    hands.panel.brokers[2].more.toggle.value = True
    by_hand.button(hands.panel.brokers[2], label).click()
    assert hands.lines == [line]
    assert hands.replayed()
    assert f"Last line of the play here: {line}" in hands.panel.written.value


@pytest.mark.parametrize("disk", ["kept", "tail-lost", "replaced"])
def test_a_crash_takes_what_was_chosen(disk: str) -> None:
    hands = at_inject(by_hand.made(THREE))
    hands.panel.disk.value = disk
    by_hand.button(hands.panel.brokers[3], "Crash").click()
    assert hands.lines == ["crash 3" + ("" if disk == "kept" else f" disk={disk}")]
    assert hands.replayed()


def test_controller_and_partitions_have_buttons() -> None:
    hands = at_inject(by_hand.made(SIX))
    by_hand.button(hands.panel.controller, "Fail over").click()
    assert list(hands.panel.partitions) == ["orders-0", "orders-1", "orders-2"]
    by_hand.button(hands.panel.partitions["orders-1"].main, "Elect preferred").click()
    by_hand.button(hands.panel.partitions["orders-2"].main, "Elect unclean").click()
    assert hands.lines == ["fail-over", "elect orders-1", "elect orders-2 unclean=yes"]
    assert hands.replayed()


def test_a_partitions_drawer_switches_its_topics_setting_and_says_who_reads_it() -> None:
    hands = at_inject(by_hand.made(f"kafka 3.8\n{THREE}"))
    drawer = hands.panel.partitions["orders-0"]
    drawer.more.toggle.value = True
    on = by_hand.button(drawer.others, "unclean.leader.election.enable=true")
    assert "does not read it (KAFKA-12670)" in on.tooltip
    on.click()
    by_hand.button(drawer.others, "unclean.leader.election.enable=false").click()
    assert hands.lines == [
        "configure orders unclean-leader-election=yes",
        "configure orders unclean-leader-election=no",
    ]
    assert hands.replayed()
    later = at_inject(by_hand.made(f"kafka 3.9\n{THREE}")).panel.partitions["orders-0"]
    later.more.toggle.value = True
    said = by_hand.button(later.others, "unclean.leader.election.enable=true").tooltip
    assert "reads it at its next election, within 300 s" in said


def test_the_end_of_a_recovery_is_offered_only_where_something_recovers() -> None:
    hands = at_inject(open_playback(load("unclean-election")))
    drawer = hands.panel.partitions["orders-0"]
    drawer.more.toggle.value = True
    finish = by_hand.button(drawer.others, "Finish recovery")
    assert finish.disabled
    assert "does not recover orders-0: no release of Kafka recovers anything" in finish.tooltip
    hands.playback = OPENED["recovering"]
    hands.seek(hands.playback.last)
    assert not finish.disabled
    finish.click()
    assert hands.lines == ["finish-recovery orders-0"]
    assert "RECOVERING" not in str(truth(hands.playback.here.cluster).partitions)


def test_a_client_writes_to_a_partition_of_choice() -> None:
    hands = at_inject(by_hand.made(SIX))
    clients = hands.panel.clients
    clients.partition.value, clients.count.value, clients.acks.value = "orders-1", 4, "1"
    by_hand.button(clients.actions, "Produce").click()
    clients.to.value = BrokerId(2)
    by_hand.button(clients.actions, "Produce").click()
    assert hands.lines == [
        "produce orders-1 count=4 acks=1",
        "produce orders-1 count=4 to=2 acks=1",
    ]
    assert hands.replayed()


def test_a_stale_leader_that_is_gone_is_no_choice_any_more() -> None:
    hands = at_inject(by_hand.made(THREE, "cut 1 controller", "expire 1"))
    to = hands.panel.clients.to
    assert [label for label, _ in to.options] == ["the leader", "broker 1", "broker 2"]
    to.value = BrokerId(1)
    by_hand.button(hands.panel.brokers[1], "Crash").click()
    assert [label for label, _ in to.options] == ["the leader", "broker 2"]
    assert to.value == NO_LEADER


def test_a_consumer_polls_asks_who_leads_and_goes_elsewhere() -> None:
    hands = at_inject(by_hand.made(THREE))
    clients = hands.panel.clients
    assert "has read nothing yet" in clients.state.value
    assert by_hand.button(clients.reads, "Reset to latest").disabled
    for label in ("Poll", "Reset to latest", "Reset to earliest", "Refresh metadata"):
        by_hand.button(clients.reads, label).click()
    assert hands.lines == [
        "poll orders-0",
        "reset orders-0 to=latest",
        "reset orders-0 to=earliest",
        "refresh",
    ]
    assert "next offset 0, from broker 1" in clients.state.value
    assert hands.replayed()


def test_with_several_consumers_one_chooses_who_reads() -> None:
    hands = at_inject(by_hand.made(THREE + "consumer orders-0 name=billing\n"))
    clients = hands.panel.clients
    assert [label for label, _ in clients.consumer.options] == ["billing", "consumer"]
    by_hand.button(clients.reads, "Poll").click()
    clients.consumer.value = "consumer"
    by_hand.button(clients.reads, "Poll").click()
    assert hands.lines == ["poll orders-0 consumer=billing", "poll orders-0"]
    state = about.reading(hands.playback.here.cluster, "billing", "orders-0")
    assert state.startswith("next offset 10")


def test_what_is_impossible_is_disabled_and_can_be_read_as_text() -> None:
    hands = at_inject(by_hand.made(THREE, "crash 2"))
    crash = by_hand.button(hands.panel.brokers[2], "Crash")
    assert crash.disabled
    assert crash.tooltip == "Not now: broker 2 is down"
    reasons = hands.panel.reasons
    assert reasons.text.value == ""
    reasons.toggle.value = True
    assert "Crash, Fetch, Shut down, Heartbeat, Catch up" in reasons.text.value.replace(
        "Unfence, ", ""
    ).replace("Recover, ", "")
    assert "broker 2 is down" in reasons.text.value
    hands.do("start 2")
    assert "broker 2 is down" not in reasons.text.value


def test_a_closed_drawer_costs_nothing_and_an_open_one_follows() -> None:
    hands = at_inject(by_hand.made(THREE))
    row = hands.panel.brokers[2]
    assert row.others.buttons == []
    row.more.toggle.value = True
    assert not by_hand.button(row.others, "Heartbeat").disabled
    hands.do("crash 2")
    assert by_hand.button(row.others, "Heartbeat").disabled


def test_a_line_of_ones_own_is_done() -> None:
    hands = at_inject(by_hand.made(THREE))
    hands.panel.line.value = "flush 1"
    hands.panel.do.click()
    assert hands.lines == ["flush 1"]
