"""Kafka's own kafka-dump-log, run in the folder of the files: no path gets into the text."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from kiplab.judge.java_process import java_command
from kiplab.judge.kafka_jars.jar_cache import SLF4J, Artifact, jars_of, kept_jars

TOOL = "kafka.tools.DumpLogSegments"
MOVED = (4, 3)
"""The first release in which the tool is in kafka-tools, under another name."""
DUMP_S = 120


def dumped(patch: str, folder: Path, files: Sequence[str], *options: str) -> str:
    """What the tool of a patch release such as ``"3.5.2"`` says of files in `folder`. Raises
    MissingKafkaError where it cannot be had, CalledProcessError where it fails.
    """
    jars, tool = jars_of(patch), TOOL
    if tuple(map(int, patch.split("."))) >= MOVED:
        jars, tool = _tools_of(patch), f"org.apache.{TOOL}"
    words = [tool, "--cluster-metadata-decoder", *options, "--files", ",".join(files)]
    command = java_command((f"{jars}/*",), words)
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=DUMP_S, check=True
    )
    return done.stdout


def _tools_of(patch: str) -> Path:
    kafka = [Artifact("org.apache.kafka", name, patch) for name in ("kafka-tools", "kafka_2.13")]
    return kept_jars(f"{patch}-tools", patch, (*kafka, Artifact("org.slf4j", "slf4j-nop", SLF4J)))
