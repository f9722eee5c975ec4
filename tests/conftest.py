"""One flag for the whole suite: `--rewrite` writes the golden transcripts anew. One profile of
hypothesis: no example is too slow. The order of the files, who runs them, and the last line of a
run.

And the play of KAFKA-14139 as rows: without KIP-903, and with it.
"""

import fcntl
import gc
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, settings

from kiplab.cli.command import main
from kiplab.rows.columns import Rows
from tests.kafka_14139 import rows_on

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SYSTEMS = ("browser", "spark", "java", "kafka")
"""The markers of tests that start whole systems."""
COLLECTED = pytest.StashKey[list[str]]()
"""The ids of all tests, before any is deselected."""
REPETITION = pytest.StashKey[list[tuple[str, str]]]()
"""The ids of tests marked `long`, each with the quick test that its marker names."""
LEFT = pytest.StashKey[int]()

Command = Callable[..., tuple[int, str, str]]
"""From arguments to exit code, standard output and standard error."""

# A JVM of a test lives for seconds: to compile its code thoroughly takes longer than to run it.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# jsonschema would build 38 grammars for addresses, which no notebook has: 3 s in each worker.
sys.modules.setdefault("rfc3987_syntax", cast(Any, None))

# How fast examples are made says how busy the machine is, and nothing of what is tested.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write golden transcripts anew; commit the difference only if you understand it",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: no search for garbage goes through it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Quick files first; those that start whole systems stand at equal distances after them, so
    that the percentage of a progress line is about that of the time.
    """
    config.stash[COLLECTED] = [item.nodeid for item in items]
    config.stash[REPETITION] = [
        (item.nodeid, _quick_test(item.nodeid, marker.kwargs.get("quick", "")))
        for item in items
        if (marker := item.get_closest_marker("long"))
    ]
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    systems = _evenly([p for p, inside in files.items() if any(map(_is_of_a_system, inside))])
    places = {
        path: float(number) for number, path in enumerate(p for p in files if p not in systems)
    }
    first, last = 0.2 * len(places), 0.9 * len(places)
    for number, path in enumerate(systems):
        places[path] = first + (last - first) * number / len(systems)
    items.sort(key=lambda item: places[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """As `--dist loadfile`, but all files with Spark go to one worker: any other one would start a
    JVM and its Python workers once more, which takes 25 s of a processor.
    """
    from xdist.scheduler import LoadFileScheduling

    if config.getvalue("dist") != "loadfile":
        return None
    scheduler = LoadFileScheduling(config, log)
    file_of = scheduler._split_scope

    @cache
    def together(file: str) -> str:
        text = (config.rootpath / file).read_text(encoding="utf-8")
        return "spark" if "mark.spark" in text else file

    scheduler._split_scope = lambda nodeid: together(file_of(nodeid))
    return scheduler


def _quick_test(long: str, named: str) -> str:
    """``::`` begins the name of a test of the same file, and alone is the same test."""
    if named == "::":
        return long.partition("[")[0]
    return long.partition("::")[0] + named if named.startswith("::") else named


def _is_of_a_system(item: pytest.Item) -> bool:
    """Whether a test starts a browser, a JVM or a kernel, compiles code, or reads all of it."""
    places = {"labs", "fleet", "test_lint.py"} & set(item.path.parts)
    return any(map(item.get_closest_marker, SYSTEMS)) or bool(places)


def _evenly(paths: list[Path]) -> list[Path]:
    """The files of each folder at equal distances: two neighbours would compile the same code."""
    sizes, taken = Counter(path.parent for path in paths), Counter[Path]()
    shares = {}
    for path in paths:
        shares[path] = (taken[path.parent] + 0.5) / sizes[path.parent]
        taken[path.parent] += 1
    return sorted(paths, key=lambda path: shares[path])


class Turn:
    """What numba compiles and keeps on disk, one worker at a time: the next one finds it there."""

    def __init__(self) -> None:
        self._file: IO[str] | None = None

    def take(self, compiled: Any) -> None:
        """Let every function of the class `compiled` wait for its turn."""
        at_once = compiled.compile

        def in_turn(function: Any, signature: Any) -> Any:
            if self._file or type(function._cache).__name__ == "NullCache":
                return at_once(function, signature)
            with (Path(tempfile.gettempdir()) / "kiplab-compiles").open("w") as self._file:
                fcntl.flock(self._file, fcntl.LOCK_EX)
                try:
                    return at_once(function, signature)
                finally:
                    self._file = None

        compiled.compile = in_turn


def pytest_collection_finish() -> None:
    """All modules of tests are imported by now."""
    if "numba" in sys.modules:
        from numba.core.dispatcher import Dispatcher

        Turn().take(Dispatcher)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands over how many tests of repetition it left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and session.config.option.markexpr == "not long":
        output["left"] = len(session.config.stash[REPETITION])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker is done: all workers left out the same tests."""
    left = getattr(node, "workeroutput", {}).get("left")
    if left:
        node.config.stash[LEFT] = left


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line says what a quick run left out."""
    left = config.stash.get(LEFT, 0)
    if left:
        print(f"{left} tests that repeat these on more cases are left to `make test-long`.")


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`kiplab`, asked as from a shell."""

    def asked(*arguments: object) -> tuple[int, str, str]:
        code = main([*map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return asked


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    """One Spark session for a whole test module: to start one takes seconds."""
    from kiplab.spark import session

    with session(app="kiplab tests") as live:
        yield live


@pytest.fixture(scope="session")
def lossy() -> Rows:
    return rows_on("kafka-14139", "3.4")


@pytest.fixture(scope="session")
def saved() -> Rows:
    return rows_on("kafka-14139", "3.5")


@pytest.fixture(scope="session")
def two_by_two() -> tuple[Rows, ...]:
    """Neither KIP-841 nor KIP-903, 841 alone, 903 alone, both."""
    return tuple(
        rows_on("kafka-14139", "3.5", *off) for off in (("841", "903"), ("903",), ("841",), ())
    )
