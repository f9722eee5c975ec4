"""Files that somebody or something damaged end in findings or in one sentence, in nothing else.

`python -m tests.incident.test_mutated_files FIRST COUNT` reads other mutated files and prints the
slowest.
"""

import gzip
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from kiplab.incident.log_items import UnreadableInputError
from kiplab.incident.metadata_history import read_metadata_log

RECORDINGS = Path(__file__).with_name("recordings")
QUICK, LONG = 300, 20_000
OTHER_LIFE, TWO_SEGMENTS = RECORDINGS / "other-life-3.5.2", RECORDINGS / "two-segments-3.9.1"
INPUTS = (
    (OTHER_LIFE / "dump.txt.gz",),
    tuple(sorted(TWO_SEGMENTS.glob("*.log"))),
    tuple(sorted(OTHER_LIFE.glob("0*"))),
    (OTHER_LIFE / "checkpoints.txt.gz", TWO_SEGMENTS / "skipped.txt.gz"),
)
"""One file of each is mutated, packed ones after they were unpacked."""

Units = list[bytes]


def _changed(units: Units, dice: random.Random) -> Units:
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(units))
        unit = bytearray(units[at] or b"\0")
        unit[dice.randrange(len(unit))] = dice.randrange(256)
        units[at] = bytes(unit)
    return units


def _dropped(units: Units, dice: random.Random) -> Units:
    at = dice.randrange(len(units))
    return units[:at] + units[at + dice.choice((1, 1, 1, 30)) :]


def _doubled(units: Units, dice: random.Random) -> Units:
    at, size = dice.randrange(len(units)), dice.choice((1, 1, 1, 30))
    return units[: at + size] + units[at:]


def _reordered(units: Units, dice: random.Random) -> Units:
    one, other = dice.randrange(len(units)), dice.randrange(len(units))
    units[one], units[other] = units[other], units[one]
    return units


def _cut(units: Units, dice: random.Random) -> Units:
    whole = b"".join(units)
    return [whole[: dice.randint(0, len(whole))]]


MUTATIONS: Sequence[Callable[[Units, random.Random], Units]] = (
    _changed,
    _dropped,
    _doubled,
    _reordered,
    _cut,
)


class Mutated(NamedTuple):
    """How reading a mutated file ended, and how long that took."""

    seed: int
    seconds: float
    end: str


def mutated(data: bytes, dice: random.Random) -> bytes:
    """Other bytes; a text is changed by its lines, anything else by pieces of it."""
    if b"\0" in data:
        cuts = sorted({0, len(data), *(dice.randrange(len(data)) for _ in range(40))})
        units = [data[begin:end] for begin, end in pairwise(cuts)]
    else:
        units = data.splitlines(keepends=True)
    for _ in range(dice.randint(1, 3)):
        units = dice.choice(MUTATIONS)(units, dice) or [b""]
    return b"".join(units)


def read_mutated(seed: int, folder: Path) -> Mutated:
    """Imports one of the inputs, of which one file is mutated."""
    dice = random.Random(seed)
    files = dice.choice(INPUTS)
    victim = dice.choice(files)
    paths = []
    for file in files:
        data = file.read_bytes()
        data = gzip.decompress(data) if file.suffix == ".gz" else data
        paths.append(folder / file.name.removesuffix(".gz"))
        paths[-1].write_bytes(mutated(data, dice) if file is victim else data)
    began = time.perf_counter()
    try:
        history = read_metadata_log(*paths)
        end = f"{len(history.findings)} findings"
    except UnreadableInputError as refused:
        end = str(refused)
        assert end.endswith("."), end
    return Mutated(seed, time.perf_counter() - began, end)


def read_many(first: int, count: int, folder: Path) -> list[Mutated]:
    """The slowest last."""
    read = [read_mutated(seed, folder) for seed in range(first, first + count)]
    return sorted(read, key=lambda mutant: mutant.seconds)


def test_mutated_files_end_in_findings_or_in_a_sentence(tmp_path: Path) -> None:
    read = read_many(0, QUICK, tmp_path)
    assert {mutant.end.endswith("findings") for mutant in read} == {True, False}


@pytest.mark.long(quick="::test_mutated_files_end_in_findings_or_in_a_sentence")
def test_so_do_many_more(tmp_path: Path) -> None:
    print("slowest:", read_many(QUICK, LONG, tmp_path)[-1])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for mutant in read_many(int(sys.argv[1]), int(sys.argv[2]), Path(name))[-5:]:
            print(mutant)
