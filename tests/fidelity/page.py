"""The page `labs/fidelity.md`: what of Kafka is held, by what, and what is coarser.

Its tables are read off what holds each rule: the table of guards, the vectors, the recordings of
real Kafka, and ``coarser.md`` beside this file. `pytest --rewrite tests/judge/test_corpus.py`
writes it, and the numbers of the README.
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
COARSER = Path(__file__).with_name("coarser.md")
_KINDS = {
    GuardKind.REFUSAL: "refuses",
    GuardKind.RULE: "behaves",
    GuardKind.ALTERNATIVE: "rejected by its KIP",
    GuardKind.AS_SPECIFIED: "in no release",
}

INTRODUCTION = """\
# How true is this to Kafka?

kiplab has one model of Kafka. This page says what holds each of its rules: Kafka's own unit tests,
restated under their names; real controllers, which were asked the same questions as the engine; and
Kafka's own `Partition`, the leader's side, driven through the same turns. Nobody wrote the tables:
they are made of the tests and recordings themselves, and the test suite fails when they are no
longer what these say.
"""

IN_PLAYS = """\
## In plays

`kiplab real` runs a play beside both at once. The real controller decides what controllers decide,
and every running broker's own `Partition`, AlterPartition manager and log take each of its turns:
fetches served and proposals made, answers, metadata, records appended and cut, restarts with what
the disk has kept. The plays that come with kiplab are recorded on every release, and the suite
plays them again. Of 3.2, and of a play with a line that no real broker can be told, brokers are the
engine's, and the run says so.
"""

UNJUDGED = """\
## Unjudged

No real Kafka stands beside these; they follow its source, and the tests that restate its own:

- the follower's fetcher: what it asks for, and where it cuts its log; the log itself and its high
  watermark are Kafka's own in plays
- the broker's lifecycle beyond what its requests show, the order of deliveries, and the clock's
  periodic tasks between two requests
- the consumer, which follows KIP-320 and Kafka's clients
- brokers of one release under a controller of another
- 3.2's leader: its `Partition` has other methods, and is not driven
"""


def page(
    judged: Sequence[Judged],
    partitions: Sequence[Judged],
    rules: Sequence[RuleRow],
    vectors: Sequence[Listed],
    found: dict[str, list[Held]],
) -> str:
    """The whole page, as Markdown."""
    parts = (
        INTRODUCTION,
        _beside_real_controllers(judged),
        _beside_the_partition(partitions),
        IN_PLAYS,
        UNJUDGED,
        _rules(rules, judged),
        COARSER.read_text(encoding="utf-8").rstrip("\n"),
        _vectors(vectors, found),
        _left_out(vectors),
    )
    return "\n".join(parts)


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
        f"**{requests:,} requests** were put to real controllers of {releases} releases and to the"
        " engine; every field of every answer and every metadata record was compared. The answers"
        " are recorded, and the suite asks the engine again each time.\n"
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
        f"`kafka.cluster.Partition` of {len(judged)} releases was taken through **{turns:,} turns**"
        " (fetches, appends, metadata early and late, answers of every kind), and the leader of the"
        " engine beside it; after each turn the ISR, the proposal, the epochs, the high watermark"
        " and what is known of each follower were compared. These, too, are recorded.\n"
    )
    head = ("Apache Kafka", "runs", "turns", "differences")
    return f"## Beside Kafka's own Partition\n\n{words}\n{table(head, rows)}"


def _rules(rules: Sequence[RuleRow], judged: Sequence[Judged]) -> str:
    words = (
        "Each rule is one sentence and one check, and can be switched off by its name. *Tests* are"
        " rows of the suite that fail without it, with the ids of Kafka's tests among them."
        " *Real answers* are those that it decided, of those recorded: on how many releases, and on"
        " which release the fewest. Of a rule that refuses nothing the first twenty of each pair"
        " are counted. A dash is no answer: what a broker decides, no controller can judge.\n"
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
        f"{len(kept)} of {len(vectors)} cases that were taken from Kafka's unit tests, or traced"
        " through its code where no test fixes the numbers, are held by this suite, on each release"
        " that they are true for. All pass: otherwise this page would not have been made.\n"
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
