"""Releases, metadata versions and guards: what acts where."""

import pytest
from msgspec.structs import replace

from kiplab.protocol.features import UnknownFeatureError, check_features, parse_features, switched
from kiplab.protocol.guards import GUARDS, GuardKind, named, releases_of
from kiplab.protocol.ids import CONTROLLER, BrokerId
from kiplab.protocol.releases import NEVER_SPOKEN, RELEASES, Mode

VERSIONS = {
    "zk-2.1": (NEVER_SPOKEN, 10),
    "zk-2.2": (NEVER_SPOKEN, 10),
    "kip-343": (NEVER_SPOKEN, 10),
    "zk-2.5.0": (NEVER_SPOKEN, 11),
    "zk-2.6": (NEVER_SPOKEN, 11),
    "zk-2.8": (0, 12),
    "zk-2.8/2.7-IV0": (0, 11),
    "zk-3.4": (2, 13),
    "zk-3.4/2.8-IV1": (2, 12),
    "3.2": (1, 13),
    "3.3": (2, 13),
    "3.4": (2, 13),
    "3.5": (3, 15),
    "3.5/3.5-IV0": (3, 14),
    "3.5/3.4-IV0": (3, 13),
    "3.6": (3, 15),
    "3.7": (3, 16),
    "3.8": (3, 16),
    "3.9": (3, 17),
    "4.0": (3, 17),
    "4.1": (3, 18),
    "4.1/4.1-IV0": (3, 17),
    "4.2": (3, 18),
    "4.3": (3, 18),
}
"""AlterPartition, negotiated, and Fetch, gated by metadata version: kraft.md section 0."""


def test_the_versions_of_every_release_are_written_down_here() -> None:
    lacks = set(RELEASES) - set(VERSIONS)
    assert not lacks, (
        f"add AlterPartition and Fetch versions to VERSIONS for {sorted(lacks)}, as its source has"
        " them (tests/protocol/test_features.py)"
    )


@pytest.mark.parametrize(("kafka", "versions"), VERSIONS.items())
def test_versions_on_the_wire(kafka: str, versions: tuple[int, int]) -> None:
    alter_partition, fetch = versions
    features = parse_features(kafka)
    assert features.alter_partition_version(BrokerId(1)) == alter_partition
    assert features.fetch_version() == fetch


def test_a_mixed_cluster_speaks_the_older_version() -> None:
    features = replace(parse_features("3.5"), nodes=((BrokerId(2), "3.4"),))
    assert features.alter_partition_version(BrokerId(1)) == 3
    assert features.alter_partition_version(BrokerId(2)) == 2
    assert "903.leader-epoch" in features.active(BrokerId(1))
    assert "903.leader-epoch" not in features.active(BrokerId(2))


def test_a_bare_number_means_refusals_and_rules_never_alternatives() -> None:
    assert set(named("903")) == {"903.controller-epoch", "903.fetch-epoch", "903.leader-epoch"}
    assert named("KIP-903") == named("903")
    assert named("903.bump-leader-epochs") == ("903.bump-leader-epochs",)
    assert named("904") == ()


def test_what_a_kip_wants_and_no_release_does_has_a_name_of_its_own() -> None:
    ids = named("704.specified")
    assert ids == named("KIP-704.specified")
    assert {GUARDS[id].kind for id in ids} == {GuardKind.AS_SPECIFIED}
    assert len(ids) > 1
    assert not set(ids) & set(named("704"))
    assert named("497.specified") == ("497.pending-outlives-metadata",)
    assert named("903.specified") == named("704.refused") == ()
    on = parse_features("3.5", on=("704.specified",))
    assert set(ids) <= on.active(CONTROLLER)
    assert switched(on, "704.specified", False).active(CONTROLLER).isdisjoint(ids)


def test_a_wrong_name_is_told_that_one_too() -> None:
    with pytest.raises(UnknownFeatureError, match=r"704\.election-boolean, 704\.specified$"):
        parse_features("3.5", on=("704.recovers",))


def test_switching_a_guard_on_lifts_what_it_requires() -> None:
    features = parse_features("3.4", on=("903",))
    assert features.alter_partition_version(BrokerId(1)) == 3
    assert features.fetch_version() == 15
    assert set(named("903")) <= features.active(CONTROLLER)


def test_the_metadata_version_alone_switches_the_fetch_epoch() -> None:
    active = parse_features("3.5/3.4-IV0").active(BrokerId(1))
    assert "903.controller-epoch" in active
    assert "903.fetch-epoch" not in active


@pytest.mark.parametrize("release", RELEASES)
def test_alternatives_never_act_by_themselves(release: str) -> None:
    native = (GuardKind.REFUSAL, GuardKind.RULE)
    meant = RELEASES[release].specified
    odd = {g.id for g in GUARDS.values() if g.kind not in native and g.kip != (meant or -1)}
    assert not parse_features(release).active(CONTROLLER) & odd


