"""Sharing, saving, loading: everything comes back, and what is damaged changes nothing."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kiplab
from kiplab.plays.grammar import parse
from kiplab.plays.header import features_of
from kiplab.plays.library import load as load_play
from kiplab.plays.play import Statement
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features
from kiplab.widgets.controls.rulebook import turned
from kiplab.widgets.history_tree import branch_tree as trees
from kiplab.widgets.history_tree import lab_file
from kiplab.widgets.history_tree.branch_tree import Tree, act, plant, seek
from kiplab.widgets.history_tree.playback import open_playback
from kiplab.widgets.lab import Lab
from tests.repeated import every_play


def grown() -> Tree:
    """A play with two branches, one of them under other rules and with a name of its own."""
    tree = act(seek(plant(open_playback(load_play("kafka-14139"))), 3), Statement("crash", ("1",)))
    tree = act(seek(tree, 2), Statement("hold", ("fetch",)))
    tree = trees.rename(trees.rerun(tree, parse_features("3.5", off=("841",))), 3, "held ≠ sent")
    return trees.switch(tree, 2)


GROWN = lab_file.packed(grown())


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder beside the notebook."""
    monkeypatch.setenv(lab_file.VARIABLE, str(tmp_path / "kiplab-work.json"))
    return tmp_path


def test_a_saved_tree_comes_back_whole() -> None:
    before, after = grown(), lab_file.unpacked(GROWN, "x")
    assert lab_file.packed(after) == GROWN
    assert (after.current, after.highest, after.rules) == (2, 3, before.rules)
    for one, other in zip(before.branches, after.branches, strict=True):
        assert replace(one, playback=None) == replace(other, playback=None)
        for own in ("play", "at", "features"):
            assert getattr(one.playback, own) == getattr(other.playback, own)
        for frame, again in zip(one.playback.frames, other.playback.frames, strict=True):
            assert frame.stage.cluster == again.stage.cluster


def test_a_lab_is_saved_beside_the_notebook_and_loaded_by_its_name(lab: Lab, work: Path) -> None:
    lab.seek(3)
    lab.do("crash 1")
    assert lab.save() == work / "kafka-14139.kiplab.json"
    other = kiplab.Lab("last-replica")
    other.load("kafka-14139.kiplab.json")
    assert other.branches == ("the play", "branch 2 at step 3: crash 1")
    assert (other.branch, other.playback.at) == ("branch 2 at step 3: crash 1", 4)
    assert other.run.stage.cluster == lab.run.stage.cluster
    assert [*other.inject.brokers] == [*lab.inject.brokers]


def test_saving_again_replaces_the_saved_lab_and_nothing_else(lab: Lab, work: Path) -> None:
    lab.save("mine.json")
    lab.save("mine.json")
    newer = '{"kiplab_lab": 2, "forests": []}'
    others = (("notes.txt", "mine"), ("other.json", "[1]"), ("bad.play", "x"), ("new.json", newer))
    for name, content in others:
        (work / name).write_text(content)
        with pytest.raises(PlayError, match="is there already"):
            lab.save(name)
        assert (work / name).read_text() == content


def test_the_lab_of_another_play_is_not_saved_over(lab: Lab, work: Path) -> None:
    before = lab.save("mine.json").read_bytes()
    other = kiplab.Lab("last-replica")
    with pytest.raises(PlayError, match="with a lab of another play, kafka-14139; choose another"):
        other.save("mine.json")
    assert (work / "mine.json").read_bytes() == before


def test_a_lab_whose_play_has_other_lines_is_not_saved_over(lab: Lab, work: Path) -> None:
    """As after a token of the same play: its trunk is somebody else's branch."""
    before = lab.save().read_bytes()
    lab.seek(2)
    lab.do("fail-over")
    token = lab.token
    other = kiplab.Lab(token)
    with pytest.raises(PlayError, match="the play of the lab saved there has other lines"):
        other.save("kafka-14139.kiplab.json")
    assert (work / "kafka-14139.kiplab.json").read_bytes() == before


@pytest.mark.usefixtures("work")
def test_a_lab_is_saved_again_after_it_was_loaded(lab: Lab) -> None:
    lab.save()
    lab.load("kafka-14139.kiplab.json")
    lab.seek(1)
    lab.do("crash 2")
    lab.save()
    other = kiplab.Lab("kafka-14139", kafka="3.5")
    other.load("kafka-14139.kiplab.json")
    assert other.branches == lab.branches


