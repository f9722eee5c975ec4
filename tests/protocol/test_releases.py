"""The table of releases: what an entry has to say, and what is told of one that does not.

A release that is not there yet is tried on the tables: it is put beside the others for a test.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import asdict, replace

import kiplab
from kiplab.protocol.features import UnknownFeatureError, check_features, parse_features
from kiplab.protocol.guards import GUARDS, releases_of, since
from kiplab.protocol.ids import CONTROLLER, BrokerId
from kiplab.protocol.releases import (
    METADATA_LEVEL,
    METADATA_VERSIONS,
    RELEASES,
    CodeVersion,
    MetadataVersion,
    Mode,
    Release,
    checked,
    metadata_versions_of,
    of_mode,
)
from tests.protocol.looked_at import tables_of_vectors, without_vectors

BROUGHT = MetadataVersion(
    name="99.0-IV0", fetch=18, register_broker_record=4, partition_change_record=2
)
MADE_UP = Release(
    name="99.0",
    mode=Mode.KRAFT,
    code=CodeVersion(99, 0),
    brings=(BROUGHT,),
    lowest="3.3-IV3",
    latest="99.0-IV0",
    alter_partition=3,
    oldest_alter_partition=2,
    specified=None,
)
"""A release that never comes; it no longer runs at the oldest metadata versions."""
ENTRIES = tuple(RELEASES.values())
PACKAGE = Path(kiplab.__file__).parent


def put(monkeypatch: pytest.MonkeyPatch, release: Release) -> None:
    """`release` stands in the tables until the test is over."""
    monkeypatch.setitem(RELEASES, release.name, release)
    for version in release.brings:
        monkeypatch.setitem(METADATA_VERSIONS, version.name, version)
        monkeypatch.setitem(METADATA_LEVEL, version.name, len(METADATA_LEVEL) + 1)


# What an entry says


def test_metadata_versions_are_numbered_as_in_kafka() -> None:
    assert (METADATA_LEVEL["3.0-IV1"], METADATA_LEVEL["3.3-IV3"]) == (1, 7)
    assert (METADATA_LEVEL["3.7-IV4"], METADATA_LEVEL["3.9-IV0"]) == (19, 21)
    assert (METADATA_LEVEL["4.0-IV3"], METADATA_LEVEL["4.1-IV1"]) == (25, 27)
    assert (METADATA_LEVEL["4.2-IV1"], METADATA_LEVEL["4.3-IV0"]) == (29, 30)


@pytest.mark.parametrize("field", Release.__struct_fields__)
def test_an_entry_that_forgets_a_field_is_an_error_at_import(field: str) -> None:
    said: dict[str, Any] = {k: v for k, v in asdict(MADE_UP).items() if k != field}
    with pytest.raises(TypeError, match=field):
        Release(**said)


@pytest.mark.parametrize("field", MetadataVersion.__struct_fields__)
def test_a_metadata_version_says_what_it_gates(field: str) -> None:
    said: dict[str, Any] = {k: v for k, v in asdict(BROUGHT).items() if k != field}
    with pytest.raises(TypeError, match=field):
        MetadataVersion(**said)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"lowest": "3.3-IV9"}, "release 99.0: lowest='3.3-IV9', and no entry brings that"),
        ({"latest": "99.0-IV3"}, "release 99.0: latest='99.0-IV3', and no entry brings that"),
        ({"latest": "3.3-IV2"}, "release 99.0: lowest='3.3-IV3' is newer than latest='3.3-IV2'"),
        ({"code": CodeVersion(3, 8)}, f"release 99.0 stands after {ENTRIES[-1].name}"),
        ({"name": "3.9"}, "release 3.9 has two entries"),
        (
            {"brings": (BROUGHT, METADATA_VERSIONS["3.9-IV0"])},
            "metadata version 3.9-IV0 has two entries",
        ),
        ({"alter_partition": 2}, f"alter_partition=2, and {ENTRIES[-1].name} speaks 3 already"),
        (
            {"brings": (replace(BROUGHT, name="99.0-IV1"), BROUGHT)},
            "99.0-IV0 stands after 99.0-IV1",
        ),
        ({"brings": (replace(BROUGHT, fetch=12),)}, f"fetch=12, and {[*METADATA_LEVEL][-1]} gates"),
    ],
)
def test_an_entry_that_contradicts_the_table_is_an_error_at_import(
    changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        checked((*ENTRIES, replace(MADE_UP, **changes)))


def test_one_entry_is_enough() -> None:
    assert list(checked((*ENTRIES, MADE_UP)))[-1] == "99.0"
    assert list(metadata_versions_of((*ENTRIES, MADE_UP)))[-1] == "99.0-IV0"


# Bounds of metadata versions


@pytest.mark.parametrize(
    ("kafka", "bounds"),
    [
        ("99.0/3.0-IV1", "3.3-IV3 to 99.0-IV0"),
        ("99.0/3.3-IV2", "3.3-IV3 to 99.0-IV0"),
        ("3.4/3.5-IV0", "3.0-IV1 to 3.4-IV0"),
    ],
)
def test_a_metadata_version_out_of_bounds_is_refused_with_both(
    kafka: str, bounds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, MADE_UP)
    release, version = kafka.split("/")
    told = f"Kafka {release} does not know metadata version {version}; it knows {bounds}"
    with pytest.raises(UnknownFeatureError, match=told):
        parse_features(kafka)


def test_the_bounds_themselves_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, MADE_UP)
    for name, release in RELEASES.items():
        assert parse_features(f"{name}/{release.lowest}").release == name
        assert parse_features(f"{name}/{release.latest}").label() == name


def test_a_node_has_to_know_the_metadata_version_too(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, MADE_UP)
    mixed = replace(parse_features("3.9/3.0-IV1"), nodes=((BrokerId(1), "99.0"),))
    with pytest.raises(UnknownFeatureError, match=r"Kafka 99\.0 does not know"):
        check_features(mixed)


# Order


def test_releases_are_in_order_of_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    later = replace(MADE_UP, name="3.10", code=CodeVersion(3, 10))
    put(monkeypatch, later)
    assert RELEASES["3.9"].code < later.code
    assert since("3.7").has(later)
    newest = parse_features("3.9/3.9-IV0").active(CONTROLLER)
    assert parse_features("3.10/3.9-IV0").active(CONTROLLER) == newest


def test_an_older_release_is_before_what_began_at_3_3() -> None:
    older = replace(MADE_UP, name="3.1", code=CodeVersion(3, 1))
    assert older.code < (3, 3)
    assert since("kraft").has(older)
    assert not since("3.3").has(older)


def test_a_rule_of_one_mode_says_nothing_of_another() -> None:
    elsewhere = replace(MADE_UP, name="other-4.3", mode=cast("Mode", "another"))
    assert not since("kraft").has(elsewhere)
    assert not since("3.3").has(elsewhere)


def test_a_release_more_leaves_the_words_of_the_guards_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {id: releases_of(guard) for id, guard in GUARDS.items()}
    put(monkeypatch, MADE_UP)
    assert {id: releases_of(guard) for id, guard in GUARDS.items()} == before
    assert GUARDS["497.leader-epoch"].releases[-1] == "99.0"


def test_a_guard_cannot_begin_with_a_release_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"since=3.55, and there is no such release"):
        since("3.55")


# Rules ask for versions of the code, never for names


def comparisons() -> Iterator[tuple[str, ast.Compare]]:
    """Every comparison in the package, with its place."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                yield f"{file.relative_to(PACKAGE.parent)}:{node.lineno}", node


