"""A difference is put in few lines: a play that kiplab runs, with Kafka's answer and the engine's.

Here the right engine stands for Kafka, and one without a rule for the engine.
"""

import pytest

from kiplab.plays import grammar, play, runner
from kiplab.protocol.features import parse_features, switched
from tests.judge.kraft import conversation, engine_in_place
from tests.judge.kraft.difference_as_play import UntoldError, difference_as_play, difference_text
from tests.judge.kraft.pairs import pair_named
from tests.judge.kraft.shortest_difference import PartedConversation, shortest_difference
from tests.judge.kraft.turns import Asked, Created, Raised

SEEDS = range(300)


def parted(kafka: engine_in_place.EngineInPlace, release: str, guard: str) -> PartedConversation:
    """The first conversation in which an engine without `guard` is caught by a request."""
    wrong = switched(pair_named(release).features, guard, False)
    for seed in SEEDS:
        generated = conversation.Generated(kafka, wrong, seed)
        last = generated.run(60)
        if last is not None and isinstance(last.turn, Asked):
            return PartedConversation.of(seed, generated.conversation)
    raise AssertionError(f"{guard} makes no difference at {release}")


@pytest.fixture(scope="module")
def short() -> PartedConversation:
    kafka = engine_in_place.EngineInPlace(parse_features("3.5"))
    return shortest_difference(kafka, parted(kafka, "3.5", "841.fenced"))


@pytest.mark.parametrize(
    ("release", "guard", "most"),
    [
        ("3.5", "841.fenced", 8),
        ("3.5", "841.shutting-down", 12),
        ("3.7", "497.partition-epoch", 10),
        ("3.9", "631.one-live-incarnation", 4),
        ("3.9", "841.active-leader", 12),
        ("4.3+elr", "966.elr-unclean-shutdown", 9),
    ],
)
def test_the_shortest_difference_is_short_and_a_play_repeats_it(
    release: str, guard: str, most: int
) -> None:
    kafka = engine_in_place.EngineInPlace(pair_named(release).features)
    short = shortest_difference(kafka, parted(kafka, release, guard))
    assert len(short.turns) <= most
    text = play.format_play(difference_as_play(short, "3.5.2"))
    mended = text.replace(f"off       {guard}\n", "")
    wrong, right = (runner.run_play(grammar.parse(each)) for each in (text, mended))
    assert {e.status for e in right.expectations} <= {"held"}
    assert not wrong.expectations or {e.status for e in wrong.expectations} == {"failed"}
    assert wrong.events != right.events


def test_a_play_shows_both_answers(short: PartedConversation) -> None:
    text = play.format_play(difference_as_play(short, "3.5.2"))
    lines, _, after = text.partition("expect ")
    sent, (expected, *answers) = lines.splitlines()[-1], after.splitlines()
    assert sent.startswith("send      alter-partition")
    assert "isr=" in sent
    assert "broker-epoch=" not in sent, "what fits the situation is not said"
    # Version 2 brought an error of its own.
    errors = ("OPERATION_NOT_ATTEMPTED", "INELIGIBLE_REPLICA")
    assert expected.strip() in [f"error={error} records=none" for error in errors]
    starts = (
        "# Kafka 3.5.2: AlterPartition reply: conversation",
        "#   writes nothing",
        "# the engine: AlterPartition reply: conversation",
        "#   writes @",
    )
    assert all(map(str.startswith, answers, starts))
    assert len(answers) == len(starts)


def test_looking_for_a_shorter_one_ends_after_so_many_attempts() -> None:
    kafka = engine_in_place.EngineInPlace(parse_features("3.5"))
    whole = parted(kafka, "3.5", "841.shutting-down")
    assert len(shortest_difference(kafka, whole, tries=1).turns) == len(whole.turns)


def test_a_conversation_that_raised_the_version_is_told_as_it_was() -> None:
    kafka = engine_in_place.EngineInPlace(parse_features("3.5"))
    whole = parted(kafka, "3.5", "841.fenced")
    done = whole.turns[0].done._replace(turn=Raised("3.5-IV2"))
    turns = (whole.turns[0]._replace(done=done), *whole.turns[1:])
    again = whole._replace(turns=turns)
    assert shortest_difference(kafka, again) is again


def test_what_no_play_can_say_is_told_turn_by_turn(short: PartedConversation) -> None:
    made = next(n for n, context in enumerate(short.turns) if isinstance(context.turn, Created))
    before = short._replace(turns=(*short.turns[:made], short.turns[made]))
    with pytest.raises(UntoldError, match="which is no question"):
        difference_as_play(before, "3.5.2")
    text = difference_text(before, "3.5.2")
    assert text.splitlines()[0].startswith("# conversation ")
    assert text.splitlines()[-1].startswith("#   Created(")


def test_a_parting_in_the_first_request_is_before_every_play() -> None:
    kafka = engine_in_place.EngineInPlace(parse_features("3.5"))
    whole = parted(kafka, "3.5", "841.fenced")
    with pytest.raises(UntoldError, match="before a play can begin"):
        difference_as_play(whole._replace(turns=whole.turns[:1]), "3.5.2")
