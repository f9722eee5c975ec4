"""Situations by chance: equal seeds give equal ones, whatever releases do in them.

Brokers register, bounce seen and unseen, ask to be let go with epochs of now and of earlier, and
answer late; controllers fall over. A situation is made of turns, each of which comes to rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from kiplab.plays.play import Play, Statement

from ..skeleton.generating import Dice
from .situations import is_title, parsed

_BROKERS = (1, 2, 3)
_TOPICS = 3
_TURNS = 8
GENERATOR = 3
"""One more whenever equal seeds give other situations than before."""
_SHUT, _OPEN = (f"{verb} watcher-event to=controller-0" for verb in ("hold", "release"))
_CONTROL_REQUESTS = ("leader-and-isr", "update-metadata", "stop-replica")

Turn = tuple[Statement, ...]
"""Lines that belong together, each passage with its title."""
_Lines = tuple[str, ...]


class _Chances:
    """What may happen next, as far as it can be said without knowing what a controller does."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.registered = set(_BROKERS)
        self.generations = dict.fromkeys(_BROKERS, 1)
        self.leaving: set[int] = set()
        self.topics = [self._replicas(_BROKERS) for _ in range(_TOPICS)]

    def lines(self) -> Iterator[str]:
        """A whole situation: so many turns, whichever are possible."""
        yield from ("kafka zk-2.2", "controller broker=0")
        yield from (f"broker {id} epoch={100 + id}" for id in (0, *_BROKERS))
        yield "topic zz-idle replicas=0"
        yield from (f"topic T{n} {_assigned(on)}" for n, on in enumerate(self.topics))
        yield "hold session-expired"
        for _ in range(_TURNS):
            yield from self._turn()

    def _turn(self) -> _Lines:
        """Of a kind that is possible; IndexError says that there is no broker for one."""
        while True:
            with suppress(IndexError):
                if lines := self.dice.choice(_KINDS)(self):
                    return lines

    # --- kinds of turns ---------------------------------------------------------------------------

    def die(self) -> _Lines:
        """A broker goes, and the controller sees it."""
        broker = self._one_of(self.registered)
        self.registered.discard(broker)
        self.leaving.discard(broker)
        return (f"# broker {broker} goes", f"expire {broker}")

    def come_back(self) -> _Lines:
        """One that is gone registers again."""
        broker = self._one_of(set(_BROKERS) - self.registered)
        return (f"# broker {broker} is back", self._register(broker))

    def bounce(self) -> _Lines:
        """A bounce that is over before the controller looks."""
        broker = self._one_of(self.registered)
        return (f"# broker {broker} bounces", *self._bounce(broker))

    def behind_the_gate(self) -> _Lines:
        """One broker bounces, one goes, others come while the controller sees nothing.

        Not two of a kind: whose replicas it then takes out of an ISR first, and so who is left in
        it, is the order of a hash table of Scala's, which the engine does not have.
        """
        bounces, goes, *others = self.dice.sample(_BROKERS, len(_BROKERS))
        lines: list[str] = []
        if bounces in self.registered and self.dice.random() < 0.7:
            lines += [f"expire {bounces}", self._register(bounces)]
        if goes in self.registered and self.dice.random() < 0.5:
            self.registered.discard(goes)
            lines.append(f"expire {goes}")
        lines += [self._register(broker) for broker in others if broker not in self.registered]
        return ("# behind the gate", _SHUT, *lines, _OPEN) if lines else ()

    def ask(self) -> _Lines:
        """A controlled shutdown, with the epoch of some generation, none, or one to come."""
        broker = self.dice.choice(_BROKERS)
        self.leaving.add(broker)
        now = self.generations[broker]
        epochs = ["-1", f"b{broker}g{now}", f"b{broker}g{now}+1000"]
        epochs += [f"b{broker}g{earlier}" for earlier in range(1, now)]
        return (f"# broker {broker} asks", _shut_down(broker, self.dice.choice(epochs)))

    def late_mail(self) -> _Lines:
        """Control requests of a controlled shutdown reach the next generation."""
        broker = self._one_of(self.registered)
        self.leaving.add(broker)
        asks = _shut_down(broker, f"b{broker}g{self.generations[broker]}")
        held = [f"{kind} to={broker}" for kind in _CONTROL_REQUESTS]
        return (
            *("# requests that wait", *(f"hold {kind}" for kind in held), asks),
            *("# late requests", _SHUT, f"expire {broker}", self._register(broker)),
            *(*(f"release {kind}" for kind in held), "# the controller sees it", _OPEN),
        )

    def late_answer(self) -> _Lines:
        """A broker answers late, and bounces before it does."""
        broker = self._one_of(self.registered - self.leaving)
        held = [f"{kind}-reply from={broker}" for kind in _CONTROL_REQUESTS]
        return (
            *("# no answer", *(f"hold {kind}" for kind in held), self._created((broker,))),
            *("# a bounce", *self._bounce(broker)),
            *("# late answers", *(f"release {kind}" for kind in held)),
        )

    def create(self) -> _Lines:
        """A topic on brokers that are there; one of them, at least, can lead."""
        if not self.registered - self.leaving:
            return ()
        replicas = self._replicas(sorted(self.registered))
        if set(replicas) <= self.leaving:
            return ()
        return ("# another topic", self._created(replicas))

    def take_in(self) -> _Lines:
        """Leaders take everybody in who is there."""
        names = [f"T{n}" for n in range(len(self.topics)) if self.dice.random() < 0.7]
        return ("# ISRs grow", f"take-in {' '.join(names)}") if names else ()

    def fall_over(self) -> _Lines:
        """The next controller; it knows of nobody who is leaving."""
        self.leaving.clear()
        return ("# another controller epoch", "fail-over")

    # --- plumbing ---------------------------------------------------------------------------------

    def _register(self, broker: int) -> str:
        self.registered.add(broker)
        self.generations[broker] += 1
        return f"deliver session-expired to={broker}"

    def _bounce(self, broker: int) -> _Lines:
        return (_SHUT, f"expire {broker}", self._register(broker), _OPEN)

    def _created(self, replicas: Sequence[int]) -> str:
        self.topics.append(list(replicas))
        return f"create-topic T{len(self.topics) - 1} {_assigned(replicas)}"

    def _one_of(self, brokers: set[int]) -> int:
        return self.dice.choice(sorted(brokers))

    def _replicas(self, brokers: Sequence[int]) -> list[int]:
        return self.dice.sample(brokers, self.dice.randint(1, len(brokers)))