def by_name(node: ast.Compare) -> bool:
    """Whether something is compared with a release's name: ``release >= "3.7"``."""
    parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
    return any(isinstance(p, ast.Constant) and p.value in RELEASES for p in parts)


def bounds(node: ast.Compare) -> Iterator[tuple[bool, tuple[int, ...]]]:
    """The numbers that code is compared with, and whether by ``<`` or ``>=``, as it should."""
    sides = (node.left, *node.comparators)
    for (before, after), relation in zip(pairwise(sides), node.ops, strict=True):
        if _is_version(after) and _asks_for_code(before):
            yield isinstance(relation, (ast.Lt, ast.GtE)), ast.literal_eval(after)
        if _is_version(before) and _asks_for_code(after):
            yield isinstance(relation, (ast.Gt, ast.LtE)), ast.literal_eval(before)


def _is_version(side: ast.expr) -> bool:
    return isinstance(side, ast.Tuple) and all(
        isinstance(part, ast.Constant) and isinstance(part.value, int) for part in side.elts
    )


def _asks_for_code(side: ast.expr) -> bool:
    """``code``, ``here.code``, ``code.version``, ``features.code_of(node)``, ``moment.code(n)``."""
    asked = side.func if isinstance(side, ast.Call) else side
    name = asked.attr if isinstance(asked, ast.Attribute) else ast.unparse(asked)
    return name in ("code", "version", "code_of")


def test_no_rule_compares_the_names_of_releases() -> None:
    wrong = [place for place, node in comparisons() if by_name(node)]
    assert not wrong, f"compare versions of the code there, as in `code >= (3, 7)`: {wrong}"


def test_rules_ask_with_less_and_not_less_alone_for_code_that_there_is() -> None:
    there = {release.code[:2] for release in RELEASES.values()}
    asked = [(place, *found) for place, node in comparisons() for found in bounds(node)]
    assert asked
    for place, well_asked, numbers in asked:
        assert numbers in there, f"{place}: no release has the code {numbers}"
        # (3, 5, 0) is not equal to (3, 5): with `<=` and `>` it would count as newer.
        assert well_asked, f"{place}: ask whether code is `< {numbers}` or `>= {numbers}`"


# Every release is looked at


@pytest.mark.parametrize("file", ["README.md", "labs/00-start.ipynb"])
def test_a_reader_is_told_how_far_the_releases_reach(file: str) -> None:
    said = re.findall(r"3\.2 to (\d+\.\d+)", (PACKAGE.parent / file).read_text(encoding="utf-8"))
    newest = max(RELEASES.values(), key=lambda release: release.code).name
    wrong = [last for last in said if last != newest]
    assert said
    assert not wrong, f"{file} says `3.2 to {wrong[0]}`; say `3.2 to {newest}`"


# The tables of vectors are about KRaft; tests/protocol/zookeeper has those of ZooKeeper's time.


@pytest.mark.parametrize("file", tables_of_vectors())
def test_every_release_has_vectors(file: str) -> None:
    said = list(without_vectors({file: tables_of_vectors()[file]}, of_mode(Mode.KRAFT)))
    assert not said, "\n".join(said)


def test_every_mode_has_vectors() -> None:
    seen = {RELEASES[name].mode for names in tables_of_vectors().values() for name in names}
    assert seen == set(Mode)


def test_a_release_without_vectors_is_told_for_every_table() -> None:
    tables = tables_of_vectors()
    told = [said for said in without_vectors(tables, [*RELEASES, "99.0"]) if "99.0" in said]
    assert len(told) == len(tables) >= 7
    for file, sentence in zip(tables, told, strict=True):
        assert sentence.startswith(f"no vector of {file} looks at Kafka 99.0: read its source,")
