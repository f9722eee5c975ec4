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
        state, incarnation = event.after, event.incarnation
        if not self._lines:
            return
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
        tied = [(line, {*self._exact(line)}, {*_near(line)}) for line in lines]
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

    def _quoting(
        self, finding: Finding, tied: Iterable[tuple[NodeLine, set[Tie], set[Tie]]]
    ) -> Finding:
        records, names = finding.evidence, finding.partitions
        offsets = {record.offset for record in records}
        exact: set[Tie] = {("incarnation", *incarnation) for incarnation in finding.incarnations}
        exact |= {("epoch", *at) for at, e in self._begun.items() if e.record.offset in offsets}
        exact |= {("controller", r.controller_epoch) for r in records if not names}
        near: set[Tie] = {("broker", broker) for broker, _ in finding.incarnations}
        near |= {("partition", name) for name in names}
        times = [t for t in (finding.time, *(r.time for r in records)) if t != UNKNOWN]
        quoted = tuple(
            line.text
            for line, known, hints in tied
            if known & exact or (not known and hints & near and _is_near(line.time, times))
        )
        return replace(finding, lines=(*finding.lines, *quoted)[:LINES_MAX])

    def _losses(self, lines: Sequence[NodeLine]) -> Iterator[Finding]:
        """F17: a leader that begins below a high watermark of an earlier leader epoch, or a copy
        that is cut below the one that it knew: what was committed between the two is missing. The
        converse proves nothing.
        """
        told: list[tuple[str, int, int]] = []
        leaders: dict[tuple[str, str], list[NodeLine]] = {}
        for line in lines:
            if line.kind in ("leads", "still leads"):
                of = line.read["partition"], line.read["topic_id"]
                leaders.setdefault(of, []).append(line)
        for (name, topic_id), known in sorted(leaders.items()):
            high: NodeLine | None = None
            for line in sorted(known, key=lambda x: (x.number("leader_epoch"), x.kind != "leads")):
                begun = self._begun.get((name, line.number("leader_epoch")))
                is_other = begun and begun.after and begun.after.key.topic_id != topic_id
                end = UNKNOWN if high is None else high.number("high_watermark")
                lost = line.kind == "leads" and line.number("offset") < end
                if high is not None and lost:
                    told.append((name, line.number("offset"), end))
                    yield _loss(high, line, lines, None if is_other else begun)
                if lost or line.number("high_watermark") >= end:
                    high = line
        for cut in sorted(lines, key=lambda line: -line.number("high_watermark")):
            if cut.kind == "cuts":
                name, first, end = (
                    cut.read["partition"],
                    cut.number("offset"),
                    cut.number("high_watermark"),
                )
                if not any(name == of and low <= first and end <= high for of, low, high in told):
                    told.append((name, first, end))
                    yield self._cut(cut, lines)

    def _cut(self, cut: NodeLine, lines: Iterable[NodeLine]) -> Finding:
        """What a copy told when it began to follow: a text begins with its time."""
        same = {name: cut.read[name] for name in ("partition", "high_watermark")}
        told = (x for x in lines if x.kind == "follows" and x.read.items() >= same.items())
        since = max((x for x in told if x.text < cut.text), key=lambda x: x.text, default=cut)
        epoch = cut.read["partition"], since.number("leader_epoch")
        return _loss(since, cut, lines, self._begun.get(epoch))


def _near(line: NodeLine) -> Iterator[Tie]:
    """What a line names that fits many records: here its time decides."""
    if "partition" in line.read:
        yield "partition", line.read["partition"]
    if "broker" in line.read:
        yield "broker", line.number("broker")


def _is_near(time: int, times: Iterable[int]) -> bool:
    return time != UNKNOWN and any(abs(other - time) <= NEAR_MS for other in times)


def _loss(high: NodeLine, low: NodeLine, lines: Iterable[NodeLine], at: LogEvent | None) -> Finding:
    name, first, end = low.read["partition"], low.number("offset"), high.number("high_watermark")
    epochs = [line.number("leader_epoch") for line in (high, low)]
    who = "the leader" if at is None or at.after is None else str(at.after.leader)
    why = (
        f"in leader epoch {epochs[0]} the high watermark was {end}, and {who} starts leader epoch"
        f" {epochs[1]} from offset {first}"
    )
    cannot_say = f"how far the high watermark rose later in leader epoch {epochs[0]}"
    if low.kind == "cuts":
        why = f"a copy that knew the high watermark {end} is cut to offset {first}"
        cannot_say = "whether another copy has them"
    copies = (x for x in lines if x.kind in ("truncates", "cuts") and x.number("offset") < end)
    quoted = [high, low, *(x for x in copies if x.read.get("partition") == name)]
    return Finding(
        "lost-by-offsets",
        "lost",
        f"{name} lost the committed records {first} to {end - 1}: {why}.",
        UNKNOWN if at is None else at.record.offset,
        low.time if at is None else at.record.time,
        partitions=(name,),
        evidence=() if at is None else (at.record,),
        cannot_say=cannot_say,
        lines=tuple(dict.fromkeys(line.text for line in quoted))[:LINES_MAX],
    )
