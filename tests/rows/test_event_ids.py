"""Every event has an id, and whatever tells or shows it is known by that."""

from kiplab.plays.transcript import event_lines
from kiplab.rows.columns import MessageRow, Rows
from kiplab.rows.rows_of_stage import rows_of
from kiplab.rows.view import views
from kiplab.runs import run


def kinds(rows: Rows) -> dict[str, str]:
    """What kind of event each id is."""
    return {event.id: event.kind for event in rows.events}


def request(rows: Rows) -> MessageRow:
    (found,) = (m for m in rows.messages if m.kind == "alter-partition")
    return found


def test_an_id_is_the_moment_and_the_place_of_an_event_in_it(lossy: Rows) -> None:
    ids = [event.id for event in lossy.events]
    assert len(set(ids)) == len(ids)
    assert all(event.id.split(".")[0] == str(event.x) for event in lossy.events)
    assert [id for id in ids if id.startswith("2.")] == ["2.1", "2.2"]


def test_a_message_knows_what_sent_it_and_what_became_of_it(lossy: Rows, saved: Rows) -> None:
    late, refused = request(lossy), request(saved)
    assert kinds(lossy)[late.began] == "sent"
    assert [kinds(lossy)[id] for id in late.ended] == ["delivered", "isr-changed"]
    assert [kinds(saved)[id] for id in refused.ended] == ["delivered", "refused"]


def test_what_is_still_on_its_way_knows_only_what_sent_it(lossy: Rows) -> None:
    flying = request(views((lossy,), between=(0, 4))[0])
    assert (flying.began, flying.ended) == (request(lossy).began, ())


def test_a_tick_knows_its_record_and_what_that_changed(lossy: Rows) -> None:
    (tick,) = (t for t in lossy.ticks if t.x == 6)
    assert [kinds(lossy)[id] for id in tick.events] == ["record", "isr-changed"]


def test_a_mark_knows_its_event_and_a_view_leaves_it_that(lossy: Rows) -> None:
    folded = views((lossy,), between=(1, 9))[0]
    assert {m.event for m in folded.marks} <= set(kinds(lossy))
    (cut,) = (m for m in folded.marks if m.kind == "destroyed")
    assert cut.event == "2.2"


def test_what_is_not_applicable_has_an_id_too() -> None:
    rows = rows_of(run("kafka-14139", kafka="3.5").stage)
    (mark,) = (mark for mark in rows.marks if mark.kind == "not applicable")
    assert kinds(rows)[mark.event] == "not-applicable"


def test_the_lines_of_a_transcript_have_the_ids_of_the_rows() -> None:
    stage = run("kafka-14139").stage
    texts = {event.id: event.text for event in rows_of(stage).events}
    told = [line for performed in stage.performed for line in event_lines(stage, performed)]
    assert len(told) > 20
    assert all(line[2:] == texts[id] for id, line in told)
