"""Rows of KAFKA-14139: what a picture of it may say."""

from msgspec.structs import asdict

from kiplab.plays.grammar import parse
from kiplab.plays.runner import open_stage, run_play
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import TABLES, frames, rows_of


def steps(rows: Rows, lane: str, track: str) -> list[tuple[int, int, str]]:
    return [(s.x0, s.x1, s.value) for s in rows.tracks[lane, track]]


def test_partition_strips_step_where_the_controller_writes(lossy: Rows, saved: Rows) -> None:
    assert steps(lossy, "partition", "leader epoch") == [(0, 8, "5"), (8, 12, "6")]
    assert steps(lossy, "partition", "partition epoch") == [
        (0, 6, "10"),
        (6, 8, "11"),
        (8, 12, "12"),
    ]
    assert steps(lossy, "partition", "ISR") == [(0, 6, "{1}"), (6, 8, "{1, 2}"), (8, 12, "{2}")]
    assert steps(saved, "partition", "ISR") == [(0, 12, "{1}")]


def test_a_partition_without_a_leader_says_so(saved: Rows) -> None:
    texts = [s.text for s in saved.spans if s.track == "leader epoch"]
    assert texts == ["5", "6 · no leader", "7"]


def test_a_broker_has_a_tile_per_incarnation(lossy: Rows) -> None:
    assert steps(lossy, "broker 2", "uptime") == [(0, 2, "41"), (4, 12, "57")]
    assert steps(lossy, "broker 2", "down") == [(2, 4, "disk replaced")]
    assert steps(lossy, "broker 1", "down") == [(7, 9, "crashed")]
    assert steps(lossy, "broker 2", "fenced") == [(4, 5, "yes")]


def test_roles_follow_the_committed_state_and_a_proposal_dies_with_its_process(lossy: Rows) -> None:
    assert steps(lossy, "broker 2", "role") == [
        (0, 1, "out"),
        (1, 2, "proposed"),
        (4, 6, "out"),
        (6, 8, "in ISR"),
        (8, 12, "leader"),
    ]
    texts = [s.text for s in lossy.spans if (s.lane, s.track) == ("broker 2", "role")]
    assert texts[-2:] == ["in ISR, log empty", "leads without offsets 0–99"]


def test_committed_records_are_safe_then_at_risk_then_lost(lossy: Rows, saved: Rows) -> None:
    assert steps(lossy, "records", "state") == [(0, 6, "safe"), (6, 8, "at risk"), (8, 12, "lost")]
    assert [s.text for s in lossy.spans if s.value == "lost"] == ["offsets 0–99 lost"]
    assert steps(saved, "records", "state") == [
        (0, 8, "safe"),
        (8, 10, "offline"),
        (10, 12, "safe"),
    ]


def test_the_controllers_records_are_ticks_in_short_words(lossy: Rows) -> None:
    assert [(t.x, t.offset, t.short) for t in lossy.ticks] == [
        (3, 56, "fence 2"),
        (4, 57, "register 2 → epoch 57"),
        (5, 58, "unfence 2"),
        (6, 59, ""),
        (8, 60, "elect 2"),
        (8, 61, "fence 1"),
        (9, 62, "register 1 → epoch 62"),
        (10, 63, "unfence 1"),
    ]


def test_the_old_request_is_accepted_without_an_epoch_and_refused_with_one(
    lossy: Rows, saved: Rows
) -> None:
    old = next(m for m in lossy.messages if m.is_telling)
    new = next(m for m in saved.messages if m.is_telling)
    assert [(m.x_sent, m.x_arrived, m.fate) for m in (old, new)] == [
        (1, 6, "delivered"),
        (1, 6, "refused"),
    ]
    assert old.label == "AlterPartition v2 · add 2, no epoch sent"
    assert old.outcome == "accepted: ISR {1, 2}, partition epoch 11"
    assert new.label == "AlterPartition v3 · add 2 as epoch 41"
    assert (new.error, new.guard) == ("INELIGIBLE_REPLICA", "903.controller-epoch")
    assert new.compared == ("broker 2: request 41, registered 57",)


