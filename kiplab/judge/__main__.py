"""`python -m kiplab.judge`: judges of ZooKeeper's years. `make judge` runs them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .zookeeper_era import controllers_command, schedules_command
from .zookeeper_server import zookeeper_command

JUDGES = {
    "controllers": controllers_command.main,
    "schedules": schedules_command.main,
    "zookeeper": zookeeper_command.main,
}


def main(arguments: Sequence[str]) -> int:
    """Have the judge of that name judge; the exit code."""
    return JUDGES[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
