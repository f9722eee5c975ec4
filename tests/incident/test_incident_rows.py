"""The rows of a partition of a metadata log: moments, lanes, what is not known, findings."""

from collections.abc import Sequence

from kiplab.figures.timeline.whole_runs import timeline_drawing
from kiplab.incident.history_words import stories
from kiplab.incident.log_items import LogItem, Remark
from kiplab.rows.columns import FINDINGS, UNKNOWN, Rows
from tests.incident.other_life import history, log, rows
from tests.incident.test_findings import ELR, OTHER_LIFE, V3_4_AT_3_5, V4_1

ROWS = rows()
PARTITION = "orders-1"


def track(lane: str, name: str, of: Rows = ROWS) -> list[tuple[str, str, str]]:
    """(from, to, what) by the offsets between which each lasts."""
    spans = of.tracks.get((lane, name), ())
    return [(of.meta.number(s.x0), of.meta.number(s.x1), s.text) for s in spans]


def of_log(items: Sequence[LogItem], name: str = PARTITION) -> Rows:
    (told,) = stories(history(items), [name])
    return told.rows


def test_moments_are_the_records_that_touch_it_called_by_their_offsets() -> None:
    numbers = ["before", *["15", "23", "24", "32", "34", "54", "55", "60", "61", "62"], "after"]
    assert list(ROWS.meta.numbers) == numbers
    assert [m.label for m in ROWS.moments][4:8] == [
        "16:49:49.3 broker 2 shutting down",
        "leader 1, ISR {1}",
        "16:50:10.3 leader none",
        "broker 1 fenced",
    ]
    assert not ROWS.messages
    assert not ROWS.logs
    assert not ROWS.meta.verdict


def test_the_lanes_of_the_partition_end_as_the_specification_says() -> None:
    leader_epochs = [text for *_, text in track("partition", "leader epoch")]
    assert leader_epochs == ["0", "1", "2", "3 · no leader", "4"]
    assert track("partition", "partition epoch")[-1] == ("62", "after", "4")
    assert track("partition", "ISR") == [
        ("15", "23", "{2, 3, 1}"),
        ("23", "34", "{2, 1}"),
        ("34", "after", "{1}"),
    ]


def test_a_brokers_lane_has_its_incarnations_fences_and_role() -> None:
    assert track("broker 1", "uptime") == [
        ("before", "60", "broker epoch 3"),
        ("60", "after", "broker epoch 60"),
    ]
    assert track("broker 1", "fenced") == [("55", "61", "fenced")]
    assert [text for *_, text in track("broker 1", "role")] == [
        *("in ISR", "leader · in ISR", "in ISR", "leader · in ISR"),
    ]
    assert track("broker 2", "shutting down") == [("32", "after", "shutting down")]
    (gate,) = ROWS.gates("broker 1")
    assert ROWS.meta.number(gate.x1) == "61"


def test_the_controllers_lane_has_its_epoch_and_the_metadata_version() -> None:
    said = "controller epoch 1 · metadata version 3.4-IV0"
    assert track("controller", "controller epoch") == [("before", "after", said)]


def test_what_no_record_tells_is_hatched() -> None:
    assert track("world", UNKNOWN) == [("after", "after", "the log ends here")]
    cut = of_log(log(OTHER_LIFE), "T-1")
    assert track("broker 1", UNKNOWN, cut) == [("before", "55", "not known")]
    assert track("broker 2", UNKNOWN, cut) == [("before", "32", "not known")]
    assert track("partition", UNKNOWN, cut) == []


def test_a_gap_has_a_moment_and_nothing_is_known_behind_it() -> None:
    gap = Remark("gap", "records are missing", "a.log", offset=35, until=54)
    items = log(V3_4_AT_3_5 + OTHER_LIFE)
    place = next(n for n, record in enumerate(items) if record.offset == 54)
    of = of_log([*items[:place], gap, *items[place:]])
    assert track("world", UNKNOWN, of)[0] == ("…", "55", "offsets 35–53 are missing")
    assert track("partition", UNKNOWN, of) == [("…", "after", "not known")]
    assert track("broker 2", UNKNOWN, of) == [("…", "after", "not known")]
    assert track("broker 1", "uptime", of)[-1] == ("60", "after", "broker epoch 60")


def test_a_silence_of_the_controllers_has_a_moment() -> None:
    idle = "30 11.6 idle\n31 12.0 idle\n32 30.0 idle\n33 30.0"
    of = of_log(log(V3_4_AT_3_5 + OTHER_LIFE.replace("32 16.0", idle)))
    assert ("…", "32", "silent 18.0 s") in track("controller", UNKNOWN, of)


def test_findings_are_marks_with_their_numbers_and_sentences() -> None:
    marks = {ROWS.meta.number(m.x): m for m in ROWS.marks if m.lane == FINDINGS}
    assert {*marks} == {"23", "54", "62"}
    assert marks["62"].text.startswith("2 other-life: Broker 1 was elected cleanly at 62")
    assert marks["62"].event == f"{marks['62'].x}.f2"


def test_eligible_leader_replicas_have_their_tracks() -> None:
    changes = "16 3 new p0 replicas=1,2 isr=1,2 leader=1\n20 4 change p0 isr=1 "
    of = of_log(log(V4_1 + changes + "eligibleLeaderReplicas=2\n"), "orders-0")
    assert ELR in V4_1
    assert track("partition", "ELR", of) == [("20", "after", "{2}")]
    assert track("broker 2", "role", of)[-1][2] == "out of the ISR, in the ELR"


def test_a_long_story_is_cut_around_its_gravest_finding() -> None:
    flaps = "".join(
        f"{n} {n} change p1 isr={'2,3,1' if n % 2 else '2,1'}\n" for n in range(100, 500)
    )
    of = of_log(log(V3_4_AT_3_5 + OTHER_LIFE + flaps))
    assert len(of.moments) == 122
    assert "62" in of.meta.numbers
    assert track("world", UNKNOWN, of)[-1][2] == "later records are not shown"


def test_the_picture_has_no_verdict_no_records_and_no_arrows() -> None:
    drawing = timeline_drawing(ROWS)
    words = [text for trace in drawing["data"] for text in trace["text"]]
    assert "<b>62</b>" in words
    assert "<b>before</b>" not in words
    assert not any("committed records" in text for text in words)
    assert not any(trace["name"] == "verdict" for trace in drawing["data"])
    about = {id for mark in drawing["layout"]["meta"]["marks"] for id in mark[0].split()}
    assert {mark.event for mark in ROWS.marks} <= about
