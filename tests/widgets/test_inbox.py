"""Messages in flight: in which order they are taken, what can be done to each, what is held."""

import pytest

from kiplab.engine.channels import blocker
from kiplab.engine.cluster import Cluster, Message
from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.protocol.ids import CONTROLLER, BrokerId
from kiplab.widgets.controls import inflight
from kiplab.widgets.controls.cluster_offers import hold, holds_in_words, let_flow, standing_holds
from kiplab.widgets.controls.inflight import InFlight
from kiplab.widgets.history_tree.playback import Playback, act, open_playback, seek
from tests.widgets.hands import SIX, THREE, Hands, at_panel, button, done, html, made

TWO, THREE_ = BrokerId(2), BrokerId(3)


@pytest.fixture
def crowded() -> Playback:
    """Two heartbeats of broker 2, one of broker 3, and a fetch of each, all waiting."""
    lines = ("heartbeat 2", "heartbeat 2", "heartbeat 3", "fetch 2", "fetch 3")
    return made("manual\n" + THREE, *lines)


def names(cluster: Cluster, order: inflight.InboxOrder) -> list[str]:
    """Who is next, shortly: kind and sender."""
    return [f"{m.name.kind[:11]}{m.name.sender}" for m in inflight.arranged(cluster, order)]


def message(playback: Playback, place: int) -> Message:
    """The message that was sent as number `place`, from 0."""
    return playback.here.cluster.messages[place]


# --- the order ------------------------------------------------------------------------------------


def test_by_itself_it_is_the_order_of_sending(crowded: Playback) -> None:
    cluster = crowded.here.cluster
    assert inflight.arranged(cluster, ()) == cluster.messages


def test_a_message_of_another_connection_can_go_first(crowded: Playback) -> None:
    cluster, third = crowded.here.cluster, message(crowded, 2)
    order = inflight.moved(cluster, (), third.name, -1)
    assert [m.name for m in inflight.arranged(cluster, order)][1] == third.name
    assert inflight.moved(cluster, order, third.name, 1) == tuple(m.name for m in cluster.messages)


def test_on_one_connection_nobody_overtakes(crowded: Playback) -> None:
    cluster = crowded.here.cluster
    first, second = message(crowded, 0).name, message(crowded, 1).name
    assert inflight.why_not_moved(cluster, cluster.messages, second, -1) == (
        "an earlier message on the same connection must arrive first:"
        " broker-heartbeat #1 from broker 2"
    )
    assert inflight.why_not_moved(cluster, cluster.messages, first, 1) == (
        "broker-heartbeat #2 from broker 2 follows it on the same connection,"
        " and cannot overtake it"
    )
    assert inflight.moved(cluster, (), second, -1) == ()


def test_the_ends_of_the_order_are_ends(crowded: Playback) -> None:
    cluster = crowded.here.cluster
    first, last = message(crowded, 0).name, message(crowded, 4).name
    assert (
        inflight.why_not_moved(cluster, cluster.messages, first, -1) == "it is the next one already"
    )
    assert (
        inflight.why_not_moved(cluster, cluster.messages, last, 1) == "it is the last one already"
    )


def test_what_is_sent_later_comes_after(crowded: Playback) -> None:
    last = message(crowded, 4).name
    order = inflight.moved(crowded.here.cluster, (), last, -1)
    more = done(crowded, "heartbeat 1")
    inbox = [m.name for m in inflight.arranged(more.here.cluster, order)]
    assert inbox[3] == last
    assert inbox[-1].sender == 1
    line = inflight.next_up(more.here.cluster, inflight.arranged(more.here.cluster, order)).line
    assert len(inflight.arranged(act(more, line).here.cluster, order)) == len(inbox)


def test_seen_from_another_step_the_order_never_breaks_a_connection(crowded: Playback) -> None:
    order = tuple(reversed([m.name for m in crowded.here.cluster.messages]))
    for step in range(crowded.last + 1):
        cluster = seek(crowded, step).here.cluster
        inbox = inflight.arranged(cluster, order)
        assert set(inbox) == set(cluster.messages)
        for place, one in enumerate(inbox):
            ahead = blocker(cluster, one)
            assert ahead is None or inbox.index(ahead) < place


def test_deliver_next_takes_the_first_that_can_arrive(crowded: Playback) -> None:
    cluster, third = crowded.here.cluster, message(crowded, 2)
    order = inflight.moved(cluster, inflight.moved(cluster, (), third.name, -1), third.name, -1)
    choice = inflight.next_up(cluster, inflight.arranged(cluster, order))
    assert (choice.label, choice.reason) == ("Deliver next", None)
    assert choice.line.text == "deliver broker-heartbeat from=3"
    assert third not in act(crowded, choice.line).here.cluster.messages


