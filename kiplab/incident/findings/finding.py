"""A finding: what a rule saw in a history, where, and what nobody can say of it."""

from typing import Literal

import msgspec

from ..log_items import LogRecord

FindingKind = Literal["lost", "occasion", "sure", "note"]
"""In the order in which findings are told. ``lost`` rests on the log files of brokers only. An
occasion is a moment at which a loss was possible; ``sure`` is a fact of the log.
"""


class Finding(msgspec.Struct, frozen=True):
    """`rule` is its name, ``other-life``. `partitions` are those that the same event did it to,
    empty for a finding about a broker or a controller; `key` of the first one stands in `about`.

    `evidence` are the records, `incarnations` the (broker, broker epoch) involved. `guards` are ids
    of kiplab's guards that would have prevented it, `release` the first release that has them,
    empty where there is none. `lines` are quoted lines of log files.
    """

    rule: str
    kind: FindingKind
    sentence: str
    offset: int
    time: int
    partitions: tuple[str, ...] = ()
    until: int | None = None
    """The offset at which it ended; None where it is one moment or still so at the end."""
    evidence: tuple[LogRecord, ...] = ()
    incarnations: tuple[tuple[int, int], ...] = ()
    guards: tuple[str, ...] = ()
    release: str = ""
    cannot_say: str = ""
    lines: tuple[str, ...] = ()
    event: int = -1
    """Findings of one rule and one `event` are told as one."""
