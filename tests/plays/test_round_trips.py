"""parse(format(p)) == p; a token is the run it stands for; a history is a play."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kiplab
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.plays.grammar import parse
from kiplab.plays.library import decode, encode, load, names
from kiplab.plays.move_lines import written
from kiplab.plays.play import Play, Statement, format_play, split
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.stage import act
from kiplab.protocol.features import parse_features


@pytest.mark.parametrize("name", names())
def test_a_play_survives_formatting(name: str) -> None:
    play = load(name)
    assert parse(format_play(play), name) == play
    assert format_play(parse(format_play(play), name)) == format_play(play)


word = st.text("abcxyz019.-@,", min_size=1, max_size=8).filter(lambda w: not w.startswith("#"))
statement = st.builds(
    Statement,
    verb=word,
    words=st.lists(word, max_size=3).map(tuple),
    args=st.dictionaries(st.text("abc-", min_size=1, max_size=4), word, max_size=3).map(
        lambda d: tuple(d.items())
    ),
    comment=st.none() | st.text("abc #=", max_size=12).map(str.strip),
)


@given(st.lists(statement, max_size=8).map(tuple))
def test_any_lines_survive_formatting(statements: tuple[Statement, ...]) -> None:
    play = Play(statements)
    assert split(format_play(play)).statements == statements


@pytest.mark.parametrize("name", names())
def test_a_token_runs_to_the_same_state(name: str) -> None:
    play, features = decode(encode(load(name), parse_features("3.4", on=("903",))))
    assert features == parse_features("3.4", on=("903",))
    again, original = run_play(play, features), run_play(load(name), features)
    assert again.cluster == original.cluster
    assert again.events == original.events


def test_a_token_is_safe_in_an_address() -> None:
    token = encode(load("kafka-14139"))
    assert token.startswith("kiplab1:")
    assert all(c.isalnum() or c in "-_:" for c in token)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("kiplab1:", "damaged"),
        ("kiplab1:AAAA", "damaged"),
        ("kiplab1:!!!!", "damaged"),
        ("kiplab9:AAAA", "version 9"),
        ("elsewhere:AAAA", "no kiplab token"),
    ],
)
def test_a_token_that_is_none_is_refused_in_one_sentence(token: str, said: str) -> None:
    with pytest.raises(PlayError, match=said) as problem:
        decode(token)
    assert "\n" not in str(problem.value)


@given(st.data())
def test_a_damaged_token_is_never_another_run(data: st.DataObject) -> None:
    token = encode(load("last-replica"))
    at = data.draw(st.integers(len("kiplab1:"), len(token) - 1))
    other = data.draw(st.sampled_from("ABCXYZabcxyz0189-_").filter(lambda c: c != token[at]))
    damaged = token[:at] + other + token[at + 1 :]
    try:
        play, _ = decode(damaged)
    except PlayError:
        return
    # The last character of base64 carries bits that mean nothing.
    assert play == decode(token)[0]


@settings(max_examples=60)
@given(
    data=st.data(), name=st.sampled_from(names()), release=st.sampled_from(["3.2", "3.4", "3.9"])
)
def test_any_history_is_a_play_that_replays_to_the_same_states(
    data: st.DataObject, name: str, release: str
) -> None:
    stage = open_stage(load(name), parse_features(release))
    for _ in range(data.draw(st.integers(1, 25))):
        move = data.draw(st.sampled_from(enabled(stage.cluster, EVERYTHING)))
        stage = act(stage, move, 0)
    header = tuple(s for s in load(name).statements if s.verb in HEADER)
    play = parse(format_play(written(load(name), stage.history, header)), name)
    again = run_play(play, parse_features(release))
    assert [s.cluster for s in again.history.steps] == [s.cluster for s in stage.history.steps]


HEADER = ("title", "question", "kafka", "broker", "topic", "replica", "consumer", "given", "timed")


def test_the_text_of_a_play_is_a_play_in_lines_or_with_semicolons() -> None:
    lines = "title One; two\nkafka 3.5\nbroker 1\ntopic orders replicas=1\ncrash 1  # gone; over\n"
    short = "title One; two\nkafka 3.5; broker 1;topic orders replicas=1; crash 1 # gone; over"
    runs = [kiplab.run(text).text() for text in (lines, short)]
    assert [*runs, kiplab.Lab(short).run.text()] == [runs[0]] * 3
    assert kiplab.explore(short, writes=0, crashes=0).verdict == "proved"
    with pytest.raises(PlayError, match="play:2:2: unknown verb"):
        kiplab.run("broker 1; crush 1")
