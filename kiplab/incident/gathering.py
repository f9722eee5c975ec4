"""The findings of a whole log, those of one rule and one event told as one, and its remarks."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import get_args

import msgspec

from .findings.finding import Finding, FindingKind
from .log_items import Remark, RemarkKind

KEPT = 10_000
"""As many findings are kept; the rest is counted."""
REMARKS_KEPT = 1000
"""As many remarks of one kind are kept; the rest is counted."""
_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
_ALONE = -1
_FindingKey = tuple[str, int, int]


class GatheredRemarks(Iterable[Remark]):
    """The first remarks of each kind as they come, then how many more there are."""

    def __init__(self) -> None:
        self._kept: list[Remark] = []
        self._counts: Counter[RemarkKind] = Counter()

    def add(self, remark: Remark) -> None:
        """One remark more."""
        self._counts[remark.kind] += 1
        if self._counts[remark.kind] <= REMARKS_KEPT:
            self._kept.append(remark)

    def __iter__(self) -> Iterator[Remark]:
        yield from self._kept
        for kind, count in self._counts.items():
            if (more := count - REMARKS_KEPT) > 0:
                yield Remark(kind, f"{more:,} more of this kind are counted only: {kind}", "")


class _FoundTogether(msgspec.Struct):
    """The first finding of an event, and what the others add."""

    first: Finding
    partitions: list[str]
    incarnations: dict[tuple[int, int], None]


class GatheredFindings:
    """Findings as they come. `left_out` counts those that are not kept."""

    def __init__(self) -> None:
        self.left_out = 0
        self._groups: dict[FindingKind, dict[_FindingKey, _FoundTogether]] = {
            kind: {} for kind in _KINDS
        }
        self._names: dict[str, str] = {}
        self._count = self._added = 0

    def add(self, finding: Finding) -> None:
        """One finding more. Where there are KEPT, a graver one takes the place of a lesser one."""
        self._added += 1
        alone = self._added if finding.event == _ALONE else _ALONE
        key = (finding.rule, finding.event, alone)
        groups = self._groups[finding.kind]
        group = groups.get(key)
        if group is None:
            if self._count == KEPT and not self._gave_way(finding.kind):
                self.left_out += 1
                return
            group = groups[key] = _FoundTogether(finding, [], {})
            self._count += 1
        # A name is one text, however many findings have it.
        group.partitions += (self._names.setdefault(name, name) for name in finding.partitions)
        group.incarnations.update(dict.fromkeys(finding.incarnations))

    def leaves_out(self, rule: str, event: int) -> bool:
        """Whether there is no place for a note of that rule and event: then it is counted here, and
        need not be made.
        """
        full = self._count == KEPT and (rule, event, _ALONE) not in self._groups["note"]
        self.left_out += full
        return full

    def add_all(self, findings: Iterable[Finding]) -> None:
        """Some more."""
        for finding in findings:
            self.add(finding)

    def in_order(self) -> tuple[Finding, ...]:
        """The gravest kind first, each kind in the order of the log."""
        groups = (group for kind in _KINDS for group in self._groups[kind].values())
        found = (
            msgspec.structs.replace(
                group.first,
                partitions=tuple(dict.fromkeys(group.partitions)),
                incarnations=tuple(group.incarnations),
            )
            for group in groups
        )
        return tuple(sorted(found, key=lambda f: (_KINDS.index(f.kind), f.offset)))

    def _gave_way(self, kind: FindingKind) -> bool:
        lesser = _KINDS[: _KINDS.index(kind) : -1]
        for groups in (self._groups[other] for other in lesser if self._groups[other]):
            groups.popitem()
            self._count -= 1
            self.left_out += 1
            return True
        return False
