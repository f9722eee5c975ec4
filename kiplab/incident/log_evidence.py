"""Log lines of nodes beside the findings of a metadata log, and the loss that lines alone prove."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from .findings.finding import Finding
from .node_logs import NodeLine
from .records import UNKNOWN
from .states import LogEvent

LINES_MAX = 8
"""So many lines a finding quotes."""
NEAR_MS = 5_000
"""How far apart line and record may be where their times are all that ties them."""
Tie = tuple[str | int, ...]


class LineTies:
    """What log lines can be tied to, gathered while a log is replayed: processes, and where leader
    epochs of the partitions begin that lines name.
    """

    def __init__(self, lines: Iterable[NodeLine]) -> None:
        self.begun: dict[tuple[str, int], LogEvent] = {}
        self.processes: dict[str, Tie] = {}
        self._named = {line.read["partition"] for line in lines if "partition" in line.read}

    def add(self, event: LogEvent) -> None:
        """One event more."""
        state, life = event.after, event.life
        if state is not None and state.name in self._named:
            self.begun.setdefault((state.name, state.leader_epoch), event)
        if life is not None:
            self.processes[life.incarnation] = ("life", life.broker, life.epoch)


def evidence(
    findings: Iterable[Finding], lines: Sequence[NodeLine], ties: LineTies
) -> list[Finding]:
    """The losses that lines prove, then the findings with the lines that speak of them."""
    epochs: dict[int, Tie] = {e.record.offset: ("epoch", *at) for at, e in ties.begun.items()}
    tied = [(line, set(_exact(line, ties.processes)), set(_near(line))) for line in lines]
    return [*lost_by_offsets(lines, ties), *(_quoting(f, tied, epochs) for f in findings)]


def _exact(line: NodeLine, processes: Mapping[str, Tie]) -> Iterator[Tie]:
    """What a line names that records name as well."""
    read = line.read
    if read.keys() >= {"broker", "epoch"}:
        yield "life", line.number("broker"), line.number("epoch")
    if read.keys() >= {"partition", "leader_epoch"}:
        yield "epoch", read["partition"], line.number("leader_epoch")
    if "controller_epoch" in read:
        yield "controller", line.number("controller_epoch")
    if read.get("incarnation") in processes:
        yield processes[read["incarnation"]]


def _near(line: NodeLine) -> Iterator[Tie]:
    """What a line names that fits many records: here its time decides."""
    if "partition" in line.read:
        yield "partition", line.read["partition"]
    if "broker" in line.read:
        yield "broker", line.number("broker")


def _quoting(
    finding: Finding,
    tied: Iterable[tuple[NodeLine, set[Tie], set[Tie]]],
    epochs: Mapping[int, Tie],
) -> Finding:
    records, names = finding.evidence, finding.partitions
    exact: set[Tie] = {("life", *life) for life in finding.lives}
    exact |= {epochs[r.offset] for r in records if r.offset in epochs}
    exact |= {("controller", r.controller_epoch) for r in records if not names}
    near: set[Tie] = {("partition", name) for name in names}
    near |= {("broker", broker) for broker, _ in finding.lives}
    times = [t for t in (finding.time, *(r.time for r in records)) if t != UNKNOWN]
    quoted = tuple(
        line.text
        for line, said, hints in tied
        if said & exact or (not said and hints & near and _is_near(line.time, times))
    )
    return replace(finding, lines=(*finding.lines, *quoted)[:LINES_MAX])


def _is_near(time: int, times: Iterable[int]) -> bool:
    return time != UNKNOWN and any(abs(other - time) <= NEAR_MS for other in times)


def lost_by_offsets(lines: Sequence[NodeLine], ties: LineTies) -> Iterator[Finding]:
    """A leader that begins below a high watermark of an earlier leader epoch: what was committed
    between the two is missing. The converse proves nothing.
    """
    leaders: dict[tuple[str, str], list[NodeLine]] = {}
    for line in lines:
        if line.kind == "leads":
            leaders.setdefault((line.read["partition"], line.read["topic_id"]), []).append(line)
    for (name, topic_id), said in sorted(leaders.items()):
        high: NodeLine | None = None
        for line in sorted(said, key=lambda line: line.number("leader_epoch")):
            at = ties.begun.get((name, line.number("leader_epoch")))
            at = at if at and at.after and at.after.key.topic_id == topic_id else None
            if high is not None and line.number("offset") < high.number("high_watermark"):
                cut = [x for x in lines if x.kind == "truncates" and x.read["partition"] == name]
                yield _lost(name, high, line, cut, at)
                high = line
            elif high is None or line.number("high_watermark") >= high.number("high_watermark"):
                high = line


def _lost(
    name: str, high: NodeLine, low: NodeLine, cut: Iterable[NodeLine], at: LogEvent | None
) -> Finding:
    first, end = low.number("offset"), high.number("high_watermark")
    epochs = [line.number("leader_epoch") for line in (high, low)]
    who = "the leader" if at is None or at.after is None else str(at.after.leader)
    copies = (line.text for line in cut if line.number("offset") < end)
    return Finding(
        "lost-by-offsets",
        "lost",
        f"{name} lost the committed records {first} to {end - 1}: in leader epoch {epochs[0]} the"
        f" high watermark was {end}, and {who} starts leader epoch {epochs[1]} from offset"
        f" {first}.",
        UNKNOWN if at is None else at.record.offset,
        low.time if at is None else at.record.time,
        partitions=(name,),
        evidence=() if at is None else (at.record,),
        cannot_say=f"how far the high watermark rose later in leader epoch {epochs[0]}.",
        lines=(high.text, low.text, *copies)[:LINES_MAX],
    )
