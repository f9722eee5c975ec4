"""The sizes of requests: what was computed from Kafka's schemas, and what those say now."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiplab
from kiplab.figures.request_sizes_chart import SIZES_WIDTH_MIN, sizes_drawing
from kiplab.incident.reading.message_bytes import written_message
from kiplab.incident.reading.message_fields import SchemaField
from kiplab.judge.request_sizes import (
    BEFORE_AND_AFTER,
    BROKERS,
    HOST,
    LISTENER,
    NOTE,
    RACK,
    ImpossibleRequestError,
    RequestShape,
    RequestSizes,
    request_size,
    request_sizes,
)
from kiplab.judge.zookeeper_era.kafka_server import control_schemas
from tests.figures.boxes import covered, cut_off
from tests.judge.kafka_here import real_kafka

shapes = st.builds(
    RequestShape,
    partitions=st.integers(50, 10**6),
    topics=st.integers(1, 50),
    name_length=st.integers(1, 249),
    replicas=st.integers(1, 9),
)


# --- the table ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "shape", "before", "after", "change"),
    [
        ("LeaderAndIsr", RequestShape(1000, 10, 20, 3), 75_106, 53_374, -28.9),
        ("LeaderAndIsr", RequestShape(1000, 10, 20, 1), 59_106, 37_374, -36.8),
        ("LeaderAndIsr", RequestShape(1000, 10, 100, 3), 155_106, 54_174, -65.1),
        ("LeaderAndIsr", RequestShape(1000, 10, 249, 3), 304_106, 55_664, -81.7),
        ("LeaderAndIsr", RequestShape(100_000, 1000, 20, 3), 7_500_106, 5_326_114, -29.0),
        ("LeaderAndIsr", RequestShape(1000, 1000, 20, 3), 75_106, 79_114, 5.3),
        ("LeaderAndIsr", RequestShape(1, 1, 20, 3), 181, 193, 6.6),
        ("UpdateMetadata", RequestShape(1000, 10, 20, 3), 78_178, 56_446, -27.8),
        ("StopReplica", RequestShape(1000, 10, 20, 3), 26_013, 4_281, -83.5),
    ],
)
def test_the_nine_requests_that_are_told(
    api: str, shape: RequestShape, before: int, after: int, change: float
) -> None:
    (row,) = (
        r
        for r in request_sizes().rows
        if (r.api, r.partitions, r.topics, r.name_length, r.replicas) == (api, *shape)
    )
    assert (row.before, row.after) == (before, after)
    assert round(100 * row.change, 1) == change


@given(shape=shapes)
def test_what_leader_and_isr_saves_is_a_name_for_each_partition_but_the_first_of_a_topic(
    shape: RequestShape,
) -> None:
    p, t, n, _ = shape
    before, after = (request_size("LeaderAndIsr", version, shape) for version in (1, 2))
    assert before - after == p * (n + 2) - t * (n + 6) - 8


def test_numbers_of_ones_own_are_told_for_all_three() -> None:
    found = kiplab.request_sizes(12, topics=3, name_length=8, replicas=2)
    assert [(r.api, r.partitions, r.topics) for r in found.rows] == [
        (api, 12, 3) for api in BEFORE_AND_AFTER
    ]


def test_the_text_has_a_line_for_each_and_what_is_the_same_in_all() -> None:
    heads, *found = repr(request_sizes()).splitlines()
    lines, note = found[:9], " ".join(found[9:])
    assert max(map(len, found)) <= len(heads)
    assert heads.split() == [
        *("request", "partitions", "topics", "name", "replicas", "before", "after", "change")
    ]
    assert lines[0].split() == [
        *("LeaderAndIsr", "1,000", "10", "20", "3", "v1", "75,106", "v2", "53,374", "-28.9%")
    ]
    assert note == NOTE
    assert "host names of 20 bytes, one listener PLAINTEXT, racks of 5" in note


def test_a_report_is_plain_values() -> None:
    found = request_sizes(1, 1)
    assert msgspec.convert(found.report(), RequestSizes) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((1, 0, 20, 3), "topics=0; there is at least one"),
        ((1, 1, 20, 0), "replicas=0; there is at least one"),
        ((5, 10, 20, 3), "partitions=5, topics=10; every topic has a partition"),
        ((1, 1, 0, 3), "name_length=0; a topic's name has from 1 to 249 bytes"),
        ((1, 1, 250, 3), "name_length=250; a topic's name has from 1 to 249 bytes"),
    ],
)
def test_what_no_request_can_be_about_is_refused(given: tuple[int, ...], said: str) -> None:
    with pytest.raises(ImpossibleRequestError, match=said):
        request_sizes(*given)


@pytest.mark.kafka
@pytest.mark.parametrize("shape", [RequestShape(1, 1, 1, 1), RequestShape(12, 3, 249, 3)])
def test_what_the_fields_take_is_what_the_schemas_in_kafkas_jar_say(shape: RequestShape) -> None:
    with real_kafka():
        requests = control_schemas().requests
    for api, versions in BEFORE_AND_AFTER.items():
        for version in versions:
            body = struct_about(requests[api].fields, version, shape)
            written = written_message(requests[api], body, version)
            assert len(written) == request_size(api, version, shape)


def struct_about(
    fields: Sequence[SchemaField], version: int, shape: RequestShape, partitions: int = 0
) -> dict[str, Any]:
    """A struct of a request of that shape, with `partitions` below it, or with all of them."""
    partitions = partitions or shape.partitions
    lengths = {"TopicName": shape.name_length, "Name": shape.name_length, "Rack": RACK}
    lengths |= {"HostName": HOST, "Host": HOST, "Listener": len(LISTENER)}
    counts = dict.fromkeys(("LiveLeaders", "LiveBrokers"), BROKERS)
    counts |= {"Topics": shape.topics, "TopicStates": shape.topics, "Endpoints": 1}
    counts |= dict.fromkeys(("Isr", "Replicas"), shape.replicas) | {"OfflineReplicas": 0}
    value: dict[str, Any] = {}
    for field in (field for field in fields if field.versions.have(version)):
        if field.is_array:
            below = partitions // shape.topics if field.name in ("Topics", "TopicStates") else 0
            inner = struct_about(field.fields, version, shape, below) if field.fields else 0
            value[field.name] = [inner] * counts.get(field.name, partitions)
        elif field.kind == "string":
            value[field.name] = "x" * lengths[field.name]
    return value


# --- the picture ----------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [SIZES_WIDTH_MIN, 980, 1366])
def test_every_request_has_its_words_and_a_bar_as_long_as_it_is_large(
    width: int, theme: str
) -> None:
    rows = request_sizes().report()["rows"]
    drawn = sizes_drawing(rows, NOTE, theme=theme, width=width)
    words = [text for trace in drawn["data"] for text in trace.get("text", ())]
    for row in rows:
        assert f"{row['before']:,} → {row['after']:,} bytes" in words
    _, *bars = (trace["x"] for trace in drawn["data"] if trace["type"] == "bar")
    assert [share for (share,) in bars] == [
        pytest.approx(100 * row["after"] / row["before"]) for row in rows
    ]
    assert drawn["layout"]["width"] == width


@pytest.mark.parametrize("width", [SIZES_WIDTH_MIN, 980, 1366])
def test_no_words_stand_on_others_or_leave_the_sheet(width: int) -> None:
    figure = request_sizes().figure(width=width)
    assert cut_off(figure) == []
    assert covered(figure) == []


def test_a_sheet_that_is_too_narrow_for_the_words_is_refused() -> None:
    with pytest.raises(ValueError, match="width is 300; request sizes need 560 pixels or more"):
        sizes_drawing(request_sizes().report()["rows"], NOTE, width=300)


def test_the_figure_is_the_drawing() -> None:
    figure = request_sizes().figure(theme="dark")
    assert figure.layout.meta["description"].startswith("Sizes of requests since KIP-380")
