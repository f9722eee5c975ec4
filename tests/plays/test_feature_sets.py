"""``@3.5-903``: a release with guards off and on, in one word."""

import pytest
from msgspec.structs import replace

from kiplab.cli.command import main
from kiplab.plays.play_errors import PlayError
from kiplab.plays.values import feature_set
from kiplab.protocol.features import UnknownFeatureError, parse_features
from kiplab.protocol.releases import RELEASES, Mode, of_mode


@pytest.mark.parametrize("release", of_mode(Mode.KRAFT))
def test_every_release_may_be_asked_for(release: str) -> None:
    lowest = RELEASES[release].lowest
    assert feature_set(f"@{release}") == parse_features(release)
    # What was proposed for one release has no rules of later ones.
    on = "kafka-15021" if RELEASES[release].specified is None else "kafka-9839"
    asked = parse_features(f"{release}/{lowest}", off=("903",), on=(on,))
    assert feature_set(f"@{release}/{lowest}-903+{on}") == asked


@pytest.mark.parametrize("release", of_mode(Mode.ZOOKEEPER))
def test_every_release_with_zookeeper_may_be_asked_for(release: str) -> None:
    assert feature_set(f"@{release}") == parse_features(release)
    asked = parse_features(f"{release}/2.1-IV2", off=("380",), on=("kafka-9839",))
    assert feature_set(f"@{release}/2.1-IV2-380+kafka-9839") == asked


def test_guards_of_another_mode_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(PlayError, match="903 belongs to KRaft, and Kafka zk-2"):
        feature_set("@zk-2.2-903")


@pytest.mark.parametrize("name", ["3.10", "zk-9.9.0", "kip-343"])
def test_the_name_of_a_release_may_begin_with_its_kind(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RELEASES, name, replace(RELEASES["3.9"], name=name))
    asked = parse_features(f"{name}/3.4-IV0", off=("kafka-15021", "903.leader-epoch"))
    assert feature_set(f"@{name}/3.4-IV0-kafka-15021-903.leader-epoch") == asked
    assert feature_set(f"@{name}-903").release == name


def test_a_release_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(
        PlayError, match=r"unknown release '2\.8'; the releases are zk-2\.1, zk-2\.2"
    ):
        feature_set("@2.8-903")


@pytest.mark.parametrize(
    ("release", "guard", "lacks"),
    [
        ("kip-343", "903", "lacks what KIP-903 is about"),
        ("zk-2.2", "343.specified", "`--kafka kip-343` has them"),
        ("3.5", "343.fence-itself", "`--kafka kip-343` has them"),
    ],
)
def test_rules_that_do_not_fit_a_release_say_what_it_lacks(
    release: str, guard: str, lacks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnknownFeatureError, match=lacks):
        parse_features(release, on=(guard,))
    assert main(["play", "343-stopping", "--kafka", release, "--on", guard]) == 2
    assert lacks in capsys.readouterr().err
