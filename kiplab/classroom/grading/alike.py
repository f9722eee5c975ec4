"""Work of two students that is alike: an occasion to look, and no proof.

Who works together gives the same right answers, and many give the same frequent wrong one. So only
what hardly anybody else has is said.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from msgspec.structs import replace

from ..work_on_disk import ExerciseWork, Work

SELDOM, EXERCISES_MIN, TIMES_MIN = 3, 2, 3
"""What at most so many students have is seldom; so many exercises, or times, have to be equal."""
WORDS_MIN, NEARLY = 8, 0.85
"""Of texts with so many words so large a part has to be equal, in order."""
_SAME = "the same work"
_Pair = tuple[int, int]


def alike(names: Sequence[str], works: Sequence[Work]) -> dict[int, list[str]]:
    """Remarks, by the place of a student: beside whose work to look at it, and why."""
    found = defaultdict[_Pair, list[str]](list)
    for pair, reason in (*_equal(works), *_wrong_answers(works), *_times(works), *_texts(works)):
        if found[pair] != [_SAME]:
            found[pair].append(reason)
    beside = defaultdict[tuple[int, str], list[str]](list)
    for pair, reasons in sorted(found.items()):
        for at, other in (pair, pair[::-1]):
            beside[at, "; ".join(reasons)].append(names[other])
    remarks = defaultdict[int, list[str]](list)
    for (at, why), others in beside.items():
        remarks[at].append(f"look at it beside {', '.join(others)}: {why}")
    return remarks


def _equal(works: Sequence[Work]) -> Iterator[tuple[_Pair, str]]:
    """All but the name is equal. Predictions alone are a few clicks, and so in many files."""
    bare = (replace(work, student=None, seed="", version="") for work in works)
    begun = [(repr(w), at) for at, w in enumerate(bare) if w.exercises or w.written]
    return ((pair, _SAME) for _, group in _grouped(begun) for pair in combinations(group, 2))


def _wrong_answers(works: Sequence[Work]) -> Iterator[tuple[_Pair, str]]:
    """To several exercises the same wrong answers, in the same order."""
    kept = _exercises(works)
    wrong = ((id, tuple(t.answer for t in e.tries if t.points < e.of), at) for id, e, at in kept)
    for pair, ids in _shared(wrong):
        if len(ids) >= EXERCISES_MIN:
            yield pair, f"the same wrong answers, in order, to {', '.join(sorted(ids))}"


def _exercises(works: Sequence[Work]) -> Iterator[tuple[str, ExerciseWork, int]]:
    return ((id, e, at) for at, work in enumerate(works) for id, e in work.exercises.items())


def _times(works: Sequence[Work]) -> Iterator[tuple[_Pair, str]]:
    times = ((id, tried.at, at) for id, e, at in _exercises(works) for tried in e.tries)
    for pair, ids in _shared(times):
        if len(ids) >= TIMES_MIN:
            yield pair, f"{len(ids)} attempts in the same seconds"


def _texts(works: Sequence[Work]) -> Iterator[tuple[_Pair, str]]:
    texts = defaultdict[str, list[tuple[int, list[str]]]](list)
    for at, work in enumerate(works):
        for id, text in work.written.items():
            if len(words := text.casefold().split()) >= WORDS_MIN:
                texts[id].append((at, words))
    for id, own in texts.items():
        for (one, mine), (other, theirs) in combinations(own, 2):
            matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
            if matcher.quick_ratio() >= NEARLY and matcher.ratio() >= NEARLY:
                yield (one, other), f"nearly the same text about {id}"


def _grouped(keys: Iterable[tuple[Hashable, int]]) -> Iterable[tuple[Hashable, list[int]]]:
    """The students, by their places, who have the same."""
    groups = defaultdict[Hashable, dict[int, None]](dict)
    for key, at in keys:
        groups[key][at] = None
    return [(key, [*group]) for key, group in groups.items()]


def _shared(facts: Iterable[tuple[str, Hashable, int]]) -> Iterable[tuple[_Pair, list[str]]]:
    """What two have in common, by its first part, where it is seldom."""
    pairs = defaultdict[_Pair, list[str]](list)
    for key, group in _grouped(((id, fact), at) for id, fact, at in facts if fact):
        if len(group) <= SELDOM and isinstance(key, tuple):
            for pair in combinations(group, 2):
                pairs[pair].append(str(key[0]))
    return pairs.items()