@pytest.mark.parametrize(
    ("kafka", "said"),
    [
        ("3.1", "3.2, 3.3"),
        ("2.2", "zk-2.1, zk-2.2"),
        ("3.5/9.9-IV0", "3.5-IV2"),
        ("3.4/3.5-IV1", "3.0-IV1 to 3.4-IV0"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(kafka: str, said: str) -> None:
    with pytest.raises(UnknownFeatureError, match=said):
        parse_features(kafka)


@pytest.mark.parametrize(
    ("label", "off", "on"),
    [
        ("3.5", (), ()),
        ("3.5 -903", ("903",), ()),
        ("3.5 -841 -903", ("903", "841"), ()),
        ("3.5 +903.epoch-from-metadata", (), ("903.epoch-from-metadata",)),
        ("3.5 +704.specified", (), ("704.specified",)),
        ("3.5 +704.unclean-again", (), ("704.unclean-again",)),
        ("3.5 +497.pending-outlives-metadata", (), ("497.specified",)),
        ("3.5/3.4-IV0", (), ()),
    ],
)
def test_labels_read_like_the_command_line(
    label: str, off: tuple[str, ...], on: tuple[str, ...]
) -> None:
    assert parse_features(label.split()[0], off=off, on=on).label() == label


ALWAYS = ("all", "all of KRaft", "all with ZooKeeper")


def test_every_guard_says_what_it_is() -> None:
    for guard in GUARDS.values():
        assert guard.clause.endswith("."), guard.id
        assert guard.error is not None or guard.kind is not GuardKind.REFUSAL
        assert guard.error is None or guard.kind in (GuardKind.REFUSAL, GuardKind.AS_SPECIFIED)
        for said in releases_of(guard).split("; "):
            assert said in ("never built", *ALWAYS) or said.endswith(" and later"), guard.id


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("903.controller-epoch", "3.5 and later"),
        ("380.bounce-detection", "zk-2.2 and later"),
        ("631.heartbeat-epoch", "all of KRaft"),
        ("zookeeper.isr-version", "all with ZooKeeper"),
        ("497.maximal-isr", "all of KRaft; zk-2.8 and later"),
        ("320.fenced-fetch", "all"),
        ("380.session-id", "never built"),
    ],
)
def test_where_a_guard_is_built_names_the_mode_unless_its_release_does(id: str, said: str) -> None:
    assert releases_of(GUARDS[id]) == said


@pytest.mark.parametrize(
    "name", ["903", "903.controller-epoch", "kafka-15021", "631.heartbeat-epoch"]
)
@pytest.mark.parametrize("on", [True, False])
def test_a_guard_of_kraft_is_none_of_a_release_with_zookeeper(name: str, on: bool) -> None:
    said = f"{name} belongs to KRaft, and Kafka zk-2.2 has ZooKeeper; guards that it knows begin"
    with pytest.raises(UnknownFeatureError, match=f"{said} with one of 320, "):
        switched(parse_features("zk-2.2"), name, on)


@pytest.mark.parametrize("name", ["380", "380.session-id", "zookeeper", "kafka-9839.newer-epoch"])
def test_a_guard_of_zookeepers_time_is_none_of_a_release_without(name: str) -> None:
    said = f"{name} belongs to clusters with ZooKeeper, and Kafka 3.5 has none; guards that it"
    with pytest.raises(UnknownFeatureError, match=said):
        parse_features("3.5", on=(name,))


def test_of_a_kip_that_both_modes_have_those_guards_are_meant_that_there_are() -> None:
    features = parse_features("zk-2.8", off=("497",))
    assert ("497.maximal-isr", False) in features.overrides
    assert "497.sender-is-leader" not in dict(features.overrides)
    assert features.label() == "zk-2.8 -497"
    specified = parse_features("zk-3.4", on=("704.specified",))
    assert "704.leader-refuses" in specified.active(BrokerId(1))
    assert "704.unclean-again" not in dict(specified.overrides)
    assert specified.label() == "zk-3.4 +704.specified"


def test_features_that_mix_the_modes_are_refused_however_they_were_made() -> None:
    odd = replace(parse_features("zk-2.2"), overrides=(("903.fetch-epoch", True),))
    with pytest.raises(UnknownFeatureError, match="belongs to KRaft"):
        check_features(odd)


def test_every_guard_of_the_table_says_in_which_mode_it_is() -> None:
    silent = [guard.id for guard in GUARDS.values() if not (guard.built or guard.meant_for)]
    assert not silent, f"say since when it is built, or which mode it is meant for: {silent}"


def test_a_guard_that_says_no_mode_can_be_switched_in_every_mode() -> None:
    somewhere = replace(GUARDS["380.session-id"], meant_for=())
    assert somewhere.modes == tuple(Mode)