def test_deliver_next_passes_over_a_link_that_is_cut(crowded: Playback) -> None:
    cut = done(crowded, "cut 2 controller")
    assert (
        inflight.next_up(cut.here.cluster, cut.here.cluster.messages).line.text
        == "deliver broker-heartbeat from=3"
    )


def test_with_nothing_on_the_way_there_is_no_next() -> None:
    assert inflight.next_up(made(THREE).here.cluster, ()).reason == "nothing is on its way"


# --- holding back ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sender", "line"),
    [
        ("fetch", None, "hold fetch"),
        ("fetch", TWO, "hold fetch from=2"),
        ("alter-partition-reply", CONTROLLER, "hold alter-partition-reply from=controller"),
    ],
)
def test_hold_and_release_are_lines(kind: str, sender: BrokerId | None, line: str) -> None:
    playback = made(THREE)
    choice = hold(playback.here, kind, sender)
    assert (choice.line.text, choice.reason) == (line, None)
    held = act(playback, choice.line)
    assert hold(held.here, kind, sender).reason == "it is held back already"
    free = let_flow(held.here, kind, sender)
    assert (free.line.text, free.reason) == (line.replace("hold", "release"), None)
    assert standing_holds(act(held, free.line).here) == ()


def test_what_is_not_held_cannot_be_let_flow() -> None:
    playback = made(THREE, "hold fetch from=2")
    assert let_flow(playback.here, "fetch", THREE_).reason == "nothing of that kind is held back"
    assert let_flow(playback.here, "fetch", None).reason is None
    assert hold(playback.here, "fetch", None).reason is None


def test_what_waits_arrives_when_it_is_let_flow() -> None:
    playback = made(THREE, "hold fetch", "fetch 2")
    assert len(playback.here.cluster.messages) == 1
    assert act(playback, let_flow(playback.here, "fetch", None).line).here.cluster.messages == ()


def test_in_a_manual_play_everything_is_held_anyway() -> None:
    reason = hold(made("manual\n" + THREE).here, "fetch", None).reason
    assert reason == "in this play every message waits until it is delivered"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), ""),
        (("hold fetch",), "Held back from now on: fetch."),
        (
            ("hold fetch", "release fetch from=2"),
            "Held back from now on: fetch, but not fetch from broker 2.",
        ),
        (("hold fetch from=2", "hold fetch"), "Held back from now on: fetch."),
        (("hold fetch from=2", "release fetch"), ""),
        (("release fetch",), ""),
    ],
)
def test_what_is_held_is_said_in_words(lines: tuple[str, ...], words: str) -> None:
    assert holds_in_words(made(THREE, *lines).here) == words


# --- the panel ------------------------------------------------------------------------------------


def at_inbox(playback: Playback) -> Hands:
    return at_panel(playback, InFlight)


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("Deliver", "deliver alter-partition from=1"),
        ("Drop", "drop alter-partition from=1"),
        ("Duplicate", "duplicate alter-partition from=1"),
        ("Time out", "time-out alter-partition from=1"),
        ("Lose reply", "lose-reply alter-partition from=1"),
    ],
)
def test_each_button_writes_its_line_and_the_line_replays(label: str, line: str) -> None:
    hands = at_inbox(seek(open_playback(load("kafka-14139")), 3))
    (row,) = hands.panel.rows
    row.more.toggle.value = True
    name = row.name
    button(row, label).click()
    assert hands.lines == [line]
    left = [message.name for message in hands.playback.here.cluster.messages]
    assert (name in left) is (label == "Duplicate")
    assert hands.replayed()


def test_a_button_is_disabled_exactly_where_its_choice_has_a_reason(crowded: Playback) -> None:
    hands = at_inbox(done(crowded, "deliver fetch from=2"))
    disabled = 0
    for row in hands.panel.rows:
        row.more.toggle.value = True
        for choice in row.offers:
            shown = row.main if choice in row.main.offers else row.others
            made = button(shown, choice.label)
            assert made.disabled is (choice.reason is not None)
            assert choice.reason is None or made.tooltip == f"Not now: {choice.reason}"
            disabled += made.disabled
    assert disabled


