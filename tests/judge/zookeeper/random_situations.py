"""Situations by chance: equal seeds give equal ones, whatever releases do in them.

Brokers register, bounce seen and unseen, ask to be let go with epochs of now and of earlier, and
answer late; controllers fall over. A situation is made of turns, each of which comes to rest.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from tests.judge.zookeeper.situations import (
    AskToShutDown,
    BounceAtOnce,
    CreateTopic,
    DropController,
    EndSession,
    GiveAnswers,
    HearAgain,
    JudgedSituation,
    JudgedTopic,
    Listen,
    OpenGate,
    RegisterBroker,
    ShutGate,
    SituationStep,
    TakeIntoIsr,
    TurnDeaf,
    WithholdAnswers,
)

_BROKERS = (1, 2, 3)
_TOPICS = 3
_TURNS = 8
GENERATOR = 2
"""One more whenever equal seeds give other situations than before."""

SituationTurn = tuple[SituationStep, ...]
"""Steps that belong together; the last is a `Listen`."""


class _Chances:
    """What may happen next, as far as it can be said without knowing what a controller does."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.registered = set(_BROKERS)
        self.generations = dict.fromkeys(_BROKERS, 1)
        self.leaving: set[int] = set()
        self.topics = [self._topic(f"T{number}", _BROKERS) for number in range(_TOPICS)]
        self.first = tuple(self.topics)

    def turns(self) -> Iterator[SituationTurn]:
        """So many turns, whichever are possible."""
        for _ in range(_TURNS):
            while (steps := self.dice.choice(_KINDS)(self)) is None:
                pass
            yield (*steps, Listen(", ".join(map(_in_words, steps))))

    # --- kinds of turns ---------------------------------------------------------------------------

    def die(self) -> SituationTurn | None:
        """A broker goes, and the controller sees it."""
        broker = self._one_of(self.registered)
        if broker is None:
            return None
        self.registered.discard(broker)
        self.leaving.discard(broker)
        return (EndSession(broker),)

    def come_back(self) -> SituationTurn | None:
        """One that is gone registers again."""
        broker = self._one_of(set(_BROKERS) - self.registered)
        return None if broker is None else (self._register(broker),)

    def bounce(self) -> SituationTurn | None:
        """A bounce in one transaction."""
        broker = self._one_of(self.registered)
        if broker is None:
            return None
        self.generations[broker] += 1
        return (BounceAtOnce(broker),)

    def behind_the_gate(self) -> SituationTurn | None:
        """One broker bounces, one goes, others come while the controller sees nothing.

        Not two of a kind: whose replicas it then takes out of an ISR first, and so who is left in
        it, is the order of a hash table of Scala's, which the engine does not have.
        """
        bounces, goes, *others = self.dice.sample(_BROKERS, len(_BROKERS))
        steps: list[SituationStep] = []
        if bounces in self.registered and self.dice.random() < 0.7:
            steps += [EndSession(bounces), self._register(bounces)]
        if goes in self.registered and self.dice.random() < 0.5:
            self.registered.discard(goes)
            steps.append(EndSession(goes))
        for broker in others:
            if broker not in self.registered:
                steps.append(self._register(broker))
        return (ShutGate(), *steps, OpenGate()) if steps else None

    def ask(self) -> SituationTurn | None:
        """A controlled shutdown, with the epoch of some generation, none, or one to come."""
        broker = self.dice.choice(_BROKERS)
        self.leaving.add(broker)
        now = self.generations[broker]
        epochs = ["-1", f"b{broker}g{now}", f"b{broker}g{now}+1000"]
        epochs += [f"b{broker}g{earlier}" for earlier in range(1, now)]
        return (AskToShutDown(broker, self.dice.choice(epochs)),)

    def late_mail(self) -> SituationTurn | None:
        """Mail of a controlled shutdown reaches the next generation."""
        broker = self._one_of(self.registered)
        if broker is None:
            return None
        self.leaving.add(broker)
        asked = AskToShutDown(broker, f"b{broker}g{self.generations[broker]}")
        again = self._register(broker)
        unseen = (ShutGate(), EndSession(broker), again, HearAgain(broker), Listen("late mail"))
        return (TurnDeaf(broker), asked, Listen("mail that waits"), *unseen, OpenGate())

    def late_answer(self) -> SituationTurn | None:
        """A broker answers late, and bounces before it does."""
        broker = self._one_of(self.registered - self.leaving)
        if broker is None:
            return None
        topic = JudgedTopic(f"T{len(self.topics)}", (broker,))
        self.topics.append(topic)
        waits = (WithholdAnswers(broker), CreateTopic(topic), Listen("no answer"))
        self.generations[broker] += 1
        return (*waits, BounceAtOnce(broker), Listen("a bounce"), GiveAnswers(broker))

    def create(self) -> SituationTurn | None:
        """A topic on brokers that are there; one of them, at least, can lead."""
        if not self.registered - self.leaving:
            return None
        topic = self._topic(f"T{len(self.topics)}", tuple(sorted(self.registered)))
        if set(topic.replicas) <= self.leaving:
            return None
        self.topics.append(topic)
        return (CreateTopic(topic),)

    def take_in(self) -> SituationTurn | None:
        """Leaders take everybody in who is there."""
        names = [topic.name for topic in self.topics]
        return tuple(TakeIntoIsr(name) for name in names if self.dice.random() < 0.7) or None

    def fall_over(self) -> SituationTurn | None:
        """The next controller; it knows of nobody who is leaving."""
        self.leaving.clear()
        return (DropController(),)

    # --- plumbing ---------------------------------------------------------------------------------

    def _register(self, broker: int) -> RegisterBroker:
        self.registered.add(broker)
        self.generations[broker] += 1
        return RegisterBroker(broker)

    def _one_of(self, brokers: set[int]) -> int | None:
        return self.dice.choice(sorted(brokers)) if brokers else None

    def _topic(self, name: str, brokers: Sequence[int]) -> JudgedTopic:
        return JudgedTopic(
            name, tuple(self.dice.sample(brokers, self.dice.randint(1, len(brokers))))
        )


