"""How fast a metadata log is read, and how much memory that takes.

python tests/bench/import_log.py [RECORDS [PARTITIONS]]

A generated log, 2,000,000 records of 10,000 partitions unless told otherwise, as a segment and as a
dump: half no-ops, then changes alone. Each is read, and then read, replayed and judged, in a
process of its own; rates are in CPU time.
"""

import resource
import subprocess
import sys
import tempfile
import time
from itertools import product, tee
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from kiplab.incident.metadata_history import read_metadata_log
from kiplab.incident.reading import read_items
from tests.incident.generated_log import generated_batches
from tests.incident.written_logs import dump_lines, dump_title, encoded

RECORDS, PARTITIONS = 2_000_000, 10_000
TARGETS = {"dump": 50_000, "segment": 60_000}
MEGABYTE = 1 << 20


def main(records: int = RECORDS, partitions: int = PARTITIONS) -> None:
    """Prints one line for each file."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, no_ops in (("half no-ops", 0.5), ("changes alone", 0.0)):
            segment, dump = Path(folder, "segment"), Path(folder, "dump")
            _write(segment, dump, records, partitions, no_ops)
            for path, how in product((segment, dump), ("read", "judged")):
                command = [sys.executable, __file__, how, str(path)]
                rate, peak = subprocess.check_output(command, text=True).split()
                size = path.stat().st_size / MEGABYTE
                print(
                    f"{kind:<14} {path.name:<8} {how:<7} {records:>9,} records, {size:>5.0f} MB:"
                    f" {int(rate):>8,} records/s (target {TARGETS[path.name]:,}),"
                    f" peak memory {int(peak)} MB",
                    flush=True,
                )


def _write(segment: Path, dump: Path, records: int, partitions: int, no_ops: float) -> None:
    batches = map(encoded, generated_batches(partitions, records, no_ops=no_ops))
    with segment.open("wb") as binary, dump.open("w") as text:
        for_segment, for_dump = tee(batches)
        text.write(dump_title())
        for one, lines in zip(for_segment, dump_lines(for_dump), strict=True):
            binary.write(one.data)
            text.write(lines)


def read(path: str, how: str) -> None:
    """Prints records a second and the peak memory in MB, of reading alone or of the whole pass."""
    began, count = time.process_time(), 0
    if how == "read":
        count = sum(1 for _ in read_items([path]))
    else:
        history = read_metadata_log(path)
        count = history.last.offset + 1 if history.last else 0
    rate = count / (time.process_time() - began)
    print(int(rate), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["judged"]):
        read(sys.argv[2], sys.argv[1])
    else:
        main(*map(int, sys.argv[1:]))
