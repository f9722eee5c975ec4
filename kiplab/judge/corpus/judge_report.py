"""What judging comes to, for people: a line for each pair, what was tried, and every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ...plays.play import format_play
from ..conversation.partings import told
from ..conversation.turns import Created, Exchange, Noticed, Raised, TookOver, Turn, Waited
from .controller_rules import ControllerRule, rules_of
from .difference_as_play import UntoldError, difference_as_play
from .judging import FoundParting, Judged
from .rule_coverage import ENOUGH
from .unreachable_rules import why_unreachable

_COLUMNS = "{:<13} {:<15} {:>13} {:>9} {:>11} {:>9} {:>8}"
HEADING = _COLUMNS.format(
    "pair", "source", "conversations", "requests", "differences", "rules", "seconds"
)


def line_of(judged: Judged) -> str:
    """One line of the table under `HEADING`; of the rules, how many the pair has tried at all."""
    rules = [r for r in rules_of(judged.pair.release) if why_unreachable(r, judged.pair) is None]
    tried = sum(1 for rule in rules if judged.coverage.hits[rule])
    return _COLUMNS.format(
        str(judged.pair),
        judged.source,
        judged.conversations,
        f"{judged.requests:,}",
        len(judged.differences),
        f"{tried}/{len(rules)}",
        f"{judged.seconds:.1f}",
    )


def summary(judged: Iterable[Judged]) -> str:
    """All pairs in one sentence."""
    every = list(judged)
    live = sum(1 for one in every if one.live)
    requests = sum(one.requests for one in every)
    parted = sum(len(one.differences) for one in every)
    return (
        f"{len(every)} pairs, {live} live and {len(every) - live} recorded: {requests:,} requests,"
        f" {parted} differences."
    )


# --- coverage -------------------------------------------------------------------------------------


def hits_by_release(judged: Iterable[Judged]) -> dict[str, Counter[ControllerRule]]:
    """How often each release has tried each rule, at all its metadata versions together."""
    found: dict[str, Counter[ControllerRule]] = {}
    for one in judged:
        found.setdefault(one.pair.release, Counter()).update(one.coverage.hits)
    return found


def untried(judged: Iterable[Judged]) -> Iterator[str]:
    """For each rule that a release has and has hardly tried, what to do."""
    every = list(judged)
    for release, hits in hits_by_release(every).items():
        pairs = [one.pair for one in every if one.pair.release == release]
        for rule in rules_of(release):
            reasons = [why_unreachable(rule, pair) for pair in pairs]
            if None in reasons and hits[rule] < ENOUGH:
                yield (
                    f"Kafka {release}: {rule} was tried {hits[rule]} times of {ENOUGH}; let the"
                    " generator ask for it (kiplab/judge/conversation), or say in"
                    " kiplab/judge/corpus/unreachable_rules.py why it cannot be reached"
                )


def coverage_table(judged: Iterable[Judged]) -> Iterator[str]:
    """How often each rule was tried, release by release; a dash where it cannot be reached."""
    every = list(judged)
    by_release = hits_by_release(every)
    names = {rule: None for release in by_release for rule in rules_of(release)}
    width = max(len(str(rule)) for rule in names)
    yield " ".join([f"{'times tried':<{width}}", *(f"{release:>6}" for release in by_release)])
    for rule in names:
        cells = (_cell(rule, release, hits, every) for release, hits in by_release.items())
        yield " ".join([f"{rule!s:<{width}}", *(f"{cell:>6}" for cell in cells)])


def _cell(
    rule: ControllerRule, release: str, hits: Counter[ControllerRule], judged: Iterable[Judged]
) -> str:
    pairs = [one.pair for one in judged if one.pair.release == release]
    reachable = rule in rules_of(release) and None in (why_unreachable(rule, p) for p in pairs)
    return str(hits[rule]) if reachable or hits[rule] else "-"


# --- differences ----------------------------------------------------------------------------------


def difference_text(difference: FoundParting, patch: str) -> str:
    """A difference as a play, or turn by turn where no play can say it."""
    if difference.other_state:
        seed = difference.told.seed
        return (
            f"# conversation {seed}: {difference.other_state}, though everything agreed until then:"
            " the engine has come to hold something else for true."
        )
    try:
        return format_play(difference_as_play(difference.told, patch))
    except UntoldError as untold:
        turns = (f"#   {_in_words(told.turn)}" for told in difference.told.turns)
        return "\n".join([f"# conversation {difference.told.seed}, no play: {untold}.", *turns])


def _in_words(turn: Turn) -> str:
    match turn:
        case Exchange(request=request, partings=partings):
            parted = "".join(f"\n#     {parting}" for parting in partings)
            return f"{request.in_words()}{parted}"
        case Created(partitions=partitions):
            return f"made {', '.join(f'{p.name} on {list(p.replicas)}' for p in partitions)}"
        case Waited(ms=ms):
            return f"{ms} ms pass"
        case TookOver(restarted=restarted):
            return "restarted" if restarted else "resigned, and elected again"
        case Noticed(kafka=kafka, engine=engine):
            found = ("; ".join(told(records)) or "nothing" for records in (kafka, engine))
            return "silence noticed: Kafka writes {}, the engine {}".format(*found)
        case Raised(metadata_version=version, kafka=kafka, engine=engine):
            return f"raised to {version}: Kafka says {kafka or 'yes'}, the engine {engine or 'yes'}"
