"""The sizes of requests: what was computed from Kafka's schemas, and what those say now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiplab
from kiplab.figures.request_sizes_chart import SIZES_WIDTH_MIN, sizes_drawing
from kiplab.judge.request_sizes import (
    BEFORE_AND_AFTER,
    BROKERS,
    HOST,
    LISTENER,
    NOTE,
    RACK,
    TOLD,
    ImpossibleRequestError,
    RequestShape,
    RequestSizes,
    request_size,
    request_sizes,
)
from kiplab.judge.wire.message_bytes import FIXED, INT16, INT32, UUID_BYTES, written_message
from kiplab.judge.wire.message_schemas import MessageSchema, SchemaField, schema_of
from kiplab.judge.zookeeper_era.kafka_server import control_schemas
from tests.figures.boxes import covered, cut_off
from tests.judge.kafka_here import real_kafka
from tests.judge.small_schemas import EVERYTHING

PARTITION_ARRAYS = (
    "UngroupedPartitionStates",
    "UngroupedPartitions",
    "PartitionStates",
    "PartitionIndexes",
)
"""What lists of partitions are called."""
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


# --- Kafka's own schemas --------------------------------------------------------------------------


@pytest.mark.kafka
def test_what_the_fields_take_is_what_the_schemas_in_kafkas_jar_say() -> None:
    with real_kafka():
        requests = control_schemas().requests
    for api, versions in BEFORE_AND_AFTER.items():
        for version in versions:
            sizes = field_sizes(requests[api], version)
            for shape in (RequestShape(1, 1, 1, 1), *(shape for _, shape in TOLD)):
                assert request_size(api, version, shape) == body_size(sizes, *measures(shape))


def measures(shape: RequestShape) -> tuple[dict[str, int], dict[str, int]]:
    """The lengths of a request's strings, and how many elements its arrays have, by name."""
    lengths = dict.fromkeys(("TopicName", "Name"), shape.name_length)
    lengths |= {"HostName": HOST, "Host": HOST, "Listener": len(LISTENER), "Rack": RACK}
    counts = {"OfflineReplicas": 0}
    for names, count in (
        (PARTITION_ARRAYS, shape.partitions),
        (("TopicStates", "Topics"), shape.topics),
        (("Isr", "Replicas"), shape.partitions * shape.replicas),
        (("LiveLeaders", "LiveBrokers", "Endpoints"), BROKERS),
    ):
        counts |= dict.fromkeys(names, count)
    return lengths, counts


@given(
    text=st.text(max_size=9),
    numbers=st.lists(st.integers(0, 9), max_size=5),
    hosts=st.lists(st.sampled_from(["", "ab", "çé"]), max_size=4),
)
def test_a_size_is_that_of_the_message_that_is_written(
    text: str, numbers: list[int], hosts: list[str]
) -> None:
    everything = schema_of(EVERYTHING)
    sized = tuple(f for f in everything.fields if f.name not in {"Data", "Only"})
    schema = msgspec.structs.replace(everything, fields=sized)
    places = [{"Host": host} for host in hosts]
    written = written_message(schema, {"Text": text, "Numbers": numbers, "Places": places}, 1)
    sizes = field_sizes(schema, 1)
    of_places = [body_size(sizes.arrays["Places"], {"Host": len(h.encode())}, {}) for h in hosts]
    without = msgspec.structs.replace(sizes, arrays={"Numbers": sizes.arrays["Numbers"]})
    rest = body_size(without, {"Text": len(text.encode())}, {"Numbers": len(numbers)})
    assert rest + sum(of_places) == len(written)


def test_structs_are_counted_with_all_that_is_in_them() -> None:
    host = FieldSizes(2, ("Host",))
    sizes = FieldSizes(4, arrays={"Places": FieldSizes(5, arrays={"Hosts": host})})
    assert body_size(sizes, {"Host": 3}, {"Places": 2, "Hosts": 7}) == 4 + 2 * 5 + 7 * (2 + 3)
    with pytest.raises(KeyError, match="Hosts"):
        body_size(sizes, {"Host": 3}, {"Places": 2})


def test_a_flexible_version_is_refused() -> None:
    with pytest.raises(FlexibleVersionError, match="EverythingRequest v2 is flexible"):
        field_sizes(schema_of(EVERYTHING), 2)


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


class FieldSizes(msgspec.Struct, frozen=True, omit_defaults=True):
    """A struct of a message. `fixed` are the bytes that it always takes, the lengths of its strings
    and arrays among them; an array has what one of its elements takes.
    """

    fixed: int
    strings: tuple[str, ...] = ()
    arrays: dict[str, FieldSizes] = {}


def body_size(
    sizes: FieldSizes, lengths: Mapping[str, int], counts: Mapping[str, int], times: int = 1
) -> int:
    """Bytes of a body, or of `times` such structs: `lengths` are those of its strings by the name
    of the field, 0 for null; `counts` say how many elements all arrays of a name have together.

    Raises KeyError for a string or an array of which nothing is said.
    """
    here = sizes.fixed + sum(lengths[name] for name in sizes.strings)
    inside = (body_size(one, lengths, counts, counts[name]) for name, one in sizes.arrays.items())
    return times * here + sum(inside)


class FlexibleVersionError(ValueError):
    """A version in which lengths are as long as they need to be."""


def field_sizes(schema: MessageSchema, version: int) -> FieldSizes:
    """Of a message's body in this version. Raises FlexibleVersionError for a flexible one."""
    if schema.flexible.have(version):
        raise FlexibleVersionError(f"{schema.name} v{version} is flexible")
    return _of_struct(schema.fields, version)


def _of_struct(fields: Sequence[SchemaField], version: int) -> FieldSizes:
    there = [field for field in fields if field.versions.have(version)]
    return FieldSizes(
        fixed=sum(map(_always, there)),
        strings=tuple(f.name for f in there if f.kind == "string" and not f.is_array),
        arrays={f.name: _of_element(f, version) for f in there if f.is_array},
    )


def _always(field: SchemaField) -> int:
    """The bytes that a field takes whatever is in it; of what has no size, those of its length."""
    if field.is_array:
        return INT32.size
    if field.kind == "string":
        return INT16.size
    return UUID_BYTES if field.kind == "uuid" else FIXED[field.kind].size


def _of_element(field: SchemaField, version: int) -> FieldSizes:
    if field.fields:
        return _of_struct(field.fields, version)
    return FieldSizes(FIXED[field.kind].size)
