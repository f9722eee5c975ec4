"""Several partitions: one is followed, the others keep to thin rows of their own."""

from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.strips import other_rows
from kiplab.figures.timeline.whole_runs import timeline
from tests.figures.boxes import texts, words
from tests.figures.small_plays import cards, play, shapes

BROKERS = "broker 1 epoch=40\nbroker 2 epoch=41\nbroker 3 epoch=42\n"
TOPICS = """\
topic orders replicas=1,2,3 isr=1,3 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
topic bills replicas=2,3,1 leader=2 leader-epoch=3 partition-epoch=4 log=10@3
topic notes replicas=3,1 isr=3 leader=3 leader-epoch=1 partition-epoch=2 log=5@1
"""
LINES = (
    "hold alter-partition from=1\ncatch-up 2\ncrash 3\nexpire 3\n"
    "deliver alter-partition from=1\ncrash 2 disk=replaced\nexpire 2\nstart 3\nunfence 3\n"
)
THREE = BROKERS + TOPICS + LINES
SEVEN = (
    BROKERS
    + TOPICS
    + "".join(f"topic more{n} replicas=1,2 isr=1 leader=1 log=3@0\n" for n in range(4))
    + LINES
)


def test_a_row_tells_leader_and_isr_of_another_partition_as_they_change() -> None:
    bills, notes = other_rows(play(THREE), "orders-0")
    assert [(r.x0, r.x1, r.texts[0]) for r in bills.readings] == [
        (0, 3, "★ 2 · ISR {2, 3, 1}"),
        (3, 6, "★ 2 · ISR {2, 1}"),
        (6, 9, "★ 1 · ISR {1}"),
    ]
    assert [(r.x0, r.x1, r.state, r.texts[0]) for r in notes.readings] == [
        (0, 3, "safe", "★ 3 · ISR {3}"),
        (3, 8, "offline", "○ no leader · ISR {3}"),
        (8, 9, "safe", "★ 3 · ISR {3}"),
    ]


def test_rows_are_thin_and_below_the_records() -> None:
    three, one = play(THREE), play(BROKERS + TOPICS.splitlines()[0] + "\n" + LINES)
    grown = timeline(three, legend=False, partition="orders-0").layout.height
    assert 0 < grown - timeline(one, legend=False).layout.height <= 2 * 20 + 10
    said = texts(timeline(three, partition="orders-0"))
    assert said.index("bills-0") > said.index("committed records")


def test_trouble_has_a_glyph_and_words_beside_its_colour() -> None:
    loss = (
        BROKERS
        + "topic a replicas=1,2 log=5@0\n"
        + "topic b replicas=2,3 isr=2 leader=2 log=5@0\n"
        + "crash 2 disk=replaced\nexpire 2\nstart 2\nunfence 2\n"
    )
    rows = play(loss)
    (b,) = other_rows(rows, "a-0")
    assert b.readings[-1].texts[0] == "▼ lost · ★ 2 · ISR {2}"
    figure = timeline(rows, partition="a-0", legend=False)
    assert shapes(figure, fillcolor=LIGHT.lost, x1=5)
    assert any(word.text.startswith("▼ lost") for word in words(figure))


def test_more_than_three_partitions_share_one_row() -> None:
    *single, rest = other_rows(play(SEVEN), "orders-0")
    assert [other.name for other in single] == ["bills-0", "notes-0"]
    assert (rest.name, len(rest.partitions)) == ("and 4 more", 4)
    assert [r.texts[0] for r in rest.readings] == ["● all safe"]


def test_those_with_trouble_keep_a_row_of_their_own() -> None:
    names = [other.name for other in other_rows(play(SEVEN), "bills-0")]
    assert "notes-0" in names[:2], "it was offline for a while"


def test_nothing_of_another_partition_is_drawn_in_the_lanes() -> None:
    rows = play(THREE)
    followed, other = (timeline(rows, partition=p, legend=False) for p in ("orders-0", "notes-0"))
    (request,) = [m for m in rows.messages if m.is_telling]
    assert request.partition == "orders-0"
    assert any("AlterPartition" in word.text for word in words(followed))
    assert not any("AlterPartition" in word.text for word in words(other))
    assert not any("proposed" in word.text or "caught up" in word.text for word in words(other))
    assert not any("AlterPartition" in card for card in cards(other) if "→" in card)
    assert not shapes(other, type="circle", line_color=LIGHT.refused)


def test_a_band_says_the_role_in_the_partition_that_is_followed() -> None:
    rows = play(THREE)
    for partition, leader in (("orders-0", 1), ("bills-0", 2), ("notes-0", 3)):
        figure = timeline(rows, partition=partition, legend=False)
        (card,) = {c for c in cards(figure) if f"broker {leader}, at 0" in c}
        assert "leader · in ISR" in card
        assert card.count("log ends at offset") == 1


def test_a_request_about_two_partitions_belongs_to_both() -> None:
    both = (
        "broker 1 epoch=40\nbroker 2 epoch=41\n"
        "topic a replicas=1,2 isr=1 leader=1 log=5@0\ntopic b replicas=1,2 isr=1 leader=1 log=5@0\n"
        "topic c replicas=1,2 isr=1 leader=1 log=5@0\n"
        "hold alter-partition from=1\ncatch-up 2\ndeliver alter-partition from=1\n"
        "deliver alter-partition from=1\n"
    )
    rows = play(both)
    labels = {m.label: m.partition for m in rows.messages if m.kind == "alter-partition"}
    several = [label for label, partition in labels.items() if not partition]
    assert several == ["AlterPartition v3 · 2 partitions · add 2 as epoch 41"]
