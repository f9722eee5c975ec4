"""The jars of each release, kept in the user's cache folder: fetched once, whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...machine.cache import cache_folder
from .fetching_jars import Artifact, fetch_jars, server, with_test_kit, zookeeper_era
from .judged_releases import MissingKafkaError


def kafka_folder() -> Path:
    """Where a folder of jars is, or would be, for every patch release."""
    return cache_folder() / "kafka"


def have_jars(patch: str, *, with_zookeeper: bool = False) -> bool:
    """Whether those of ``"3.4.1"`` are there, or of a broker of ZooKeeper's years: a folder has its
    name when it is complete.
    """
    return (kafka_folder() / f"{patch}{'-zookeeper' * with_zookeeper}").is_dir()


def jars_of(patch: str) -> Path:
    """The folder of a release's jars, fetched if it is not there yet.

    Raises MissingKafkaError saying what stood in the way: no way to fetch, no network, no such
    release, no room.
    """
    return _kept(kafka_folder() / patch, patch, server(patch))


def jars_with_test_kit(patch: str) -> Path:
    """The same with Kafka's own kit for whole clusters, in a folder of its own.

    Raises MissingKafkaError as `jars_of` does.
    """
    return _kept(kafka_folder() / f"{patch}-test-kit", patch, with_test_kit(patch))


def jars_of_zookeeper_era(patch: str) -> Path:
    """Those of a broker whose cluster is kept by ZooKeeper, in a folder of its own.

    Raises MissingKafkaError as `jars_of` does.
    """
    return _kept(kafka_folder() / f"{patch}-zookeeper", patch, zookeeper_era(patch))


def _kept(folder: Path, patch: str, artifacts: Sequence[Artifact]) -> Path:
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _one_at_a_time(folder.parent):
                _fill(folder, patch, artifacts)
        except OSError as problem:
            raise MissingKafkaError(
                f"{folder.parent} cannot be written ({problem.strerror}).",
                "Set XDG_CACHE_HOME to a folder that can.",
            ) from None
    return folder


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Maven's own store is not made for two that fill it at once, where a lock can be had."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fill(folder: Path, patch: str, artifacts: Sequence[Artifact]) -> None:
    """Fetch the jars, unless somebody has done so meanwhile."""
    if folder.is_dir():
        return
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        fetch_jars(patch, unfinished, artifacts)
        _put_in_place(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _put_in_place(unfinished: Path, folder: Path) -> None:
    try:
        os.replace(unfinished, folder)
    except OSError:
        # Another process was quicker: what it fetched is the same.
        if not folder.is_dir():
            raise
