"""Clients by hand: a producer that is told, a consumer that one watches, what of theirs is gone.

The last test is the whole exercise: one record is lost on purpose, and found.
"""

import pytest

from kiplab.widgets.controls.inject import ClientsPanel, Inject, producer_in_words, reader_in_words
from kiplab.widgets.history_tree.playback import Playback, seek
from tests.widgets.hands import THREE, Hands, at_panel, button, made, opened, text

TWO_LOGS = """
kafka 3.5
broker 1
broker 2
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 log=100@5
"""


def watching(playback: Playback) -> tuple[Hands, ClientsPanel]:
    """Somebody who watches the clients."""
    hands = at_panel(playback, Inject)
    clients: ClientsPanel = hands.panel.clients
    clients.watched.toggle.value = True
    return hands, clients


def test_what_nobody_watches_is_not_worked_out() -> None:
    hands, clients = watching(made(THREE))
    clients.watched.toggle.value = False
    before = clients.written.value
    clients.offers[-2]
    hands.do("produce orders-0 producer=producer")
    assert clients.written.value == before
    clients.watched.toggle.value = True
    assert "acknowledged" in clients.written.value


def test_a_client_that_has_done_nothing_says_so() -> None:
    _hands, clients = watching(made(THREE))
    assert "has sent nothing yet" in text(clients.written.value)
    assert "has read nothing yet" in text(clients.read.value)


def test_send_writes_the_records_with_the_acks_that_were_chosen() -> None:
    hands, clients = watching(made(THREE))
    clients.count.value, clients.acks.value = 3, "1"
    button(clients.writes, "Send").click()
    assert hands.lines == ["produce orders-0 count=3 producer=producer acks=1"]
    told = text(clients.written.value)
    assert "acknowledged offsets 10–12 in leader epoch 0, acks=1" in told
    assert "waits nothing" in told
    assert hands.replayed()


def test_what_is_not_acknowledged_waits_and_is_sent_again() -> None:
    hands, clients = watching(made(THREE))
    again = button(clients.writes, "Send again")
    assert again.disabled
    clients.count.value = 2
    button(clients.writes, "Send").click()
    told = text(clients.written.value)
    assert "offsets 10–11 in the log of broker 1, not acknowledged yet, acks=all" in told
    for line in ("crash 1", "expire 1"):
        hands.do(line)
    assert "2 records, not written anywhere yet, acks=all" in text(clients.written.value)
    assert "it will ask who leads before it sends" in text(clients.written.value)
    again.click()
    assert hands.lines[-1] == "resend producer"
    assert "writes to broker 2, in leader epoch 1" in text(clients.written.value)


def test_a_consumer_says_what_it_has_read_by_leader_epoch() -> None:
    _hands, clients = watching(seek(opened("consumer-truncation"), 1))
    clients.consumer.value = "consumer"
    told = text(clients.read.value)
    assert "reads from broker 1, in leader epoch 5" in told
    assert "position offset 100, leader epoch 5 of the last record" in told
    read = "offsets 0–79 in leader epoch 4 offsets 80–99 in leader epoch 5"
    assert f"has read {read}" in told
    assert "lacks" not in told


def test_what_was_read_and_is_gone_is_said_with_whose_log_still_has_it() -> None:
    playback = opened("consumer-truncation")
    gone = reader_in_words(seek(playback, 5).here, "consumer", "orders-0")[-1]
    assert gone.lost
    assert gone.name == "leader 2 lacks"
    records = "offsets 80–99 in leader epoch 5"
    assert gone.lines == (f"{records}, still in the log of broker 1, which is down",)
    _hands, clients = watching(seek(playback, 5))
    assert '<div class="kiplab-lost"><dt>▼ leader 2 lacks' in clients.read.value


def test_without_a_leader_nobody_says_what_is_gone() -> None:
    playback = opened("consumer-truncation")
    known = reader_in_words(seek(playback, 4).here, "consumer", "orders-0")
    assert not any(held.lost for held in known)


def test_who_writes_is_chosen_and_who_is_not_there_yet_gives_way() -> None:
    hands, clients = watching(opened("producer-lost-acknowledged"))
    assert clients.producer.value == "producer"
    hands.seek(hands.playback.last)
    assert [label for label, _ in clients.producer.options] == ["fast", "safe", "producer"]
    assert clients.producer.value == "fast"
    assert "offsets 10–11 in leader epoch 4, acks=1" in text(clients.written.value)
    clients.producer.value = "safe"
    assert "offsets 10–12 in leader epoch 5, acks=all" in text(clients.written.value)


def test_names_are_escaped() -> None:
    _hands, clients = watching(made(THREE + "consumer orders-0 name=a-b\n"))
    assert "a-b" in clients.read.value


@pytest.mark.parametrize("acks", ["1", "all"])
def test_one_record_is_lost_on_purpose_and_found(acks: str) -> None:
    """Who was told, who has read it, which offset, which leader epoch, and whose log has it."""
    hands, clients = watching(made(TWO_LOGS))
    panel = hands.panel
    if acks == "all":
        for label in ("Crash", "Expire"):
            button(panel.brokers[2], label).click()
    clients.count.value, clients.acks.value = 1, acks
    button(clients.writes, "Send").click()
    button(clients.reads, "Poll").click()
    button(panel.brokers[1], "Crash").click()
    button(panel.brokers[1], "Expire").click()
    if acks == "all":
        button(panel.brokers[2], "Start").click()
        button(panel.brokers[2], "Unfence").click()
        button(panel.partitions["orders-0"].main, "Elect unclean").click()
    broken = {id for id, _ in hands.playback.here.cluster.broken}
    epoch = 6 if acks == "all" else 5
    lost = f"offset 100 in leader epoch {epoch}, still in the log of broker 1, which is down"
    written = producer_in_words(hands.playback.here, "producer", "orders-0")[-1]
    assert (written.lost, written.lines) == (True, (lost,))
    assert ("acknowledged-records-stay" in broken) is (acks == "all")
    read = reader_in_words(hands.playback.here, "consumer", "orders-0")[-1]
    assert read.lost is (acks == "all")
    assert hands.replayed()
