"""Every log line that a play shows, and every metric, with the releases that have them.

The file of the lines begins with plays that show them all; `pytest --rewrite` of this file writes
it. Numbers are written as #.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import kiplab
from kiplab.plays.library import names
from kiplab.protocol.releases import RELEASES
from tests.made_pages import holds_as_made, span

FILE = Path(__file__).parent / "log_lines.txt"
TEST = "tests/rows/test_log_lines_by_release.py"
Logged = set[tuple[str, str]]
"""Lines and metrics, each with a release that has it."""


def logged(play: str) -> Logged:
    """What a play shows, in all releases."""
    lines: Logged = set()
    for release in RELEASES:
        for event in kiplab.run(play, kafka=release).rows().events:
            lines |= {(_without_numbers(line), release) for line in event.log.split("\n") if line}
    return lines


def metrics() -> Logged:
    """What brokers and controllers report, in all releases."""
    return {
        (f"metric of {_without_numbers(row.node)}: {row.metric}", release)
        for release in RELEASES
        for row in kiplab.run("last-replica", kafka=release).rows().metrics
    }


def _without_numbers(line: str) -> str:
    return re.sub(r"#(?:, ?#)+", "#", re.sub(r"\d+", "#", line))


def covering(shown: dict[str, Logged]) -> list[str]:
    """Few plays that show all that these plays show."""
    left, chosen = set().union(*shown.values()), []
    while left:
        chosen.append(max(shown, key=lambda play: len(shown[play] & left)))
        left -= shown[chosen[-1]]
    return sorted(chosen)


def page(plays: Iterable[str], lines: Logged) -> str:
    lines = lines | metrics()
    rows = [
        f"{text}   [{span([name for name in RELEASES if (text, name) in lines])}]"
        for text in sorted({text for text, _ in lines})
    ]
    return "\n".join([f"plays: {', '.join(plays)}", *rows, ""])


def test_every_release_logs_what_is_written_down() -> None:
    plays = FILE.read_text(encoding="utf-8").partition("\n")[0].removeprefix("plays: ").split(", ")
    holds_as_made(FILE, page(plays, set().union(*map(logged, plays))), TEST, rewrite=False)


@pytest.mark.long(quick=f"{TEST}::test_every_release_logs_what_is_written_down")
def test_no_play_shows_other_lines(rewrite: bool) -> None:
    shown = {play: logged(play) for play in names()}
    made = page(covering(shown), set().union(*shown.values()))
    holds_as_made(FILE, made, TEST, rewrite=rewrite)
