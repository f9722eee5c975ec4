"""A twin of the level "partition" with eligible leader replicas, for minicheck to judge.

It is written from KIP-497, KIP-841, KIP-903 and KIP-966, from what Kafka 4.3 is said to do, and
from the definition of a state in kiplab/explore/levels/levels.toml; of kiplab it imports nothing.
minicheck has to count the same states, and to find ways to lose data that are as short.
Without the guard 497.pending-outlives-metadata it is Kafka as built. What is as in
tla/KiplabPartition.tla has the names of there.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from minicheck import Protocol

NOBODY = -1
RECOVERED, RECOVERING = 0, 1
Ids = frozenset[int]


class Log(NamedTuple):
    """`entries` are (leader epoch, start): the last one may start at the end."""

    entries: tuple[tuple[int, int], ...] = ()
    end: int = 0


class Request(NamedTuple):
    """An AlterPartition: `members` are (broker, incarnation that the leader knows)."""

    sender: int
    incarnation: int
    epoch: int
    version: int
    members: tuple[tuple[int, int], ...]


class Role(NamedTuple):
    """What a process makes of the partition; a follower has the first three fields alone."""

    leader: int
    epoch: int
    hwm: int
    leads: bool = False
    version: int = 0
    start: int = 0
    isr: Ids = frozenset()
    sent: Request | None = None
    remotes: tuple[tuple[int, int], ...] = ()
    view: Any = ()
    seen: int = 0
    recovery: int = RECOVERED


class Broker(NamedTuple):
    """`incarnation` is the registered process. `clean` is the one that stopped in order, or 0."""

    incarnation: int = 1
    log: Log = Log()
    role: Role | None = None
    mark: int = 0
    clean: int = 0
    fenced: bool = False
    leaving: bool = False
    heard: bool = True


class Control(NamedTuple):
    """The partition as the controller has it."""

    leader: int
    epoch: int
    version: int
    isr: Ids
    elr: Ids
    last: int
    recovery: int


class Seen(NamedTuple):
    """What somebody knows who sees every disk."""

    committed: Log = Log()
    incarnations: tuple[tuple[int, int], ...] = ()
    excused: bool = False
    lost: bool = False


class State(NamedTuple):
    control: Control
    brokers: tuple[Broker, ...]
    requests: frozenset[Request]
    seen: Seen
    left: tuple[tuple[str, int], ...]


# --- logs -----------------------------------------------------------------------------------------


def below(entries: tuple[tuple[int, int], ...], offset: int) -> tuple[tuple[int, int], ...]:
    return tuple(e for e in entries if e[1] < offset)


def epoch_at(log: Log, offset: int) -> int:
    return max((epoch for epoch, at in log.entries if at <= offset), default=-1)


def noting(log: Log, epoch: int) -> Log:
    if log.entries and log.entries[-1][0] >= epoch:
        return log
    return Log((*below(log.entries, log.end), (epoch, log.end)), log.end)


def cut(log: Log, offset: int) -> Log:
    end = min(offset, log.end)
    return Log(below(log.entries, end), end)


def holds(log: Log, records: Log) -> bool:
    same = (epoch_at(log, n) == epoch_at(records, n) for n in range(records.end))
    return log.end >= records.end and all(same)


def extended(mine: Log, theirs: Log) -> Log:
    for offset in range(mine.end, theirs.end):
        epoch, kept = epoch_at(theirs, offset), below(mine.entries, offset)
        mine = mine if kept and kept[-1][0] == epoch else Log((*kept, (epoch, offset)), offset)
        mine = Log(mine.entries, offset + 1)
    return mine


def end_of(log: Log, epoch: int) -> tuple[int, int]:
    """The largest epoch up to `epoch` that a log has, and where it ends; of none (-1, -1)."""
    if not any(e >= epoch for e, _ in log.entries):
        return -1, -1
    later = [at for e, at in log.entries if e > epoch]
    low = [e for e, _ in log.entries if e <= epoch]
    return (low[-1] if low else epoch), min(later, default=log.end)


# --- the model ------------------------------------------------------------------------------------


class Twin:
    """The level within `bounds`, with min.insync.replicas `least`, and with some guards `off`."""

    def __init__(
        self,
        isr: tuple[int, ...],
        least: int,
        bounds: Mapping[str, int],
        off: tuple[str, ...] = (),
        *,
        elr: tuple[int, ...] = (),
        records: int = 0,
    ) -> None:
        """Everybody begins with so many committed records."""
        self.ids, self.least, self.off = (1, 2, 3), least, off
        control = Control(1, 1, 1, frozenset(isr), frozenset(elr), NOBODY, RECOVERED)
        led = Log(((1, 0),), records)
        other = led if records else Log()
        brokers = tuple(Broker(log=log, mark=records) for log in (led, other, other))
        seen = Seen(other, tuple((member, 1) for member in sorted(isr)))
        bare = State(control, brokers, frozenset(), seen, tuple(bounds.items()))
        follows = Role(1, 1, records)
        roles = [self.leading(bare, 1, follows), follows, follows]
        some = zip(brokers, roles, strict=True)
        self.first = bare._replace(brokers=tuple(b._replace(role=r) for b, r in some))

    def on(self, guard: str) -> bool:
        return guard not in self.off and guard.split(".")[0] not in self.off

    # --- the controller ---

    def changed(
        self, s: State, isr: Ids, *, gone: Ids = frozenset(), dirty: int = 0, recovery: int = -1
    ) -> State:
        """The ISR is to be `isr`; brokers in `gone` may not lead, and `dirty` did not stop in
        order. KIP-966: membership, election, last known leader."""
        c, least = s.control, min(self.least, 3)
        able = [b for b in self.ids if not s.brokers[b - 1].fenced and b not in gone]
        elr = c.elr
        if self.on("966.elr-members"):
            elr = frozenset() if len(isr) >= least else (c.elr | c.isr) - isr - {dirty}
        eligible = isr or (elr if self.on("966.elr-election") else frozenset())
        valid = [b for b in able if b in eligible]
        leader, unclean = (c.leader if c.leader in valid else min(valid, default=NOBODY)), False
        if leader == NOBODY and not isr and not elr and c.last in able:
            leader, unclean = c.last, True
        if leader in elr:
            isr, elr = frozenset({leader}), elr - {leader}
        if unclean:
            isr, elr, recovery = frozenset({leader}), frozenset(), RECOVERING
        elif not isr and not self.on("966.elr-empty-isr"):
            isr = c.isr
        if not self.on("966.elr-members"):
            elr = frozenset()
        last = c.last
        if leader != c.leader and self.on("966.elr-last-known-leader"):
            last = c.last if c.last != NOBODY else c.leader
            last = NOBODY if leader != NOBODY else last
        recovery = c.recovery if recovery < 0 else recovery
        after = Control(leader, c.epoch, c.version, isr, elr, last, recovery)
        if after == c:
            return s
        after = after._replace(epoch=c.epoch + (leader != c.leader), version=c.version + 1)
        return s._replace(control=after, seen=self.members(s, after, unclean=unclean))

    def members(self, s: State, after: Control, *, unclean: bool) -> Seen:
        known = dict(s.seen.incarnations)
        incarnations = {b: known.get(b, s.brokers[b - 1].incarnation) for b in after.isr}
        if after.leader not in (s.control.leader, NOBODY) and after.isr == {after.leader}:
            incarnations = {after.leader: s.brokers[after.leader - 1].incarnation}
        excused = s.seen.excused or unclean
        return s.seen._replace(incarnations=tuple(sorted(incarnations.items())), excused=excused)

    def fence(self, s: State, b: int) -> State:
        s = put(s, b, fenced=True)
        return self.changed(s, s.control.isr - {b}) if b in s.control.isr else s

    def unfence(self, s: State, b: int) -> State:
        s = put(s, b, fenced=False, heard=True)
        return self.changed(s, s.control.isr) if s.control.leader == NOBODY else s

    def start(self, s: State, b: int) -> State:
        mine, gone = s.brokers[b - 1], frozenset({b})
        dirty = mine.clean != mine.incarnation and self.on("966.elr-unclean-shutdown")
        if b in s.control.isr or (dirty and b in s.control.elr):
            s = self.changed(s, s.control.isr - gone, gone=gone, dirty=b if dirty else 0)
        kept = Log(below(mine.log.entries, mine.log.end), mine.log.end)
        s = put(
            s, b, incarnation=mine.incarnation + 1, log=kept, clean=0, fenced=True, leaving=False
        )
        s = put(s, b, heard=False)
        return self.play(s, b, Role(NOBODY, 0, mine.mark))

    def deliver(self, s: State, r: Request) -> State:
        c, b = s.control, s.brokers[r.sender - 1]
        s = s._replace(requests=s.requests - {r})
        heeds = b.role is not None and r.incarnation == b.incarnation and b.role.sent == r
        if (r.incarnation, r.epoch, r.version, r.sender) != (
            b.incarnation,
            c.epoch,
            c.version,
            c.leader,
        ):
            return s
        if not all(self.eligible(s, r, *member) for member in r.members):
            return put(s, r.sender, role=b.role._replace(sent=None)) if heeds and b.role else s
        asked = {m: incarnation or s.brokers[m - 1].incarnation for m, incarnation in r.members}
        incarnations = {**asked, **dict(s.seen.incarnations)}
        s = s._replace(seen=s.seen._replace(incarnations=tuple(sorted(incarnations.items()))))
        s = self.changed(s, frozenset(asked), recovery=RECOVERED)
        after = s.control
        if not heeds or b.role is None or (after.leader, after.epoch) != (c.leader, b.role.epoch):
            return s
        adopted = b.role._replace(
            isr=after.isr, sent=None, version=after.version, recovery=after.recovery
        )
        return self.committed(s, r.sender, b.role.hwm, self.advanced(adopted, b.log), b.log)

    def eligible(self, s: State, r: Request, member: int, incarnation: int) -> bool:
        b = s.brokers[member - 1]
        named = incarnation if member == r.sender or self.on("903") else 0
        if self.on("841") and (b.fenced or b.leaving):
            return False
        return not (self.on("903") and named not in (0, b.incarnation))

    # --- brokers ---

    def advanced(self, r: Role, log: Log) -> Role:
        if len(r.isr) < min(self.least, 3) and self.on("966.committed-with-min-isr"):
            return r
        proposed = {m for m, _ in r.sent.members} if r.sent else set()
        counted = (r.isr | proposed) & {b for b in self.ids if r.remotes[b - 1][0] != -2}
        lowest = min([log.end, *(r.remotes[b - 1][0] for b in counted)])
        return r._replace(hwm=max(r.hwm, lowest))

    def committed(self, s: State, b: int, before: int, r: Role, log: Log) -> State:
        s = put(s, b, role=r, log=log)
        if r.hwm > before and r.hwm > s.seen.committed.end:
            s = s._replace(seen=s.seen._replace(committed=cut(log, r.hwm)))
        return s

    def shown(self, s: State, b: int) -> Any:
        return tuple(
            (o.incarnation, o.fenced, o.leaving) for n, o in enumerate(s.brokers, 1) if n != b
        )

    def leading(self, s: State, b: int, r: Role) -> Role:
        c, log = s.control, s.brokers[b - 1].log
        same = r.leads and r.epoch == c.epoch
        keeps = same and r.version == c.version and self.on("497.pending-outlives-metadata")
        fresh = tuple((-2, 0) if n == b else (-1, 0) for n in self.ids)
        return Role(
            leader=b,
            epoch=c.epoch,
            hwm=min(r.hwm, log.end),
            leads=True,
            version=c.version,
            start=r.start if same else log.end,
            isr=r.isr if keeps else c.isr,
            sent=r.sent if keeps else None,
            remotes=r.remotes if r.leads else fresh,
            view=self.shown(s, b),
            seen=c.version,
            recovery=r.recovery if keeps else c.recovery,
        )

    def play(self, s: State, b: int, r: Role) -> State:
        c, log = s.control, s.brokers[b - 1].log
        if c.leader != b:
            return put(s, b, role=Role(c.leader, c.epoch, min(r.hwm, log.end)))
        log = noting(log, c.epoch)
        s = put(s, b, log=log)
        before = self.leading(s, b, r)
        after = self.advanced(before, log)
        takes_over = not r.leads or r.epoch < c.epoch
        if takes_over and not holds(log, s.seen.committed):
            seen = s.seen._replace(committed=cut(log, after.hwm), lost=not s.seen.excused)
            return put(s, b, role=after)._replace(seen=seen)
        return self.committed(s, b, before.hwm, after, log)

    def view(self, s: State, b: int, r: Role) -> State:
        if r.leads and r.seen == s.control.version:
            return put(s, b, role=r._replace(view=self.shown(s, b)))
        return self.play(s, b, r)

    def fetch(self, s: State, f: int, mine: Role) -> State | None:
        if mine.leader == NOBODY or mine.leads:
            return None
        leader, log = s.brokers[mine.leader - 1], s.brokers[f - 1].log
        if leader.role is None or not leader.role.leads or leader.role.epoch != mine.epoch:
            return None
        latest = log.entries[-1][0] if log.entries else -1
        epoch, at = end_of(leader.log, latest) if latest >= 0 else (0, log.end)
        if epoch >= latest and at >= log.end:
            return self.served(s, f, mine, leader.role, leader.log)
        if epoch == -1:
            to = leader.log.end
        else:
            own, end = end_of(log, epoch)
            to = at if own == -1 else min(end, at) if own == epoch else end
        shorter = cut(log, to)
        hwm = mine.hwm if shorter == log else min(mine.hwm, shorter.end)
        return put(s, f, log=shorter, role=mine._replace(hwm=hwm))

    def served(self, s: State, f: int, mine: Role, r: Role, log: Log) -> State:
        own, b = s.brokers[f - 1], mine.leader
        moved = own.log.end != r.remotes[f - 1][0]
        said = own.incarnation if self.on("903") else 0
        noted = tuple((own.log.end, said) if n == f else x for n, x in enumerate(r.remotes, 1))
        before, r = r.hwm, r._replace(remotes=noted)
        incarnation = s.brokers[b - 1].incarnation
        busy = any((q.sender, q.incarnation) == (b, incarnation) for q in s.requests)
        if self.joins(r, b, f, own) and not busy:
            members = tuple(
                (m, incarnation if m == b else r.remotes[m - 1][1]) for m in sorted(r.isr | {f})
            )
            request = Request(b, incarnation, r.epoch, r.version, members)
            r = r._replace(sent=request)
            s = s._replace(requests=s.requests | {request})
        longer = extended(own.log, log)
        s = put(s, f, log=longer, role=mine._replace(hwm=min(before, longer.end)))
        return self.committed(s, b, before, self.advanced(r, log) if moved else r, log)

    def joins(self, r: Role, b: int, f: int, own: Broker) -> bool:
        incarnation, fenced, leaving = r.view[[n for n in self.ids if n != b].index(f)]
        if r.sent is not None or f in r.isr or own.log.end < max(r.hwm, r.start):
            return False
        if self.on("841") and (fenced or leaving):
            return False
        return not self.on("903") or not (fenced or incarnation != own.incarnation)

    # --- what can happen ---

    def stops(self, s: State, b: int) -> State | None:
        active = [n for n in self.ids if not s.brokers[n - 1].fenced]
        leads = s.control.leader == b
        if b not in active or (leads and active != [b]):
            return None
        mine = s.brokers[b - 1]
        assert mine.role is not None
        mark = mine.role.hwm
        s = self.fence(put(s, b, role=None, mark=mark, clean=mine.incarnation, leaving=leads), b)
        return put(s, b, heard=True)

    def moves(self, s: State) -> Iterator[tuple[str, State | None]]:
        for request in s.requests:
            yield "deliver", self.deliver(s, request)
        for b, mine in enumerate(s.brokers, 1):
            r, left = mine.role, dict(s.left)
            if mine.heard and (r is None or left["fences"]):
                over = self.fence(put(s, b, heard=False), b)
                yield "fence", spend(over, "fences") if r else over
            if r is None:
                if not mine.heard:
                    yield "start", self.start(s, b)
                continue
            if mine.fenced:
                yield "unfence", self.unfence(s, b)
            yield "fetch", self.fetch(s, b, r)
            if self.has_news(s, b, r):
                yield "view", self.view(s, b, r)
            if left["writes"] and r.leads and len(r.isr) >= min(self.least, 3):
                longer = noting(mine.log, r.epoch)
                longer = longer._replace(end=longer.end + 1)
                done = self.committed(s, b, r.hwm, self.advanced(r, longer), longer)
                yield "write", spend(done, "writes")
            if left["crashes"]:
                yield "crash", spend(put(s, b, role=None, log=Log(), mark=0), "crashes")
            if left.get("kills"):
                yield "kill", spend(put(s, b, role=None), "kills")
            if left.get("stops") and (stopped := self.stops(s, b)) is not None:
                yield "stop", spend(stopped, "stops")

    def has_news(self, s: State, b: int, r: Role) -> bool:
        c = s.control
        if not r.leads:
            return (r.leader, r.epoch) != (c.leader, c.epoch)
        return r.view != self.shown(s, b) or r.seen != c.version

    def broken(self, s: State) -> bool:
        """Committed records are lost, or could be by electing somebody now."""
        if s.seen.lost:
            return True
        able = (s.brokers[b - 1] for b in s.control.isr or s.control.elr)
        return not s.seen.excused and any(
            not b.fenced and b.role is not None and not holds(b.log, s.seen.committed) for b in able
        )

    def protocol(self, *, beyond: bool) -> Protocol:
        """For minicheck; `beyond` says whether to go on where something is broken."""

        def transitions(state: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
            s = State(*state)
            if not beyond and self.broken(s):
                return []
            s = s._replace(seen=s.seen._replace(lost=False))
            return [(name, tuple(to)) for name, to in self.moves(s) if to not in (None, s)]

        return Protocol(
            name="partition with eligible leader replicas",
            candidate=False,
            fields=State._fields,
            initial=tuple(self.first),
            transitions=transitions,
            invariants={"nothing is lost": lambda s: not self.broken(State(**s))},
        )


def put(s: State, b: int, **fields: Any) -> State:
    some = enumerate(s.brokers, 1)
    return s._replace(brokers=tuple(o._replace(**fields) if n == b else o for n, o in some))


def spend(s: State, name: str) -> State:
    return s._replace(left=tuple((n, left - (n == name)) for n, left in s.left))