def test_marks_name_deaths_and_what_they_took(lossy: Rows) -> None:
    marks = [(m.x, m.lane, m.kind) for m in lossy.marks]
    assert (1, "broker 2", "caught up") in marks
    assert (2, "broker 2", "crashed") in marks
    assert (2, "broker 2", "destroyed") in marks
    assert (8, "records", "lost") in marks
    assert (11, "broker 1", "truncated") in marks


def test_labels_are_short_and_human(lossy: Rows) -> None:
    assert [m.label for m in lossy.moments] == [
        "start",
        "broker 2 catches up, broker 1 proposes it",
        "broker 2 dies, disk replaced",
        "session of broker 2 expires",
        "broker 2 registers",
        "broker 2 unfenced",
        "request arrives",
        "broker 1 crashes",
        "session of broker 1 expires",
        "broker 1 registers",
        "broker 1 unfenced",
        "broker 1 fetches",
    ]


def test_meta_says_what_ran_and_how_it_ended(lossy: Rows, saved: Rows) -> None:
    assert (lossy.meta.name, lossy.meta.features, lossy.meta.end) == ("KAFKA-14139", "3.4", 12)
    assert (lossy.meta.verdict, lossy.meta.sentence) == ("loss", "100 committed records lost")
    assert saved.meta.sentence == "unavailable for a while, nothing lost"
    assert "903.controller-epoch" in set(saved.meta.guards) - set(lossy.meta.guards)


def test_every_event_is_a_sentence_at_its_moment(lossy: Rows) -> None:
    assert all(event.text for event in lossy.events)
    assert [e.x for e in lossy.events] == sorted(e.x for e in lossy.events)
    lost = [e for e in lossy.events if e.kind == "committed-lost"]
    assert [(e.x, e.partition) for e in lost] == [(8, "orders-0")]


def test_a_run_that_has_not_begun_has_rows() -> None:
    play = parse("broker 1\ntopic t replicas=1\nproduce t-0 count=1\n")
    rows = rows_of(open_stage(play))
    assert (rows.meta.end, len(rows.moments), rows.messages) == (1, 1, ())
    assert steps(rows, "partition", "ISR") == [(0, 1, "{1}")]


def test_a_message_in_flight_has_not_arrived() -> None:
    play = parse(
        "broker 1\nbroker 2\ntopic t replicas=1,2 isr=1 leader=1\n"
        "hold alter-partition\nfetch 2\ncrash 2\n"
    )
    (held,) = [m for m in rows_of(run_play(play)).messages if m.kind == "alter-partition"]
    assert (held.x_sent, held.x_arrived, held.fate) == (1, None, "in flight")


def test_a_leader_behind_a_cut_link_believes_it_leads() -> None:
    play = parse(
        "broker 1\nbroker 2\ntopic t replicas=1,2 leader=1 log=5@0\n"
        "cut 1 controller\nexpire 1\nheal 1 controller\n"
    )
    assert steps(rows_of(run_play(play)), "broker 1", "role") == [
        (0, 2, "leader"),
        (2, 3, "believes"),
        (3, 4, "out"),
    ]


def test_frames_have_the_documented_columns(lossy: Rows) -> None:
    made = frames(lossy)
    assert list(made) == list(TABLES)
    for table in TABLES:
        rows = getattr(lossy, table)
        assert not rows or list(made[table].columns) == list(asdict(rows[0]))
        assert len(made[table]) == len(rows)
    assert str(made["messages"]["x_arrived"].dtype) == "Int64"


def test_a_log_as_long_as_what_is_committed_may_differ() -> None:
    log = "topic t replicas=1,2 leader=1 leader-epoch=5 log=10@5\nreplica t-0 broker=2 log=10@4"
    rows = rows_of(open_stage(parse(f"kafka 3.5\nbroker 1\nbroker 2\n{log}")))
    texts = [s.text for s in rows.spans if (s.lane, s.track) == ("broker 2", "role")]
    assert texts == ["in ISR, log differs"]