def test_a_place_that_cannot_be_written_is_said(lab: Lab, work: Path) -> None:
    (work / "file").write_text("")
    with pytest.raises(PlayError, match="cannot be written"):
        lab.save(work / "file" / "lab.json")


@pytest.mark.parametrize("name", every_play())
@pytest.mark.parametrize("rules", [None, "3.7"])
def test_a_branch_saved_as_a_play_runs_alone(name: str, rules: str | None) -> None:
    features = None if rules is None else parse_features(rules, off=("903",))
    playback = open_playback(load_play(name), features)
    play = parse(lab_file.play_of(playback), name)
    assert features_of(play) == playback.features
    assert kiplab.run(play).stage.cluster == playback.whole.cluster


def test_a_play_with_a_release_per_node_keeps_them() -> None:
    header = "kafka 3.4\nbroker 1 kafka=3.5\nbroker 2\ncontroller kafka=3.6\ntopic t log=3@1\n"
    playback = open_playback(parse(f"{header}crash 1\n", "mixed"))
    other = open_playback(playback.play, turned(playback.features, "903", True))
    for made in (playback, other):
        assert features_of(parse(lab_file.play_of(made))) == made.features


@pytest.mark.parametrize("source", ["token", "play", "file", "saved"])
def test_everything_that_can_be_loaded(lab: Lab, work: Path, source: str) -> None:
    (work / "mine.play").write_text(lab_file.play_of(open_playback(load_play("last-replica"))))
    (work / "lab.json").write_bytes(
        lab_file.packed(plant(open_playback(load_play("last-replica"))))
    )
    given = {
        "token": kiplab.run("last-replica").token,
        "play": "last-replica",
        "file": str(work / "mine.play"),
        "saved": "lab.json",
    }
    lab.load(given[source])
    assert lab.playback.whole.cluster == kiplab.run("last-replica").stage.cluster
    lab.transport.step.click()
    assert lab.playback.at == 1


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("", "nothing to load"),
        ("kiplab1:AAAA", "this token is damaged"),
        ("kiplab9:AAAA", "update kiplab"),
        ("no-such-play", "No such file"),
        ("nowhere/at/all.json", "No such file"),
        ("x" * 5000, "no such file"),
        ("a\0b", "no such file"),
    ],
)
def test_what_is_nothing_is_said_and_changes_nothing(lab: Lab, source: str, problem: str) -> None:
    before = lab.tree
    with pytest.raises(PlayError, match=problem):
        lab.load(source)
    assert lab.tree is before


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"kiplab_lab": 1}', b'{"kiplab_lab": 0}', b"\xff\xfe", b"crush 1", b"{" * 9999],
)
def test_a_damaged_file_is_one_sentence(lab: Lab, work: Path, content: bytes) -> None:
    (work / "bad.json").write_bytes(content)
    before = lab.tree
    with pytest.raises(PlayError) as caught:
        lab.load("bad.json")
    assert "\n" not in str(caught.value)
    assert lab.tree is before


def test_a_newer_file_is_not_guessed_at(work: Path, lab: Lab) -> None:
    (work / "new.json").write_text('{"kiplab_lab": 2, "forests": []}')
    with pytest.raises(PlayError, match="saved by a newer kiplab; update kiplab"):
        lab.load("new.json")


def spoil(key: str, value: object, branch: int | None = None) -> bytes:
    content = json.loads(GROWN)
    (content if branch is None else content["branches"][branch])[key] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    "data",
    [
        spoil("current", 9),
        spoil("made", 1),
        spoil("branches", []),
        spoil("id", 7, 0),
        spoil("name", "trunk", 0),
        spoil("name", "the play", 1),
        spoil("parent", 1, 0),
        spoil("parent", None, 1),
        spoil("parent", 3, 1),
        spoil("parent", 9, 1),
        spoil("lines", 99, 1),
        spoil("lines", -1, 1),
        spoil("play", "crush 1\n", 1),
        spoil("play", "crash 1\n", 1),
        spoil("features", {"release": "9.9", "metadata_version": "9.9-IV0"}, 1),
        spoil("surprise", 1, 1),
    ],
)
def test_a_tree_that_makes_no_sense_is_not_loaded(data: bytes) -> None:
    with pytest.raises(PlayError, match=r"lab\.json is damaged"):
        lab_file.unpacked(data, "lab.json")


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.integers(0, len(GROWN) - 1), st.binary(max_size=3))
def test_damage_anywhere_is_a_sentence_or_still_a_tree(at: int, put: bytes) -> None:
    with suppress(PlayError):
        tree = lab_file.unpacked(GROWN[:at] + put + GROWN[at + 1 :], "lab.json")
        assert lab_file.unpacked(lab_file.packed(tree), "again") == tree