def test_earlier_and_later_change_the_order_and_deliver_nothing(crowded: Playback) -> None:
    hands = at_inbox(crowded)
    inbox = hands.panel
    assert inbox.rows[1].earlier.disabled
    assert "must arrive first" in inbox.rows[1].earlier.tooltip
    inbox.rows[2].earlier.click()
    inbox.rows[1].earlier.click()
    assert hands.playback is crowded
    assert names(crowded.here.cluster, inbox.order)[0] == "broker-hear3"
    assert "1. broker 3 → controller" in inbox.rows[0].state.value
    button(inbox.next, "Deliver next").click()
    assert hands.lines == ["deliver broker-heartbeat from=3"]
    assert hands.replayed()
    inbox.rows[1].later.click()
    assert names(hands.playback.here.cluster, inbox.order)[1] != "broker-hear2"


def test_a_hold_by_hand_keeps_what_is_sent_next() -> None:
    hands = at_inbox(made(THREE))
    holds = hands.panel.holds
    assert button(holds.actions, "Let it flow").disabled
    holds.kind.value, holds.sender.value = "fetch", TWO
    button(holds.actions, "Hold back").click()
    assert "Held back from now on: fetch from broker 2." in holds.standing.value
    hands.do("fetch 2")
    assert "On the way: 1 message<" in hands.panel.title.value
    button(holds.actions, "Let it flow").click()
    assert "Nothing is on the way" in hands.panel.title.value
    assert hands.lines == ["hold fetch from=2", "fetch 2", "release fetch from=2"]
    assert hands.replayed()


def test_of_very_many_messages_only_the_number_is_told_and_a_kind_can_be_chosen() -> None:
    lines = [f"heartbeat {n % 6 + 1}" for n in range(inflight.SHOWN_MAX + 2)]
    hands = at_inbox(made("manual\n" + SIX, *lines, "fetch 2"))
    inbox = hands.panel
    assert len(inbox.rows) == inflight.SHOWN_MAX
    assert inbox.more.value.endswith("and 3 more</span>")
    inbox.kind.value = "fetch"
    assert inbox.more not in inbox.box.children
    assert "Fetch v" in inbox.rows[0].state.value
    assert inbox.list.children == (inbox.rows[0].box,)
    button(inbox.rows[0].main, "Deliver").click()
    assert hands.lines == ["deliver fetch from=2"]


def test_a_kind_that_is_gone_shows_every_kind_again() -> None:
    hands = at_inbox(made("manual\n" + THREE, "fetch 2", "heartbeat 3"))
    hands.panel.kind.value = "fetch"
    hands.do("drop fetch from=2")
    assert hands.panel.kind.value == inflight.EVERY_KIND
    assert len(hands.panel.list.children) == 1


def test_what_is_impossible_can_be_read_as_text(crowded: Playback) -> None:
    hands = at_inbox(crowded)
    reasons = hands.panel.reasons
    assert reasons.text.value == ""
    reasons.toggle.value = True
    said = reasons.text.value
    assert "broker-heartbeat #2 from broker 2</b>" in said
    assert "Earlier: an earlier message on the same connection must arrive first" in said
    assert "Hold back: in this play every message waits" in said
    hands.act(Statement("drop", ("broker-heartbeat",), (("from", "2"),)))
    assert "must arrive first" not in reasons.text.value


def test_rows_and_buttons_are_used_again(crowded: Playback) -> None:
    hands = at_inbox(crowded)
    rows = list(hands.panel.rows)
    buttons = [button for row in rows for button in row.main.buttons]
    hands.seek(0)
    assert hands.panel.list.children == ()
    hands.seek(crowded.last)
    assert hands.panel.rows == rows
    assert [b for row in hands.panel.rows for b in row.main.buttons] == buttons


def test_what_a_message_says_is_shown(crowded: Playback) -> None:
    assert "BrokerHeartbeat as epoch" in html(at_inbox(crowded).panel.box)


@pytest.mark.parametrize(
    ("play", "offered", "missing"),
    [
        ("kafka-14139", "metadata", "leader-and-isr"),
        ("380-session-expiry", "leader-and-isr", "metadata"),
        ("380-session-expiry", "watcher-event", "metadata-heartbeat"),
        ("343-legacy-brokers", "metadata-heartbeat", "broker-heartbeat-reply"),
    ],
)
def test_what_no_node_sends_is_not_offered(play: str, offered: str, missing: str) -> None:
    kinds = kinds_offered(open_playback(load(play)))
    assert offered in kinds
    assert missing not in kinds


@pytest.mark.parametrize("play", ["kafka-14139", "380-stale-stop-replica"])
def test_what_is_sent_in_a_play_can_be_held_back(play: str) -> None:
    playback = open_playback(load(play))
    sent = {m.name.kind for stop in playback.frames for m in stop.stage.cluster.messages}
    assert sent
    assert sent <= kinds_offered(playback)


def kinds_offered(playback: Playback) -> set[str]:
    return {kind for _, kind in InFlight(Hands(playback)).holds.kind.options}
