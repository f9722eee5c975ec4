"""Schemas as Kafka writes them, made up: every type and every way a field can be there or not."""

from typing import Any

from kiplab.incident.reading.message_bytes import PYTHON_FORMS, message_reader
from kiplab.incident.reading.message_fields import MessageSchema

EVERYTHING = """
// A comment, as every one of Kafka's schemas has.
{
  "apiKey": 7,
  "type": "request",
  "name": "EverythingRequest",
  // Version 2 is flexible.
  "validVersions": "0-3",
  "flexibleVersions": "2+",
  "commonStructs": [
    { "name": "Place", "versions": "0+", "fields": [
      { "name": "Host", "type": "string", "versions": "0+", "about": "See http://example.org." },
      { "name": "Port", "type": "uint16", "versions": "0+" } ] } ],
  "fields": [
    { "name": "Flag", "type": "bool", "versions": "0+", "default": "true" },
    { "name": "Tiny", "type": "int8", "versions": "0+" },
    { "name": "Small", "type": "int16", "versions": "0+", "default": "-1" },
    { "name": "Number", "type": "int32", "versions": "0+" },
    { "name": "Unsigned", "type": "uint32", "versions": "0+" },
    { "name": "Large", "type": "int64", "versions": "0+", "default": "0x10" },
    { "name": "Share", "type": "float64", "versions": "0+" },
    { "name": "Id", "type": "uuid", "versions": "0+" },
    { "name": "Text", "type": "string", "versions": "0+", "nullableVersions": "1+" },
    { "name": "Data", "type": "bytes", "versions": "0+", "nullableVersions": "0+",
      "default": "null" },
    { "name": "Numbers", "type": "[]int32", "versions": "0+", "nullableVersions": "0+" },
    { "name": "Places", "type": "[]Place", "versions": "1+" },
    { "name": "Only", "type": "Place", "versions": "1+", "nullableVersions": "3+" },
    { "name": "Gone", "type": "int32", "versions": "0-1" },
    { "name": "Extra", "type": "string", "versions": "2+", "taggedVersions": "2+", "tag": "3",
      "default": "usual" },
    { "name": "More", "type": "[]int64", "taggedVersions": "3+", "tag": 0 }
  ]
}
"""
RECORD = """
{ "apiKey": 5, "type": "metadata", "name": "MarkRecord", "validVersions": "0-1",
  "flexibleVersions": "0+", "fields": [ { "name": "Mark", "type": "int32", "versions": "0+" } ] }
"""
REMOVED = (
    '{ "apiKey": 4, "type": "request", "name": "LeaderAndIsrRequest", "validVersions": "none" }'
)


def read_message(
    schema: MessageSchema, data: bytes, version: int, at: int = 0
) -> tuple[dict[str, Any], int]:
    """(what is read, where it ends)."""
    return message_reader(schema, version, PYTHON_FORMS)(data, at)