# --- by hand --------------------------------------------------------------------------------------


def test_the_token_is_shown_when_somebody_looks(lab: Lab) -> None:
    assert lab.sharing.token.value == ""
    lab.folds.open("Share, save, load")
    assert f'value="{lab.token}"' in lab.sharing.token.value
    lab.seek(2)
    lab.do("fail-over")
    assert f'value="{lab.token}"' in lab.sharing.token.value
    assert kiplab.run(lab.token).stage.cluster == lab.playback.whole.cluster


def test_saving_and_loading_by_hand(lab: Lab, work: Path) -> None:
    lab.folds.open("Share, save, load")
    lab.seek(2)
    lab.do("fail-over")
    lab.sharing.save.click()
    assert f"Saved as {work}/kafka-14139.kiplab.json" in lab.sharing.answer.box.value
    lab.sharing.save_play.click()
    assert (work / "kafka-14139.play").exists()
    here = lab.tree
    lab.sharing.source.value = "last-replica"
    lab.sharing.load.click()
    assert lab.playback.own.name == "last-replica"
    lab.sharing.bring_back.click()
    assert lab.tree is here
    lab.sharing.source.value = "kafka-14139.kiplab.json"
    lab.sharing.load.click()
    assert lab.branches == here.names


def test_after_a_load_the_file_is_named_after_what_is_here_now(lab: Lab, work: Path) -> None:
    lab.folds.open("Share, save, load")
    lab.sharing.save.click()
    kept = (work / "kafka-14139.kiplab.json").read_bytes()
    lab.load("timeline-first")
    assert lab.sharing.file.value == "timeline-first.kiplab.json"
    lab.sharing.save.click()
    assert (work / "kafka-14139.kiplab.json").read_bytes() == kept
    assert (work / "timeline-first.kiplab.json").exists()


@pytest.mark.usefixtures("work")
def test_a_name_that_somebody_wrote_stays_and_saves_nothing_over(lab: Lab) -> None:
    lab.folds.open("Share, save, load")
    lab.sharing.file.value = "mine"
    lab.sharing.save.click()
    lab.load("timeline-first")
    assert lab.sharing.file.value == "mine"
    lab.sharing.save.click()
    assert "with a lab of another play, kafka-14139" in lab.sharing.answer.box.value
    assert 'role="alert"' in lab.sharing.answer.box.value


def test_an_answer_is_over_when_something_else_is_done(lab: Lab) -> None:
    lab.folds.open("Share, save, load")
    lab.sharing.source.value = "last-replica"
    lab.sharing.load.click()
    assert "Loaded." in lab.sharing.answer.box.value
    lab.seek(1)
    assert lab.sharing.answer.box.value == ""


def test_a_chosen_file_is_loaded(lab: Lab) -> None:
    lab.sharing.upload.receive("file", {"name": "lab.json", "content": GROWN})
    assert lab.branch == "branch 2 at step 3: crash 1"
    lab.sharing.upload.receive("file", {"name": "bad.json", "content": b"{"})
    assert "Bad.json is damaged" in lab.sharing.answer.box.value
    assert 'role="alert"' in lab.sharing.answer.box.value
    assert lab.branch == "branch 2 at step 3: crash 1"


def test_a_wrong_token_by_hand_is_an_alarm_and_changes_nothing(lab: Lab) -> None:
    before = lab.tree
    lab.sharing.source.value = "kiplab1:oops"
    lab.sharing.load.click()
    assert "This token is damaged" in lab.sharing.answer.box.value
    assert lab.tree is before
    assert lab.sharing.bring_back.disabled