_KINDS: tuple[Callable[[_Chances], SituationTurn | None], ...] = (
    _Chances.die,
    _Chances.come_back,
    _Chances.come_back,
    _Chances.bounce,
    _Chances.behind_the_gate,
    _Chances.behind_the_gate,
    _Chances.ask,
    _Chances.ask,
    _Chances.late_mail,
    _Chances.late_answer,
    _Chances.create,
    _Chances.take_in,
    _Chances.take_in,
    _Chances.fall_over,
)


def random_situation(seed: int) -> JudgedSituation:
    """The situation of a seed."""
    chances = _Chances(Random(f"a controller of ZooKeeper's years, {seed}"))
    steps = tuple(step for turn in chances.turns() for step in turn)
    name, says = f"random-{seed}", f"By chance, seed {seed}."
    return JudgedSituation(name, says, steps, brokers=_BROKERS, topics=chances.first)


def turns_of(situation: JudgedSituation) -> tuple[SituationTurn, ...]:
    """The steps again in turns: none ends while a gate is shut, a broker deaf or an answer due."""
    turns: list[SituationTurn] = []
    steps: list[SituationStep] = []
    open_ends = 0
    for step in situation.steps:
        steps.append(step)
        open_ends += isinstance(step, ShutGate | TurnDeaf | WithholdAnswers)
        open_ends -= isinstance(step, OpenGate | HearAgain | GiveAnswers)
        if isinstance(step, Listen) and not open_ends:
            turns.append(tuple(steps))
            steps = []
    return tuple(turns)


def _in_words(step: SituationStep) -> str:
    name = type(step).__name__
    about = getattr(step, "broker", None) or getattr(step, "topic", "")
    return f"{name} {about.name if isinstance(about, JudgedTopic) else about}".strip()


_NEEDS_A_SESSION = (BounceAtOnce, EndSession, TurnDeaf, WithholdAnswers)


def is_possible(situation: JudgedSituation) -> bool:
    """Whether nobody registers twice or goes twice, and every epoch was somebody's."""
    registered = set(situation.brokers)
    generations = dict.fromkeys(situation.brokers, 1)
    for step in situation.steps:
        if isinstance(step, _NEEDS_A_SESSION) and step.broker not in registered:
            return False
        if isinstance(step, RegisterBroker) and step.broker in registered:
            return False
        if isinstance(step, AskToShutDown) and not _is_known(step, generations):
            return False
        if isinstance(step, EndSession):
            registered.discard(step.broker)
        if isinstance(step, RegisterBroker | BounceAtOnce):
            registered.add(step.broker)
            generations[step.broker] = generations.get(step.broker, 0) + 1
    return True


def _is_known(step: AskToShutDown, generations: dict[int, int]) -> bool:
    named = step.stamped.partition("+")[0].partition("g")[2]
    return not named or int(named) <= generations.get(step.broker, 0)
