"""Log lines of nodes beside the findings of a metadata log, and the loss that lines alone prove."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from .anonymising import InputNames
from .findings.finding import Finding
from .log_items import UNKNOWN
from .node_logs import NodeLine, read_node_logs
from .states import LogEvent

LINES_MAX, NEAR_MS = 8, 5_000
"""So many lines a finding quotes, and so far apart are line and record at most where only their
times tie them.
"""
Tie = tuple[str | int, ...]
_Proof = tuple[NodeLine, NodeLine]
"""A line that tells a high watermark, and one that tells where a log ends below it."""


class NodeLogs:
    """The lines of log files, and what they can be tied to: processes, and where leader epochs of
    the partitions begin that they name. `add` gathers these while the metadata log is replayed.
    """

    def __init__(self, paths: Iterable[str | Path], zone: str | None, names: InputNames) -> None:
        self._lines, remarks = read_node_logs(paths, zone)
        self.remarks, self._names = [names.remark(remark) for remark in remarks], names
        self._about = {names.partition(p) for n in self._lines if (p := n.read.get("partition"))}
        self._begun: dict[tuple[str, int], LogEvent] = {}
        self._processes: dict[str, Tie] = {}

    def add(self, event: LogEvent) -> None:
        """One event more."""
        if not self._lines:
            return
        state, incarnation = event.after, event.incarnation
        if state is not None and state.name in self._about:
            self._begun.setdefault((state.name, state.leader_epoch), event)
        if incarnation is not None:
            named = "incarnation", incarnation.broker, incarnation.epoch
            self._processes[incarnation.incarnation_id] = named

    def evidence(
        self, findings: Iterable[Finding], is_asked: Callable[[str], bool] = lambda _: True
    ) -> Iterator[Finding]:
        """The losses that lines prove of partitions that are asked for, then the findings with the
        lines that speak of them. By then every name of the metadata log is known.
        """
        lines = [self._names.line(line) for line in self._lines]
        yield from (lost for lost in self._losses(lines) if is_asked(lost.partitions[0]))
        tied = [(line, {*self._exact(line)}) for line in lines]
        yield from (self._quoting(finding, tied) for finding in findings)

    def _exact(self, line: NodeLine) -> Iterator[Tie]:
        """What a line names that records name as well."""
        read = line.read
        if read.keys() >= {"broker", "epoch"}:
            yield "incarnation", line.number("broker"), line.number("epoch")
        if read.keys() >= {"partition", "leader_epoch"}:
            yield "epoch", read["partition"], line.number("leader_epoch")
        if "controller_epoch" in read:
            yield "controller", line.number("controller_epoch")
        if read.get("incarnation") in self._processes:
            yield self._processes[read["incarnation"]]

    def _quoting(self, finding: Finding, tied: Iterable[tuple[NodeLine, set[Tie]]]) -> Finding:
        records, names = finding.evidence, finding.partitions
        offsets = {record.offset for record in records}
        exact: set[Tie] = {("incarnation", *incarnation) for incarnation in finding.incarnations}
        exact |= {("epoch", *at) for at, e in self._begun.items() if e.record.offset in offsets}
        exact |= {("controller", r.controller_epoch) for r in records if not names}
        # What fits many records: here the time decides.
        near = {("broker", str(broker)) for broker, _ in finding.incarnations}
        near |= {("partition", name) for name in names}
        times = [t for t in (finding.time, *(r.time for r in records)) if t != UNKNOWN]
        quoted = tuple(
            line.text
            for line, known in tied
            if known & exact
            or (not known and line.read.items() & near and _is_near(line.time, times))
        )
        return replace(finding, lines=(*finding.lines, *quoted)[:LINES_MAX])

    def _losses(self, lines: Iterable[NodeLine]) -> Iterator[Finding]:
        """F17. Where a copy proves as much or more, a leader's proof is not told again."""
        by_name: dict[str, list[NodeLine]] = {}
        for line in lines:
            by_name.setdefault(line.read.get("partition", ""), []).append(line)
        for name, known in sorted(by_name.items()):
            told: list[range] = []
            for high, low in (*_cut_copies(known), *_late_leaders(known)):
                gone = range(low.number("offset"), high.number("high_watermark"))
                if any(gone[0] in more and gone[-1] in more for more in told):
                    continue
                if low.kind == "cuts":
                    told.append(gone)
                began = low if low.kind == "leads" else high
                at = self._begun.get((name, began.number("leader_epoch")))
                topic_id = at.after.key.topic_id if at and at.after else None
                is_same = began.read.get("topic_id", topic_id) == topic_id
                yield _loss(high, low, known, at if is_same else None)


def _cut_copies(lines: Sequence[NodeLine]) -> Iterator[_Proof]:
    """A copy is cut below the high watermark that it knew: its leader lacks the rest."""
    cuts = (line for line in lines if line.kind == "cuts")
    for cut in sorted(cuts, key=lambda line: -line.number("high_watermark")):
        # It said so when it began to follow. A text begins with its time.
        said = [x for x in lines if x.kind == "follows" and x.text < cut.text]
        of = [x for x in said if x.read["high_watermark"] == cut.read["high_watermark"]]
        yield max(of, key=lambda line: line.text, default=cut), cut


def _late_leaders(lines: Iterable[NodeLine]) -> Iterator[_Proof]:
    """A leader begins below a high watermark of an earlier leader epoch: what was committed between
    the two is missing. The converse proves nothing.
    """
    leaders = [line for line in lines if line.kind in ("leads", "still leads")]
    leaders.sort(key=lambda x: (x.read["topic_id"], x.number("leader_epoch"), x.kind != "leads"))
    high: NodeLine | None = None
    for line in leaders:
        if high is None or high.read["topic_id"] != line.read["topic_id"]:
            high = line
            continue
        lost = line.kind == "leads" and line.number("offset") < high.number("high_watermark")
        if lost:
            yield high, line
        if lost or line.number("high_watermark") >= high.number("high_watermark"):
            high = line


def _is_near(time: int, times: Iterable[int]) -> bool:
    return time != UNKNOWN and any(abs(other - time) <= NEAR_MS for other in times)


def _loss(high: NodeLine, low: NodeLine, lines: Iterable[NodeLine], at: LogEvent | None) -> Finding:
    name, first, end = low.read["partition"], low.number("offset"), high.number("high_watermark")
    epochs = [line.number("leader_epoch") for line in (high, low)]
    who = "the leader" if at is None or at.after is None else f"broker {at.after.leader}"
    why = (
        f"in leader epoch {epochs[0]} the high watermark was {end}, and {who} starts leader epoch"
        f" {epochs[1]} from offset {first}"
    )
    cannot_say = f"how far the high watermark rose later in leader epoch {epochs[0]}"
    if low.kind == "cuts":
        why = f"a copy that knew the high watermark {end} is cut to offset {first}"
        cannot_say = "whether another copy has them"
    cut = (x for x in lines if x.kind in ("truncates", "cuts") and x.number("offset") < end)
    return Finding(
        "lost-by-offsets",
        "lost",
        f"{name} lost the committed records {first} to {end - 1}: {why}.",
        UNKNOWN if at is None else at.record.offset,
        low.time if at is None else at.record.time,
        partitions=(name,),
        evidence=() if at is None else (at.record,),
        cannot_say=cannot_say,
        lines=tuple(dict.fromkeys(line.text for line in (high, low, *cut)))[:LINES_MAX],
    )