def _assigned(replicas: Iterable[int]) -> str:
    return f"replicas={','.join(map(str, replicas))}"


def _shut_down(broker: int, stamp: str) -> str:
    return f"send controlled-shutdown from={broker} broker-epoch={stamp}"


_KINDS = (
    *(_Chances.die, _Chances.come_back, _Chances.come_back, _Chances.bounce),
    *(_Chances.behind_the_gate, _Chances.behind_the_gate, _Chances.ask, _Chances.ask),
    *(_Chances.late_mail, _Chances.late_answer, _Chances.create),
    *(_Chances.take_in, _Chances.take_in, _Chances.fall_over),
)


def random_situation(seed: int) -> Play:
    """The situation of a seed."""
    chances = _Chances(Dice(f"a controller of ZooKeeper's years, {seed}"))
    return parsed("\n".join(chances.lines()), f"random-{seed}")


def turns_of(play: Play) -> tuple[Turn, ...]:
    """The lines below the header in turns: none ends while something is held back."""
    turns: list[Turn] = []
    held = 0
    for statement in play.statements[_header(play) :]:
        if is_title(statement) and not held:
            turns.append(())
        turns[-1] = (*turns[-1], statement)
        held += {"hold": 1, "release": -1}.get(statement.verb, 0)
    return tuple(turns)


def of_turns(play: Play, turns: Iterable[Turn]) -> Play:
    """The same situation with these turns alone."""
    lines = (statement for turn in turns for statement in turn)
    return replace(play, statements=(*play.statements[: _header(play)], *lines))


def _header(play: Play) -> int:
    return next(n for n, statement in enumerate(play.statements) if is_title(statement))
