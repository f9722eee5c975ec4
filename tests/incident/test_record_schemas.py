"""The records that kiplab knows without any jars are those of Kafka's own schemas."""

from collections.abc import Iterator, Sequence
from typing import Any
from zipfile import ZipFile

import pytest

from kiplab.incident.reading.known_records import KNOWN_RELEASES, record_schemas
from kiplab.incident.reading.message_fields import MessageSchema, SchemaField
from kiplab.judge.kafka_jars.jar_cache import LAST_PATCH, jars_of, patch_release
from kiplab.judge.wire.metadata_log import schema_of
from tests.judge.kafka_here import live, real_kafka

RELEASES = [release for release in LAST_PATCH if release != "3.2"]
CONTROL = {
    "LeaderChangeMessage": "LEADER_CHANGE",
    "SnapshotHeaderRecord": "SNAPSHOT_HEADER",
    "SnapshotFooterRecord": "SNAPSHOT_FOOTER",
    "KRaftVersionRecord": "KRAFT_VERSION",
    "VotersRecord": "KRAFT_VOTERS",
}
WITHOUT_A_WRITER = {
    "USER_SCRAM_CREDENTIAL_RECORD": ("3.3", "3.4"),
    "DELEGATION_TOKEN_RECORD": ("3.3", "3.4", "3.5"),
}
"""Records with other fields in releases whose controllers wrote none (KIP-900, KAFKA-15219)."""


def test_every_record_has_a_number_and_every_field_a_place() -> None:
    assert f"{RELEASES[0]} to {RELEASES[-1]}" == KNOWN_RELEASES
    assert {schema.name for schema in record_schemas("control").values()} == set(CONTROL.values())
    for schema in record_schemas("metadata").values():
        tags = [field.tag for field in schema.fields if field.tag is not None]
        assert len(tags) == len(set(tags)), schema.name
        assert all(f.versions.first <= schema.versions.last for f in schema.fields), schema.name


@live(test_every_record_has_a_number_and_every_field_a_place)
@pytest.mark.parametrize("release", RELEASES)
def test_records_have_the_fields_of_kafkas_schemas(release: str) -> None:
    ours = {
        s.name: s
        for s in (*record_schemas("metadata").values(), *record_schemas("control").values())
    }
    seen = 0
    with real_kafka():
        for kafkas in _schemas_of(release):
            name = CONTROL.get(kafkas.name) or _upper_snake(kafkas.name)
            schema = ours[name]
            if release in WITHOUT_A_WRITER.get(name, ()):
                continue
            last = kafkas.versions.last
            assert last <= schema.versions.last, name
            assert schema.api_key == kafkas.api_key or name in CONTROL.values()
            assert _shape(schema.fields, last) == _shape(kafkas.fields, last), name
            seen += 1
    assert seen >= 20


@live(test_every_record_has_a_number_and_every_field_a_place)
def test_nothing_is_known_that_no_release_has() -> None:
    with real_kafka():
        kafkas = [schema for release in RELEASES for schema in _schemas_of(release)]
    names = {CONTROL.get(schema.name) or _upper_snake(schema.name) for schema in kafkas}
    newest = {
        name: max(s.versions.last for s in kafkas if _upper_snake(s.name) == name)
        for name in names - set(CONTROL.values())
    }
    assert newest == {s.name: s.versions.last for s in record_schemas("metadata").values()}


def _schemas_of(release: str) -> Iterator[MessageSchema]:
    patch = patch_release(release)
    for jar in ("kafka-metadata", "kafka-clients"):
        with ZipFile(jars_of(patch) / f"{jar}-{patch}.jar") as archive:
            for name in archive.namelist():
                stem = name.rpartition("/")[2].removesuffix(".json")
                is_record = name.startswith("common/metadata/") or stem in CONTROL
                if is_record and name.endswith(".json"):
                    yield schema_of(archive.read(name).decode())


def _upper_snake(name: str) -> str:
    return "".join(f"_{c}" if c.isupper() else c.upper() for c in name).lstrip("_")


def _shape(fields: Sequence[SchemaField], last: int) -> dict[str, Any]:
    """What bytes are read by, of the fields that the versions up to `last` have. Of names, 3.7
    writes one in other letters.
    """
    return {
        f.name.lower(): (
            f.kind if not f.fields else _shape(f.fields, last),
            f.is_array,
            f.versions,
            f.nullable,
            f.tag,
            f.tagged,
            None if f.fields else f.default,
        )
        for f in fields
        if f.versions.first <= last
    }
