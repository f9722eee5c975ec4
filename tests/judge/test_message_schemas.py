"""Kafka's own schemas, read; values written by them and read back."""

import struct
import uuid
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.incident.reading import message_bytes, message_fields
from kiplab.judge.wire import metadata_log
from tests.judge.small_schemas import EVERYTHING, RECORD, REMOVED, read_message

SCHEMA = metadata_log.schema_of(EVERYTHING)
LATEST = SCHEMA.versions.last

places = st.fixed_dictionaries({"Host": st.text(), "Port": st.integers(0, 2**16 - 1)})
values = st.fixed_dictionaries(
    {
        "Flag": st.booleans(),
        "Tiny": st.integers(-(2**7), 2**7 - 1),
        "Small": st.integers(-(2**15), 2**15 - 1),
        "Number": st.integers(-(2**31), 2**31 - 1),
        "Unsigned": st.integers(0, 2**32 - 1),
        "Large": st.integers(-(2**63), 2**63 - 1),
        "Share": st.floats(allow_nan=False),
        "Id": st.uuids(),
        "Text": st.none() | st.text(),
        "Data": st.none() | st.binary(max_size=300),
        "Numbers": st.none() | st.lists(st.integers(-5, 5), max_size=200).map(tuple),
        "Places": st.lists(places, max_size=3).map(tuple),
        "Only": st.none() | places,
        "Extra": st.just("usual") | st.text(),
        "More": st.lists(st.integers(0, 9)).map(tuple),
    }
)


# --- schemas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2", message_fields.MessageVersions(2, 2)),
        ("0-3", message_fields.MessageVersions(0, 3)),
        ("1+", message_fields.MessageVersions(1, 32767)),
        ("none", message_fields.NO_VERSION),
        (None, message_fields.NO_VERSION),
    ],
)
def test_versions_are_one_a_range_everything_from_one_on_or_none(
    text: str | None, meant: message_fields.MessageVersions
) -> None:
    assert message_fields.versions_of(text) == meant


def test_defaults_are_those_that_kafka_gives() -> None:
    given = {field.name: field.default for field in SCHEMA.fields}
    assert given["Flag"] is True
    assert (given["Small"], given["Large"], given["Share"]) == (-1, 16, 0.0)
    assert (given["Text"], given["Data"], given["Numbers"]) == ("", None, ())
    assert given["Id"] == uuid.UUID(int=0)
    assert given["Only"] == {"Host": "", "Port": 0}


def test_jars_are_searched_for_schemas_and_apis_are_found_by_name(tmp_path: Path) -> None:
    jar = tmp_path / "kafka-clients-9.9.9.jar"
    with ZipFile(jar, "w") as archive:
        archive.writestr("common/message/EverythingRequest.json", EVERYTHING)
        archive.writestr("common/message/LeaderAndIsrRequest.json", REMOVED)
        archive.writestr("common/metadata/MarkRecord.json", RECORD)
        archive.writestr("common/message/README.md", "no schema")
    found = metadata_log.schemas_in([jar])
    assert found.requests["Everything"] == SCHEMA
    assert found.requests["LeaderAndIsr"].versions == message_fields.NO_VERSION
    assert found.records[5].name == "MarkRecord"


def test_files_without_schemas_are_named(tmp_path: Path) -> None:
    empty, damaged = tmp_path / "empty.jar", tmp_path / "damaged.jar"
    ZipFile(empty, "w").close()
    damaged.write_bytes(b"PK no more")
    with pytest.raises(
        metadata_log.NoSchemasError, match=r"none of Kafka's message schemas in .*empty\.jar"
    ):
        metadata_log.schemas_in([empty])
    with pytest.raises(metadata_log.NoSchemasError, match=r"damaged\.jar cannot be read as a jar"):
        metadata_log.schemas_in([damaged])
    with pytest.raises(metadata_log.NoSchemasError, match="in no files"):
        metadata_log.schemas_in([])


# --- values ---------------------------------------------------------------------------------------


@given(value=values)
def test_what_is_written_is_read_back(value: dict[str, object]) -> None:
    data = message_bytes.written_message(SCHEMA, value, LATEST)
    assert read_message(SCHEMA, b"head" + data, LATEST, 4) == (value, 4 + len(data))


@pytest.mark.parametrize("version", range(LATEST + 1))
def test_every_version_has_its_own_fields_and_their_defaults(version: int) -> None:
    read, _ = read_message(SCHEMA, message_bytes.written_message(SCHEMA, {}, version), version)
    there = {field.name: field for field in SCHEMA.fields if field.versions.have(version)}
    assert read == {name: field.default for name, field in there.items()}


def test_old_versions_count_in_whole_numbers_and_flexible_ones_in_short_ones() -> None:
    value = {"Text": "ab", "Numbers": (1,)}
    old, flexible = (message_bytes.written_message(SCHEMA, value, version) for version in (1, 2))
    assert b"\x00\x02ab" in old
    assert b"\x03ab" in flexible
    assert b"\x00\x00\x00\x01\x00\x00\x00\x01" in old
    assert b"\x02\x00\x00\x00\x01" in flexible


def test_a_tagged_field_is_left_out_while_it_has_its_default() -> None:
    usual, other = (message_bytes.written_message(SCHEMA, {"Extra": t}, 2) for t in ("usual", "x"))
    assert usual.endswith(b"\x00")
    assert other.endswith(b"\x01\x03\x02\x02x")


def test_a_tag_that_the_schema_does_not_know_is_passed_over() -> None:
    data = message_bytes.written_message(SCHEMA, {"Extra": "x"}, 2)
    strange = data[:-5] + b"\x02" + data[-4:] + b"\x2a\x01!"
    assert read_message(SCHEMA, strange, 2) == (read_message(SCHEMA, data, 2)[0], len(strange))


def test_a_field_that_there_is_none_of_is_refused_by_name() -> None:
    with pytest.raises(
        message_bytes.UnknownMessageFieldError, match="EverythingRequest has no field Colour"
    ):
        message_bytes.written_message(SCHEMA, {"Colour": 1}, 0)
    with pytest.raises(message_bytes.UnknownMessageFieldError, match="Place has no field Street"):
        message_bytes.written_message(SCHEMA, {"Only": {"Street": 1}}, 1)


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(struct.error):
        message_bytes.written_message(SCHEMA, {"Tiny": 200}, 0)


# --- numbers of any length ------------------------------------------------------------------------


@given(number=st.integers(0, 2**64))
def test_a_number_takes_a_byte_for_seven_bits(number: int) -> None:
    data = message_bytes.unsigned_varint(number)
    assert len(data) == max(1, -(-number.bit_length() // 7))
    assert message_bytes.varint(b"?" + data, 1) == (number, 1 + len(data))


@pytest.mark.parametrize(("data", "number"), [(b"\x00", 0), (b"\x01", -1), (b"\x02", 1)])
def test_numbers_with_a_sign_alternate(data: bytes, number: int) -> None:
    assert message_bytes.signed_varint(data, 0) == (number, 1)


def test_data_that_ends_in_the_middle_of_a_number_is_noticed() -> None:
    with pytest.raises(IndexError):
        message_bytes.varint(b"\x80", 0)
