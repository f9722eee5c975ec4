"""What a broker process knows of the last one's stop, by Kafka's own LogManager: no controller can
judge that. The rules of the engine are tested in tests/protocol.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kiplab.judge import java_process
from kiplab.judge.kafka_jars import jar_cache
from kiplab.judge.partition.partition_process import PARTITION_CLASSES
from kiplab.protocol.ids import BrokerEpoch, BrokerId, Incarnation
from kiplab.protocol.kraft import broker_lifecycle
from kiplab.protocol.replica import broker_parts, disk
from kiplab.protocol.replica.broker_state import Broker, Durable, Loss
from tests.judge.kafka_here import live, real_kafka

SOURCE = Path(__file__).parent / "clean_stop" / "CleanStop.java"
CRASH, NEW_DISK = "crash", "new disk"
LIVES = ("7", "9", CRASH, "-1", "12", NEW_DISK, "5", CRASH, CRASH)
"""How each process of a broker ends: in order, with its broker epoch, which is -1 before it has
one; or not. A new disk is a crash after which nothing is left."""
EXPECTED = (-1, 7, 9, -1, -1, 12, -1, 5, -1)
"""The epoch that each begins with: that of the process before it, if that one stopped in order."""


def test_a_process_begins_with_the_broker_epoch_of_an_orderly_stop() -> None:
    broker, known = Broker(id=BrokerId(1), incarnation=Incarnation(0), durable=Durable(())), []
    for life in LIVES:
        broker, _, _ = broker_lifecycle.start(broker, None)
        known.append(broker_parts.process_of(broker).previous_epoch)
        if life in (CRASH, NEW_DISK):
            loss = Loss.DISK if life == NEW_DISK else Loss.NOTHING
            broker, _, _ = disk.crash(broker, loss)
        else:
            broker = broker_parts.with_process(broker, epoch=BrokerEpoch(int(life)))
            broker, _, _ = disk.stop_cleanly(broker, notes_epoch=True)
    assert tuple(known) == EXPECTED


@live(test_a_process_begins_with_the_broker_epoch_of_an_orderly_stop)
@pytest.mark.parametrize("release", ["4.0", "4.3"])
def test_the_log_manager_of_kafka_reads_the_same(release: str, tmp_path: Path) -> None:
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no javac")
    with real_kafka():
        jars = jar_cache.jars_of(jar_cache.patch_release(release))
    classes: Sequence[Path | str] = (tmp_path, PARTITION_CLASSES, f"{jars}/*")
    path = ":".join(map(str, classes))
    subprocess.run([javac, "-cp", path, "-d", str(tmp_path), str(SOURCE)], check=True)
    assert lives(classes, tmp_path / "logs") == EXPECTED


def lives(classes: Sequence[Path | str], folder: Path) -> tuple[int, ...]:
    """What each process has read; -1 where there is nothing to read."""
    read = []
    for life in LIVES:
        folder.mkdir(exist_ok=True)
        word = CRASH if life == NEW_DISK else life
        command = java_process.java_command(classes, ["CleanStop", str(folder), word])
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        said = done.stdout.split()[0]
        read.append(-1 if said == "none" else int(said))
        if life == NEW_DISK:
            shutil.rmtree(folder)
    return tuple(read)
