"""What real controllers wrote in scripted incidents, and what Kafka's tool says of it, as files.

The head of a script names the release, the metadata version, the level of eligible leader replicas
and settings of the controller, and says whether the brokers are real. At its end ``cut FILE BYTES``
keeps the first bytes of a segment in the folder ``half``, and each ``dump FILE RELEASE PATTERNS...
[OPTION]`` is one run of kafka-dump-log.
"""

import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.incident.real_logs.dump_tool import dumped
from tests.incident.real_logs.fake_brokers import Incident, TalkativeController, lines_of
from tests.incident.real_logs.real_brokers import LoggingController, RealIncident

HERE = Path(__file__).parent
RECORDINGS = HERE.parent / "recordings"
SCRIPTS = {path.stem: path for path in sorted((HERE / "scripts").glob("*.incident"))}
HEAD = ("kafka", "real-brokers", "metadata-version-is", "elr", "setting")


def record(name: str, into: Path = RECORDINGS) -> Iterator[Path]:
    """Let the incident of that name happen; the files that are kept of it, in `into`/NAME. Raises
    what a real controller and Kafka's tool raise.
    """
    lines = lines_of(SCRIPTS[name].read_text(encoding="utf-8"))
    folder = into / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with _controller(lines) as process:
        if isinstance(process, LoggingController):
            incident: Incident = RealIncident(process)
        else:
            incident = Incident(process)
        try:
            for line in lines:
                if line.split()[0] not in (*HEAD, *KEPT):
                    incident.do(line)
        finally:
            incident.end()
        if isinstance(incident, RealIncident):
            incident.keep_logs(folder)
        _keep(process.data / "__cluster_metadata-0", folder)
    for line in lines:
        verb, *words = line.split()
        if verb in KEPT:
            KEPT[verb](folder, *words)
    yield from sorted(file for file in folder.rglob("*") if file.is_file())


def _controller(lines: list[str]) -> TalkativeController:
    heads = [line.split() for line in lines if line.split()[0] in HEAD]
    head = {words[0]: words[-1] for words in heads}
    settings = dict(words[1].split("=") for words in heads if words[0] == "setting")
    kind = LoggingController if "real-brokers" in head else TalkativeController
    return kind(
        head["kafka"], head.get("metadata-version-is", ""), int(head.get("elr", 0)), settings
    )


def _keep(log: Path, folder: Path) -> None:
    """Segments and checkpoints, as the controller has them."""
    for file in sorted(log.iterdir()):
        if file.suffix in (".log", ".checkpoint") and not file.name.startswith("bootstrap"):
            shutil.copyfile(file, folder / file.name)


def _dump(folder: Path, into: str, patch: str, *words: str) -> None:
    patterns = [word for word in words if not word.startswith("--")]
    found = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    files = [str(file.relative_to(folder)) for file in found]
    options = [word for word in words if word.startswith("--")]
    text = dumped(patch, folder, files, *options)
    # Without a time in the header equal texts are equal files.
    (folder / into).write_bytes(gzip.compress(text.encode(), mtime=0))


def _cut(folder: Path, file: str, size: str) -> None:
    half = folder / "half"
    half.mkdir()
    (half / file).write_bytes((folder / file).read_bytes()[: int(size)])


KEPT: dict[str, Callable[..., None]] = {"cut": _cut, "dump": _dump}
"""What is made of the files, once the controller has ended."""
