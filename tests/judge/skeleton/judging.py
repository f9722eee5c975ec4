"""What a judge is, and what comes of one subject that it judges."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .coverage import Rule


class BadSubjectError(ValueError):
    """There is no such subject; the message names those there are."""


class Judged(NamedTuple):
    """What came of one subject: a release, or a release at a metadata version.

    `patch` is the release that answers, or once answered. `differences` are texts that say where
    the real side and the engine part, one for each conversation that parts; `hits` say how often
    each rule was tried.
    """

    subject: str
    live: bool
    patch: str
    conversations: int
    turns: int
    differences: tuple[str, ...]
    hits: Counter[Rule]
    seconds: float = 0.0

    @property
    def source(self) -> str:
        """``"live 3.7.2"`` or ``"recorded 3.7.2"``."""
        return f"{'live' if self.live else 'recorded'} {self.patch}"


class Outcome(NamedTuple):
    """What came of one conversation: `difference` is empty if the two agree, `hits` say how often
    it tried each rule.
    """

    turns: int
    difference: str
    hits: Mapping[Rule, int] = {}


def judged(subject: str, patch: str, outcomes: Iterable[Outcome], *, live: bool) -> Judged:
    """What came of all conversations; how long it took the command says."""
    every, hits = list(outcomes), Counter[Rule]()
    for one in every:
        hits.update(one.hits)
    differences = tuple(one.difference for one in every if one.difference)
    turns = sum(one.turns for one in every)
    return Judged(subject, live, patch, len(every), turns, differences, hits)


class Judge:
    """One of the judges, for the command. A subject is what one recording holds."""

    name: str
    about: str
    """One sentence for `--help`."""
    recordings: Path
    """The folder of its recordings."""
    enough = 1
    """Hits that a rule needs before it counts as tried."""
    rare: Mapping[Rule, int] = {}
    """Rules that need fewer."""
    whose: str
    """What is judged, before the name of a subject, as in ``"broker of Kafka"``."""
    remedy: str
    """Where a rule is asked for that nothing tries, as the end of a sentence."""

    def subjects(self) -> tuple[str, ...]:
        """All that there are, in the order of judging."""
        raise NotImplementedError

    def subject(self, name: str) -> str:
        """The subject of that name. Raises BadSubjectError for a name of none."""
        if name not in self.subjects():
            known = ", ".join(self.subjects())
            raise BadSubjectError(f"no {self.whose} {name} is judged; there are {known}")
        return name

    def options(self, parser: argparse.ArgumentParser) -> None:
        """Add options that this judge alone has."""

    def live(self, subject: str, options: argparse.Namespace) -> Judged:
        """Ask the real software; with `--record` keep what it answers, unless they part.

        Raises MissingKafkaError where it cannot run, DeadKafkaError where it ends by itself.
        """
        raise NotImplementedError

    def recorded(self, subject: str, options: argparse.Namespace) -> Judged:
        """Ask the recording. Raises NoRecordingError without one."""
        raise NotImplementedError

    def rules(self, _subject: str, /) -> Sequence[Rule]:
        """All that there is to try with a subject."""
        return ()

    def why_untried(self, _rule: Rule, _subject: str, /) -> str | None:
        """Why no conversation with that subject tries a rule; None if one can."""
        return None

    def column(self, subject: str) -> str:
        """The column of the coverage table in which a subject counts, as in ``"3.7"``."""
        return subject


def seeds_of(options: argparse.Namespace, count: int) -> range:
    """The conversations that are asked for, `count` of them unless the options say otherwise."""
    first = options.seed or 0
    return range(first, first + (count if options.count is None else options.count))


class Tried:
    """The coverage of several subjects together, column by column."""

    def __init__(self, judge: Judge, judged: Iterable[Judged]) -> None:
        self._judge = judge
        self.hits: dict[str, Counter[Rule]] = {}
        self._subjects: dict[str, list[str]] = {}
        for one in judged:
            column = judge.column(one.subject)
            self.hits.setdefault(column, Counter()).update(one.hits)
            self._subjects.setdefault(column, []).append(one.subject)

    @property
    def rules(self) -> Mapping[str, Sequence[Rule]]:
        """What there is to try, by column."""
        every = {
            c: (r for s in subjects for r in self._judge.rules(s))
            for c, subjects in self._subjects.items()
        }
        return {column: tuple(dict.fromkeys(rules)) for column, rules in every.items()}

    def why(self, rule: Rule, column: str) -> str | None:
        """Why no subject of that column can try a rule; None if one can."""
        reasons = [self._judge.why_untried(rule, s) for s in self._subjects[column]]
        return None if None in reasons else next(iter(reasons), None)


HEADING = ("subject", "source", "conversations", "turns", "differences", "rules", "seconds")
_COLUMNS = "{:<15} {:<15} {:>13} {:>9} {:>11} {:>9} {:>8}"


def heading() -> str:
    """The first line of the table of `line_of`."""
    return _COLUMNS.format(*HEADING)


def line_of(judge: Judge, judged: Judged) -> str:
    """One line of the table; of the rules, how many the subject has tried at all."""
    subject = judged.subject
    rules = [rule for rule in judge.rules(subject) if judge.why_untried(rule, subject) is None]
    return _COLUMNS.format(
        subject,
        judged.source,
        f"{judged.conversations:,}",
        f"{judged.turns:,}",
        len(judged.differences),
        f"{sum(1 for rule in rules if judged.hits[rule])}/{len(rules)}",
        f"{judged.seconds:.1f}",
    )


def summary(judged: Sequence[Judged]) -> str:
    """All subjects in one sentence."""
    live = sum(1 for one in judged if one.live)
    turns = sum(one.turns for one in judged)
    differences = sum(len(one.differences) for one in judged)
    return (
        f"{len(judged)} subjects, {live} live and {len(judged) - live} recorded: {turns:,} turns,"
        f" {differences} differences."
    )


def untried_lines(judge: Judge, judged: Sequence[Judged]) -> Iterator[str]:
    """For each rule that a column could try and has hardly tried, what to do."""
    tried = Tried(judge, judged)
    for column, rules in tried.rules.items():
        for rule in rules:
            hits, enough = tried.hits[column][rule], judge.rare.get(rule, judge.enough)
            if hits < enough and tried.why(rule, column) is None:
                yield f"{column}: {rule} was tried {hits} times of {enough}; {judge.remedy}"


def coverage_table(judge: Judge, judged: Sequence[Judged]) -> Iterator[str]:
    """How often each column has tried each rule; a dash where it cannot be tried."""
    tried = Tried(judge, judged)
    rules, hits = tried.rules, tried.hits
    every = dict.fromkeys(rule for column in hits for rule in rules[column])
    width = max((len(str(rule)) for rule in every), default=0)
    yield " ".join([f"{'times tried':<{width}}", *(f"{column:>8}" for column in hits)])
    for rule in every:
        reached = {c: rule in rules[c] and tried.why(rule, c) is None for c in hits}
        cells = (str(hits[c][rule]) if reached[c] or hits[c][rule] else "-" for c in hits)
        yield " ".join([f"{rule!s:<{width}}", *(f"{cell:>8}" for cell in cells)])
