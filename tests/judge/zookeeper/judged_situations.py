"""The situations in which controllers of the ZooKeeper era are judged.

F is a partition that broker 1 follows, L one that it leads. Cases A, B and D are those of KIP-380's
motivation; case C happens at a broker.
"""

from kiplab.judge.zookeeper_era.real_control_requests import SAYS, UNFIT
from tests.judge.zookeeper.situations import (
    AskForIsr,
    AskToShutDown,
    BounceAtOnce,
    ChangeAtOnce,
    CreateTopic,
    DeleteTopic,
    DeposeController,
    DropController,
    EndSession,
    GiveAnswers,
    HearAgain,
    JudgedSituation,
    JudgedTopic,
    LapseSession,
    LeaderWritesIsr,
    Listen,
    OpenGate,
    RegisterBroker,
    ShutGate,
    SituationStep,
    TurnDeaf,
    WithholdAnswers,
)


def _situation(
    name: str,
    steps: tuple[SituationStep, ...],
    brokers: tuple[int, ...] = (1, 2),
    topics: tuple[JudgedTopic, ...] = (),
    protocol: str = "",
) -> JudgedSituation:
    unfit = tuple(UNFIT.get(name, {}).items())
    return JudgedSituation(name, SAYS[name], steps, brokers, topics, protocol, unfit)


_F, _L = JudgedTopic("F", (2, 1)), JudgedTopic("L", (1, 2))
_BACK_IN_BOTH = (
    LeaderWritesIsr("F", (2, 1)),
    LeaderWritesIsr("L", (2, 1)),
    Listen("leader 2 puts 1 back into both ISRs"),
)

BEGINNINGS = _situation(
    "beginnings",
    brokers=(),
    steps=(
        RegisterBroker(1),
        Listen("broker 1 registers"),
        RegisterBroker(2),
        Listen("broker 2 registers"),
        CreateTopic(_F),
        CreateTopic(_L),
        Listen("topics F and L"),
        EndSession(1),
        Listen("broker 1 is gone"),
        RegisterBroker(1),
        Listen("broker 1 registers again"),
        DeleteTopic("F"),
        Listen("topic F is deleted"),
    ),
)

BOUNCE = _situation(
    "bounce",
    topics=(_F, _L),
    steps=(
        BounceAtOnce(1),
        Listen("a bounce in one transaction"),
        ShutGate(),
        EndSession(1),
        RegisterBroker(1),
        OpenGate(),
        Listen("a bounce behind the gate"),
    ),
)

LAST_MEMBER = _situation(
    "last-member",
    topics=(_F, _L),
    steps=(
        EndSession(2),
        Listen("broker 2 is gone"),
        BounceAtOnce(1),
        Listen("the only ISR member bounces"),
    ),
)

EARLIER_MAIL = _situation(
    "earlier-mail",
    topics=(_F, _L),
    steps=(
        TurnDeaf(1),
        AskToShutDown(1, "b1g1"),
        Listen("broker 1 asks for its shutdown, and nothing can be delivered to it"),
        ShutGate(),
        EndSession(1),
        RegisterBroker(1),
        HearAgain(1),
        Listen("its next generation hears, and the controller does not know of it"),
        OpenGate(),
        Listen("the controller may know"),
        *_BACK_IN_BOTH,
        EndSession(2),
        Listen("broker 2 is gone: can broker 1 lead?"),
    ),
)

STALE_SHUTDOWN = _situation(
    "stale-shutdown",
    topics=(_F, _L),
    steps=(
        AskToShutDown(1, "b1g1"),
        Listen("broker 1 asks for its shutdown"),
        EndSession(1),
        Listen("it is gone"),
        RegisterBroker(1),
        Listen("its next generation registers"),
        *_BACK_IN_BOTH,
        AskToShutDown(1, "b1g1"),
        Listen("the earlier generation's second try arrives"),
        EndSession(2),
        Listen("broker 2 is gone: can broker 1 lead?"),
    ),
)

SHUTDOWN_ANSWERS = _situation(
    "shutdown-answers",
    topics=(_F, _L),
    steps=(
        EndSession(1),
        Listen("broker 1 is gone"),
        AskToShutDown(1, "b1g1"),
        AskToShutDown(1, "-1"),
        AskToShutDown(9, "b1g1"),
        AskToShutDown(9, "-1"),
        Listen("for ids that are not registered"),
        RegisterBroker(1),
        Listen("its next generation registers"),
        AskToShutDown(1, "b1g1"),
        AskToShutDown(1, "b1g2+1000"),
        AskToShutDown(1, "b1g2"),
        AskToShutDown(1, "-1"),
        Listen("for a live id: older, newer, equal, none"),
    ),
)

_Q = tuple(JudgedTopic(f"Q{number}", (1,)) for number in (1, 2, 3, 4))

