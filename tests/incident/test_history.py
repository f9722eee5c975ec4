"""`kiplab.read_metadata_log`: findings of a whole log, gathered, chosen and pictured."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import kiplab
from kiplab.incident import gathering
from kiplab.incident.findings.finding import Finding
from kiplab.incident.gathering import GatheredFindings
from kiplab.incident.history_words import report, text
from kiplab.incident.incident_files import incident_page
from kiplab.incident.log_items import LogItem, UnreadableInputError
from kiplab.incident.metadata_history import MetadataHistory, read_metadata_log
from kiplab.incident.reading import LogItems
from kiplab.incident.replayed_log.replaying import EARLIER_MAX
from kiplab.incident.states import SharedMapping, with_value
from tests.incident.generated_log import generated_batches
from tests.incident.short_log import replayed, short_log
from tests.incident.written_logs import BEGIN, dump_of, encoded

RECORDED = Path(__file__).parent / "recordings" / "other-life-3.5.2"
LOG = RECORDED / "00000000000000000000.log"
LATE = RECORDED.parent / "two-segments-3.9.1" / "00000000000000000055.log"


def rules(history: MetadataHistory) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in history.findings:
        found.setdefault(finding.rule, set()).update(finding.partitions)
    return found


def test_a_history_tells_what_was_read_and_what_it_shows() -> None:
    history = kiplab.read_metadata_log(RECORDED)
    assert {file.kind for file in history.read} == {"segment", "checkpoint"}
    assert (history.first, history.last) != (None, None)
    assert rules(history)["other-life"] == {"orders-1"}
    kinds = [finding.kind for finding in history.findings]
    assert kinds == sorted(kinds, key=["lost", "occasion", "sure", "note"].index)
    assert {state.name for state in history.partitions.values()} == {"orders-0", "orders-1"}


@pytest.mark.parametrize(
    ("asked", "among"),
    [
        ({"partitions": ["orders-1"]}, {"orders-1"}),
        ({"topic": "orders"}, {"orders-0", "orders-1"}),
        ({"broker": 3}, {"orders-0", "orders-1"}),
        ({"from_": 107, "to": 111}, {"orders-1"}),
        ({"from_": "2126-11-29T00:00Z"}, set()),
        ({"to": "1999-01-01T00:00"}, set()),
    ],
)
def test_what_is_asked_for_is_told_and_nothing_else(asked: dict[str, Any], among: set[str]) -> None:
    told = kiplab.read_metadata_log(LOG, **asked)
    assert {name for names in rules(told).values() for name in names} == among
    assert {*rules(told)} <= {*rules(kiplab.read_metadata_log(LOG))}


def test_how_long_without_a_leader_is_told_can_be_asked() -> None:
    assert "leaderless" in rules(kiplab.read_metadata_log(LOG))
    assert "leaderless" not in rules(kiplab.read_metadata_log(LOG, limit_ms=60_000))


@pytest.mark.parametrize(
    "asked", [{"topic": "payments"}, {"broker": 0}, {"partitions": ["orders"]}]
)
def test_a_name_of_which_the_log_has_nothing_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"nothing in this log is about (topic|broker|orders)"):
        kiplab.read_metadata_log(LOG, **asked)
    with pytest.raises(ValueError, match="the log begins at offset 55: without its checkpoint"):
        kiplab.read_metadata_log(LATE, topic="orders")


@pytest.mark.parametrize("bound", ["yesterday", "-1"])
def test_a_bound_that_is_none_is_refused(bound: str) -> None:
    with pytest.raises(ValueError, match="neither an offset nor a time"):
        kiplab.read_metadata_log(LOG, from_=bound)


def test_events_of_a_partition_come_with_those_of_brokers_and_of_the_cluster() -> None:
    history = kiplab.read_metadata_log(LOG, partitions=["orders-1"])
    events = history.events("orders-1")
    assert {e.partition.name for e in events if e.partition} == {"orders-1"}
    assert {e.incarnation.broker for e in events if e.incarnation} == {1, 2, 3}
    assert any(e.record.type == "FEATURE_LEVEL_RECORD" for e in events)
    last = [e.after for e in events if e.partition][-1]
    assert last == next(p for p in history.partitions.values() if p.name == "orders-1")


def test_one_more_pass_is_for_all_that_is_pictured(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[LogItems] = []
    read = LogItems.__iter__

    def counted(items: LogItems) -> Iterator[LogItem]:
        passes.append(items)
        return read(items)

    monkeypatch.setattr(LogItems, "__iter__", counted)
    history = kiplab.read_metadata_log(LOG)
    assert set(history.pictured) == {"orders-0", "orders-1"}
    for name in history.pictured:
        assert history.events(name)
    assert len(passes) == 2
    assert not [e for e in history.events("payments-0") if e.partition]
    assert len(passes) == 3


def test_who_stops_it_has_what_was_read_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    read = LogItems.__iter__

    def stopped(items: LogItems) -> Iterator[LogItem]:
        for item in read(items):
            yield item
            if getattr(item, "offset", 0) == 100:
                raise KeyboardInterrupt

    monkeypatch.setattr(LogItems, "__iter__", stopped)
    history = kiplab.read_metadata_log(LOG)
    assert not history.is_whole
    assert history.last
    assert history.last.offset in (99, 100)
    assert "alone-then-gone" in rules(history)
    assert "other-life" not in rules(history)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(UnreadableInputError):
        kiplab.read_metadata_log(other)


def finding(rule: str, kind: Any, offset: int, event: int = -1, **more: Any) -> Finding:
    return Finding(rule, kind, f"{rule} at {offset}", offset, BEGIN, event=event, **more)


def test_findings_of_one_rule_and_one_event_are_told_as_one() -> None:
    gathered = GatheredFindings()
    gathered.add_all(
        finding("leaderless", "sure", at, 9, partitions=(name,), incarnations=((1, at), (2, 4)))
        for at, name in ((5, "a-0"), (6, "a-1"), (7, "a-0"))
    )
    gathered.add_all([finding("leaderless", "sure", 3), finding("leaderless", "sure", 3)])
    gathered.add(finding("unclean", "occasion", 8, 9))
    gravest, *alone, together = gathered.in_order()
    assert gravest.rule == "unclean"
    assert len(alone) == 2
    assert together.partitions == ("a-0", "a-1")
    assert together.incarnations == ((1, 5), (2, 4), (1, 6), (1, 7))


def test_the_gravest_are_kept_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "KEPT", 3)
    gathered = GatheredFindings()
    gathered.add_all(finding("flapping", "note", at) for at in range(5))
    gathered.add_all(finding("leaderless", "sure", at) for at in range(2))
    gathered.add_all(finding("unclean", "occasion", at) for at in range(2))
    assert [(f.kind, f.offset) for f in gathered.in_order()] == [
        ("occasion", 0),
        ("occasion", 1),
        ("sure", 0),
    ]
    assert gathered.left_out == 6


@pytest.mark.parametrize("logs", [(), ("server.log",)])
def test_the_first_remarks_of_a_kind_are_kept_and_the_rest_is_counted(
    logs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiplab.incident.gathering.REMARKS_KEPT", 3)
    batches = list(generated_batches(20, 120, seed=3))
    (tmp_path / "dump").write_text(dump_of(batches[::2]), "utf-8")
    (tmp_path / "server.log").write_text("nothing that is known\n", "utf-8")
    history = read_metadata_log(tmp_path / "dump", logs=[tmp_path / name for name in logs])
    assert [r.kind for r in history.remarks] == ["gap"] * 4 + ["undecoded"] * len(logs)
    told = f"{len(batches) // 2 - 3} more of this kind are counted only: gap"
    assert history.remarks[3].text == told
    assert told in text(history)
    assert told in str(report(history)["remarks"])
    assert told in incident_page(history, [])


def test_nothing_is_kept_of_removed_topics_and_of_incarnations_long_ago() -> None:
    lines = (
        f"{5 * n} {n} topic orders\n{5 * n + 1} {n} topic-config min.insync.replicas 2\n"
        f"{5 * n + 2} {n} new p0 replicas=1,2 isr=1,2 leader=1\n{5 * n + 3} {n} remove\n"
        f"{5 * n + 4} {n} register 1@{5 * n + 4} X{n}\n"
        for n in range(EARLIER_MAX + 20)
    )
    _, replay, found = replayed([*short_log("".join(lines))])
    assert not found
    assert not replay.partitions
    assert not replay.cluster.topic_settings
    earlier = replay.cluster.earlier_incarnations[1]
    ids = [incarnation.incarnation_id for incarnation in earlier]
    assert ids == [f"X{n}" for n in range(19, EARLIER_MAX + 19)]


def test_a_mapping_with_another_value_leaves_the_one_before_it_as_it_is() -> None:
    plain: dict[int, int] = {}
    mapping: Mapping[int, int] = {}
    for n in range(1500):
        key, value = n * 7 % 400, n % 5
        before, mapping = mapping, with_value(mapping, key, value)
        assert before == {key: value for key, value in plain.items() if value}
        plain[key] = value
    assert isinstance(mapping, SharedMapping)
    assert len(mapping) == len([*mapping]) == sum(map(bool, plain.values()))


def test_what_a_damaged_batch_or_a_gap_leaves_unknown_is_a_finding(tmp_path: Path) -> None:
    batches = list(generated_batches(20, 120, seed=3))
    whole = [encoded(batch).data for batch in batches]
    damaged = whole[9][:-1] + bytes([whole[9][-1] ^ 0x55])
    gone = f"{batches[9].first.offset} to {batches[9].records[-1].offset}"
    for instead in (damaged, b""):
        (tmp_path / "log").write_bytes(b"".join((*whole[:9], instead, *whole[10:])))
        history = read_metadata_log(tmp_path / "log")
        found = [f.sentence for f in history.findings if f.rule == "inconsistent"]
        assert found == [f"The records from {gone} are missing."]
        assert history.last is not None
        assert history.last.offset == batches[-1].records[-1].offset
