"""The page `labs/fidelity.md`: what of Kafka is held, by what, and what is coarser.

Its tables are read off what holds each rule: the table of guards, the vectors, the recordings of
real Kafka. Its prose is in the ``.md`` files beside this one, and here. `pytest --rewrite
tests/judge/test_corpus.py` writes it, and the numbers of the README.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kiplab.protocol.guards import Guard, GuardKind
from kiplab.protocol.releases import RELEASES
from tests.fidelity.held_vectors import Held, Listed, RuleRow
from tests.judge.skeleton.coverage import GUARD, Rule
from tests.judge.skeleton.judging import Judged
from tests.made_pages import LABS, span, table

PAGE = LABS / "fidelity.md"
_KINDS = {
    GuardKind.REFUSAL: "refuses",
    GuardKind.RULE: "behaves",
    GuardKind.ALTERNATIVE: "rejected by its KIP",
    GuardKind.AS_SPECIFIED: "in no release",
    GuardKind.FEATURE: "with the feature",
}


def page(
    judged: Sequence[Judged],
    partitions: Sequence[Judged],
    rules: Sequence[RuleRow],
    vectors: Sequence[Listed],
    found: dict[str, list[Held]],
) -> str:
    """The whole page, as Markdown."""
    parts = (
        _prose("introduction"),
        _beside_real_controllers(judged),
        _beside_the_partition(partitions),
        _prose("in_plays"),
        _rules(rules, judged),
        _prose("coarser"),
        _vectors(vectors, found),
        _left_out(vectors),
    )
    return "\n".join(parts)


def _prose(name: str) -> str:
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")


def with_numbers(readme: str, judged: Sequence[Judged], partitions: Sequence[Judged]) -> str:
    """The README with the numbers of requests and turns that agree."""
    requests, turns = sum(j.turns for j in judged), sum(p.turns for p in partitions)
    counted = re.sub(r"[\d,]+(?= generated requests)", f"{requests:,}", readme, count=1)
    return re.sub(r"[\d,]+(?=\s+turns beside)", f"{turns:,}", counted, count=1)


def _beside_real_controllers(judged: Sequence[Judged]) -> str:
    requests = sum(one.turns for one in judged)
    releases = len({one.subject.partition("/")[0] for one in judged})
    rows = [
        (one.patch, one.subject.partition("/")[2], f"{one.turns:,}", str(len(one.differences)))
        for one in judged
    ]
    words = (
        f"Real controllers of {releases} releases and the engine received the same **{requests:,}"
        " requests**. Every field of every answer and every metadata record was compared. The real"
        " answers are recorded, and the test suite compares the engine with them each time.\n"
    )
    head = ("Apache Kafka", "metadata version", "requests", "differences")
    return f"## Beside real controllers\n\n{words}\n{table(head, rows)}"


def _beside_the_partition(judged: Sequence[Judged]) -> str:
    turns = sum(one.turns for one in judged)
    rows = [
        (one.patch, f"{one.conversations:,}", f"{one.turns:,}", str(len(one.differences)))
        for one in judged
    ]
    words = (
        f"`kafka.cluster.Partition` of {len(judged)} releases and the leader of the engine took the"
        f" same **{turns:,} turns**: fetches, appends, early and late metadata, answers of every"
        " kind. After each turn the ISR, the proposal, the epochs, the high watermark and the state"
        " of each follower were compared. These turns are recorded, too.\n"
    )
    head = ("Apache Kafka", "runs", "turns", "differences")
    return f"## Beside Kafka's own Partition\n\n{words}\n{table(head, rows)}"


def _rules(rules: Sequence[RuleRow], judged: Sequence[Judged]) -> str:
    words = (
        "Each rule is one sentence and one check, and can be switched off by its name. *Tests*"
        " counts the rows of the test suite that fail without the rule, and names Kafka's tests"
        " among them by id. *Real answers* counts the recorded answers that the rule decided: on"
        " how many releases, and how many on the release with the fewest. For a rule that refuses"
        " nothing, only the first twenty answers of each pair are counted. A dash means no real"
        " answer: no controller can judge what a broker decides.\n"
    )
    head = ("rule", "it says", "releases", "kind", "tests", "real answers")
    return f"## Rule by rule\n\n{words}\n{table(head, (_rule(row, judged) for row in rules))}"


def _rule(row: RuleRow, judged: Sequence[Judged]) -> tuple[str, ...]:
    ids = f" ({', '.join(row.vectors)})" if row.vectors else ""
    return (
        f"`{row.guard.id}`",
        row.guard.clause,
        span(row.guard.releases),
        _KINDS[row.guard.kind],
        f"{row.rows}{ids}",
        _real_answers(row.guard, judged),
    )


def _real_answers(guard: Guard, judged: Sequence[Judged]) -> str:
    by_release: dict[str, int] = {}
    for one in judged:
        if answers := one.hits[Rule(GUARD, guard.id)]:
            release = one.subject.partition("/")[0]
            by_release[release] = by_release.get(release, 0) + answers
    if not by_release:
        return "-"
    fewest = min(by_release, key=lambda release: by_release[release])
    return f"{sum(by_release.values()):,} on {len(by_release)}; {by_release[fewest]:,} on {fewest}"


def _vectors(vectors: Sequence[Listed], found: dict[str, list[Held]]) -> str:
    kept = [vector for vector in vectors if not vector.left_out]
    rows = [(v.id, v.kafka_test, span(_releases(found[v.id]))) for v in kept]
    words = (
        f"{len(vectors)} cases come from Kafka's unit tests, or from its code where no test has"
        f" the numbers. This test suite holds {len(kept)} of them, on each release for which they"
        " are true. All of these pass: a failing case fails the test suite.\n"
    )
    return f"## Kafka's own tests, by id\n\n{words}\n{table(('id', 'from', 'on'), rows)}"


def _releases(tests: Iterable[Held]) -> tuple[str, ...]:
    seen = {release for test in tests for release in test.releases}
    return tuple(release for release in RELEASES if release in seen)


def _left_out(vectors: Sequence[Listed]) -> str:
    reasons: dict[str, list[str]] = {}
    for vector in vectors:
        if vector.left_out:
            reasons.setdefault(vector.left_out, []).append(vector.id)
    rows = [(reason, ", ".join(ids)) for reason, ids in reasons.items()]
    return f"## Cases that are not held\n\n{table(('because', 'ids'), rows)}"
