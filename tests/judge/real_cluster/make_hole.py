"""``make hole``: run real clusters until an acknowledged record is gone, and tell how.

Exit codes: 0 lost and told, 2 bad options, 3 Java or Kafka's jars are missing or no cluster starts,
4 not reached in so many attempts.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.kafka_jars import jar_cache

from .cluster_run import ClusterRun, Sighting
from .hole_story import PLAY, WORDS, Beat, beside_the_engine, told

LOST, MISSING, NOT_REACHED = 0, 3, 4
ATTEMPTS_MAX = 10
LAG_MS = 30_000
"""replica.lag.time.max.ms, by default."""


class HoleAttempt(NamedTuple):
    """One topic, and everything that was seen of it."""

    topic: str
    seen: list[Sighting]

    @property
    def came_to(self) -> str:
        """The last moment that it reached."""
        reached = [seen.moment for seen in self.seen if seen.moment != "missed"]
        return reached[-1] if reached else "attempt"


def main(words: Sequence[str] | None = None) -> int:
    options = _options().parse_args(words)
    try:
        patch = jar_cache.patch_release(options.kafka)
        return _run(patch, options.attempts, options.lag_ms, options.min_isr)
    except jar_cache.UnjudgedReleaseError as unknown:
        _options().error(str(unknown))
    except (jar_cache.MissingKafkaError, DeadKafkaError) as missing:
        print(missing, file=sys.stderr)
        return MISSING


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make hole",
        description="Run a real cluster until a record that was acknowledged is gone.",
    )
    parser.add_argument("--kafka", default="3.5", help="a release, or a patch release (3.5)")
    parser.add_argument(
        "--attempts", type=_attempts, default=ATTEMPTS_MAX, help=f"1 to {ATTEMPTS_MAX}"
    )
    parser.add_argument(
        "--lag-ms",
        type=_natural,
        default=LAG_MS,
        help=f"replica.lag.time.max.ms ({LAG_MS}, the default)",
    )
    parser.add_argument("--min-isr", type=_natural, default=2, help="min.insync.replicas (2)")
    return parser


def _natural(word: str) -> int:
    count = int(word)
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {count}")
    return count


def _attempts(word: str) -> int:
    count = int(word)
    if not 1 <= count <= ATTEMPTS_MAX:
        raise argparse.ArgumentTypeError(f"expected 1 to {ATTEMPTS_MAX}, found {count}")
    return count


def _run(patch: str, attempts: int, lag_ms: int, min_isr: int) -> int:
    settings = {
        "replica.lag.time.max.ms": lag_ms,
        "min.insync.replicas": min_isr,
        # The broker that stops is to stop as in a crash: it hands nothing over.
        "controlled.shutdown.enable": "false",
    }
    print(_headline(patch, settings), flush=True)
    done: list[HoleAttempt] = []
    while len(done) < attempts:
        left = attempts - len(done)
        with ClusterRun(patch, left, [f"{k}={v}" for k, v in settings.items()]) as run:
            found = _watched(run, len(done), attempts)
            done += found
            if death := run.death():
                print(death)
            if not found:
                break
            if done[-1].came_to == "lost":
                _tell(patch, done[-1], run.logged())
                return LOST
    print(_how_far(done))
    return NOT_REACHED


def _headline(patch: str, settings: dict[str, object]) -> str:
    said = ", ".join(f"{name}={value}" for name, value in settings.items())
    return (
        f"Kafka {patch}, unmodified: three controllers and three brokers of its own test kit, in"
        f" one process on loopback.\nSettings: {said}; all others are the test kit's and Kafka's"
        " own. Records of 600,000 bytes.\nL leads; B comes second in the replicas, A third. Faults:"
        " the disks of A and B stall, L stops.\nNobody touches metadata or AlterPartition.\n"
    )


def _watched(run: ClusterRun, before: int, attempts: int) -> list[HoleAttempt]:
    """Every attempt of one cluster, told as it goes."""
    found: list[HoleAttempt] = []
    for seen in run.moments():
        if seen.moment == "attempt":
            found.append(HoleAttempt(seen.values["topic"], []))
            print(f"attempt {before + len(found)} of {attempts}", flush=True)
        elif found:
            found[-1].seen.append(seen)
            print(told(seen), flush=True)
    return found


def _tell(patch: str, attempt: HoleAttempt, logged: Iterable[str]) -> None:
    release = patch.rpartition(".")[0]
    beats = list(beside_the_engine(attempt.seen, release))
    print(f"\nThe leader of Kafka {patch}, and the engine's in the play {PLAY}:")
    for beat in beats:
        print(_side_by_side(beat, patch))
    agreed = sum(beat.real == beat.played for beat in beats)
    print(f"{agreed} of {len(beats)} alike; in the play the record is lost as well.")
    print("\nWhat Kafka's own log says of the proposals of L:")
    for line in logged:
        if f"{attempt.topic}-0 broker=0" in line:
            print(f"  {line}")


def _side_by_side(beat: Beat, patch: str) -> str:
    sign = "=" if beat.real == beat.played else "differs"
    engine = f"{beat.step}: {beat.played}   {sign}"
    return f"  {WORDS[beat.moment]}\n    Kafka {patch}: {beat.real}\n    {engine}"


def _how_far(done: Iterable[HoleAttempt]) -> str:
    reached = Counter(attempt.came_to for attempt in done)
    lines = (f"  {reached[word]:>2} x {said}" for word, said in WORDS.items() if word in reached)
    return "\n".join(["Not reached. How far the attempts came:", *lines])


if __name__ == "__main__":
    sys.exit(main())