LATE_ANSWER = _situation(
    "late-answer",
    topics=(_F, _L),
    steps=(
        WithholdAnswers(1),
        CreateTopic(_Q[0]),
        CreateTopic(_Q[1]),
        Listen("broker 1 does not answer; topics Q1 and Q2 are its own"),
        ShutGate(),
        EndSession(1),
        RegisterBroker(1),
        GiveAnswers(1),
        Listen("its next generation answers, and the controller does not know of it"),
        OpenGate(),
        Listen("the controller may know"),
        WithholdAnswers(1),
        CreateTopic(_Q[2]),
        CreateTopic(_Q[3]),
        Listen("it does not answer again; topics Q3 and Q4"),
        BounceAtOnce(1),
        Listen("it bounces, and the controller may know"),
        GiveAnswers(1),
        Listen("it answers"),
    ),
)

FAIL_OVER = _situation(
    "fail-over",
    topics=(_F, _L),
    steps=(DropController(), Listen("the next controller epoch")),
)

DEPOSED = _situation(
    "deposed",
    topics=(_F,),
    steps=(
        ShutGate(),
        DeposeController(),
        AskToShutDown(1, "b1g1"),
        Listen("it does not know yet", until="StopReplica"),
        OpenGate(),
        Listen("it knows"),
        AskToShutDown(1, "-1"),
        Listen("it is asked once more"),
    ),
)

PROTOCOL_2_1 = _situation(
    "protocol-2.1",
    topics=(_F, _L),
    protocol="2.1-IV2",
    steps=(
        BounceAtOnce(1),
        Listen("a bounce in one transaction"),
        AskToShutDown(1, "b1g1"),
        Listen("a stale ControlledShutdown that has an epoch"),
    ),
)

ONE_CHANGE = _situation(
    "one-change",
    brokers=(1, 2, 3),
    topics=(JudgedTopic("X", (3, 2, 1)), JudgedTopic("Y", (2, 3, 1))),
    steps=(ChangeAtOnce(new=4, bounced=2, dead=3), Listen("new 4, bounced 2, dead 3")),
)

EXPIRY = _situation(
    "expiry",
    topics=(_F, _L),
    steps=(
        LapseSession(1),
        Listen("the session of broker 1 expires"),
        RegisterBroker(1),
        Listen("the same process registers again"),
    ),
)

_KNOWN_BY = "b2g1"

ALTER_ISR = _situation(
    "alter-isr",
    topics=(_F, JudgedTopic("G", (2, 1)), JudgedTopic("H", (2, 1))),
    steps=(
        EndSession(1),
        Listen("broker 1 is gone: leader epoch 1, version 1, ISR 2"),
        AskForIsr(2, "G", (2, 1), _KNOWN_BY, 1, 1, version=1),
        AskForIsr(2, "H", (2, 1), _KNOWN_BY, 1, 1),
        Listen("a member that is not registered, in version 1 and in version 2"),
        RegisterBroker(1),
        Listen("broker 1 is back"),
        AskForIsr(2, "F", (2, 1), _KNOWN_BY, 1, 1),
        AskForIsr(2, "F", (2, 1), _KNOWN_BY, 1, 1),
        Listen("it is granted, and asked for once more: version 2"),
        AskForIsr(2, "F", (2,), _KNOWN_BY, 1, 1),
        AskForIsr(2, "F", (2,), _KNOWN_BY, 0, 2),
        AskForIsr(2, "H", (2,), _KNOWN_BY, 5, 2),
        AskForIsr(2, "F", (2,), _KNOWN_BY, 1, 9),
        Listen("an older version, an older leader epoch, a newer one, a newer version"),
        AskForIsr(2, "F", (2,), "b2g1+1000", 1, 2),
        AskForIsr(2, "F", (2,), "-1", 1, 2),
        AskForIsr(9, "F", (2,), "-1", 1, 2),
        AskForIsr(2, "N", (2,), _KNOWN_BY, 0, 0, version=1),
        AskForIsr(2, "N", (2,), _KNOWN_BY, 0, 0),
        Listen("other broker epochs, nobody's, and a topic that there is not"),
        AskForIsr(2, "F", (2, 1), _KNOWN_BY, 1, 2, recovering=True),
        AskForIsr(2, "F", (2,), _KNOWN_BY, 1, 2, recovering=True),
        Listen("a leader that says that it recovers, among others and alone"),
        AskToShutDown(1, "b1g2"),
        Listen("broker 1 asks for its shutdown"),
        AskForIsr(2, "F", (2, 1), _KNOWN_BY, 2, 3),
        Listen("a member that is shutting down"),
    ),
)

SITUATIONS = {
    situation.name: situation
    for situation in (
        BEGINNINGS,
        BOUNCE,
        LAST_MEMBER,
        EARLIER_MAIL,
        STALE_SHUTDOWN,
        SHUTDOWN_ANSWERS,
        LATE_ANSWER,
        FAIL_OVER,
        DEPOSED,
        PROTOCOL_2_1,
        ONE_CHANGE,
        EXPIRY,
        ALTER_ISR,
    )
}
"""By name, in the order in which they are told."""
