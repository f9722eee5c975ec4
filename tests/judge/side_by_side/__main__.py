"""`python -m tests.judge.side_by_side`: what is shipped of the plays that come with kiplab, made of
the stored answers; with ``--record`` real controllers and brokers are asked anew before.
`make judge-record` runs it.
"""

import argparse
import sys
from collections.abc import Sequence

from kiplab.judge.kafka_jars.jar_cache import LAST_PATCH, MissingKafkaError
from tests.judge.side_by_side import shipped
from tests.judge.side_by_side.stored_answers import keep_recordings, recordings_of

AGREED, LACKING = 0, 3
"""Exit codes, as those of the commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="judge")
    parser.add_argument("plays", nargs="*", help="without any: every one that can be told")
    parser.add_argument("--record", action="store_true", help="ask Kafka, and keep what it says")
    given = parser.parse_args(arguments)
    try:
        for name in (given.plays or shipped.told_plays()) if given.record else ():
            for release in LAST_PATCH:
                patch, recording = shipped.asked_live(name, release)
                keep_recordings(name, recordings_of(name) | {patch: recording})
            print(f"{name}: recorded on {len(LAST_PATCH)} releases", flush=True)
    except MissingKafkaError as problem:
        print(f"judge: {problem}", file=sys.stderr)
        return LACKING
    columns = {
        name: dict(shipped.play_columns(name, release) for release in LAST_PATCH)
        for name in shipped.told_plays()
    }
    shipped.keep_columns(columns)
    print(f"shipped: {len(columns)} plays, {sum(map(len, columns.values()))} runs of Kafka")
    return AGREED


if __name__ == "__main__":
    sys.exit(main())
