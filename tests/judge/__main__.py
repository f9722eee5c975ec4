"""`python -m tests.judge NAME`: every judge by its name."""

from __future__ import annotations

import sys

from tests.judge.skeleton import command
from tests.judge.skeleton.judging import Judge

JUDGES: dict[str, Judge] = {}
"""Each judge says of itself what `tests/judge/skeleton/judging.py` asks for."""

if __name__ == "__main__":
    sys.exit(command.main(JUDGES))
