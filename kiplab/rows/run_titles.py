"""The titles of one picture's panels: the rules in which their runs differ."""

from collections.abc import Iterator, Sequence, Set

from ..protocol.guards import GUARDS, SPECIFIED, GuardKind, named
from ..protocol.releases import RELEASES
from .columns import Rows

SUBJECTS_MAX = 3
"""The most KIPs in a title."""
NAME_MAX = 36
"""Characters of a name in a title: a verdict has to fit beside it."""


def titles(runs: Sequence[Rows], names: Sequence[str] = ()) -> tuple[str, ...]:
    """``KIP-841 on · KIP-903 off · Kafka 3.5`` per run, where whole KIPs are all the difference
    between the sets of rules; else what each is. One run is called by its own title.

    Runs that have `names` of their own, one each, are called by them first.
    """
    if names:
        short = (n if len(n) <= NAME_MAX else f"{n[: NAME_MAX - 1]}…" for n in names)
        return tuple(map(" · ".join, zip(short, titles(runs), strict=True)))
    sets = [frozenset(run.meta.guards) for run in runs]
    differing = frozenset.union(*sets) - frozenset.intersection(*sets)
    wanted = as_specified(differing)
    if wanted:
        return tuple(_title_of_specified(run, wanted) for run in runs)
    words = dict(_words(runs, differing))
    subjects = sorted(set(words.values()))
    by_subject = {s: {g for g in differing if words[g] == s} for s in subjects}
    whole = all(not guards & on or guards <= on for guards in by_subject.values() for on in sets)
    releases = {_release(run) for run in runs}
    # Between releases several KIPs came: then the releases say more than a list of KIPs.
    sayable = 1 <= len(subjects) <= (SUBJECTS_MAX if len(releases) == 1 else 1)
    if not sayable or not whole:
        return tuple(own_title(run) for run in runs)
    return tuple(
        " · ".join(
            [
                *(f"{s} {'on' if guards <= on else 'off'}" for s, guards in by_subject.items()),
                f"Kafka {_release(run)}",
            ]
        )
        for run, on in zip(runs, sets, strict=True)
    )


def _words(runs: Sequence[Rows], guards: Set[str]) -> Iterator[tuple[str, str]]:
    """The word for each guard: one for all that eligible leader replicas bring, where these are on
    in some runs only and none of the guards is switched by hand.
    """
    by_hand = {id for run in runs for id, _ in run.meta.switched}
    together = len({run.meta.has_elr for run in runs}) > 1
    for id in guards:
        of_elr = GUARDS[id].kind is GuardKind.FEATURE and id not in by_hand
        yield id, "ELR" if together and of_elr else rule_word(id)


def as_specified(guards: Set[str]) -> str:
    """The KIP of which these are all that it wants and no release does, if they are several."""
    wanted = {s: wanted_by(s) for s in sorted(id.split(".")[0] for id in guards)}
    alone = (s for s, ids in wanted.items() if len(ids) > 1 and ids == guards)
    return next((f"KIP-{s}" for s in alone), "")


def wanted_by(subject: str) -> frozenset[str]:
    """What a KIP wants and no release does."""
    return frozenset(named(f"{subject}.{SPECIFIED}"))


def _title_of_specified(run: Rows, subject: str) -> str:
    if wanted_by(subject.removeprefix("KIP-")) <= set(run.meta.guards):
        rules = f"{subject} as specified"
    else:
        is_built = any(g.releases for g in GUARDS.values() if g.subject == subject)
        rules = f"{subject} as implemented" if is_built else f"without {subject}"
    return f"{rules} · Kafka {_release(run)}"


def _release(run: Rows) -> str:
    """The release, with the metadata version if that is another one's."""
    return run.meta.features.split(" ")[0]


def rule_word(id: str) -> str:
    """``KIP-903``; a rule that no release has goes by its own words. One of several that a KIP
    wants goes by its name and theirs: ``KIP-704 as specified``.
    """
    guard = GUARDS[id]
    if guard.releases:
        return guard.subject
    wanted = named(f"{id.split('.')[0]}.{SPECIFIED}")
    if id in wanted and len(wanted) > 1:
        return f"{guard.subject} as specified"
    return _clause_in_words(id)


def _clause_in_words(id: str) -> str:
    return id.partition(".")[2].replace("-", " ")


def own_title(rows: Rows) -> str:
    """``Kafka 3.5``, ``ELR on · Kafka 4.3``, and what was switched by hand: ``KIP-903 off · Kafka
    3.5``; ``KIP-704 as specified`` for all that a KIP wants and no release does, ``partition epoch
    off`` for one of it. A metadata log has its metadata versions instead.
    """
    if not rows.meta.release:
        return rows.meta.features
    switched, words = dict(rows.meta.switched), ["ELR on"] if rows.meta.has_elr else []
    mode = RELEASES[rows.meta.release].mode
    for subject in dict.fromkeys(id.split(".")[0] for id in switched):
        wanted = {id for id in wanted_by(subject) if mode in GUARDS[id].modes}
        states = {switched.get(id) for id in wanted}
        if len(wanted) > 1 and len(states) == 1 and None not in states:
            words.append(f"KIP-{subject} as specified{'' if states == {True} else ' off'}")
            switched = {id: on for id, on in switched.items() if id not in wanted}
    for id, on in switched.items():
        # A guard that is older than KIPs and issues, or in no release, goes by its own words.
        is_named = GUARDS[id].releases and "-" in GUARDS[id].subject
        word = GUARDS[id].subject if is_named else _clause_in_words(id)
        words.append(f"{word} {'on' if on else 'off'}")
    return " · ".join([*dict.fromkeys(words), f"Kafka {_release(rows)}"])
