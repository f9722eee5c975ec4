"""What the judges that are still here have in common with those of tests/judge."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...protocol.errors import KafkaError

SUFFIX = ".xz"


class NoRecordingError(Exception):
    """There is no recording, or it cannot be read; the message says what to do."""


def errors_in(value: object) -> Iterator[KafkaError]:
    """Every error inside an answer."""
    if isinstance(value, KafkaError):
        yield value
    elif isinstance(value, msgspec.Struct):
        yield from (error for part in msgspec.structs.astuple(value) for error in errors_in(part))
    elif isinstance(value, tuple):
        yield from (error for part in value for error in errors_in(part))
