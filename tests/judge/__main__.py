"""`python -m tests.judge NAME`: every judge by its name."""

from __future__ import annotations

import sys

from tests.judge.acceptance.acceptance_judge import AcceptanceJudge
from tests.judge.kraft.kraft_judge import KraftJudge
from tests.judge.partition.partition_judge import PartitionJudge
from tests.judge.skeleton import command
from tests.judge.skeleton.judging import Judge

JUDGES: dict[str, Judge] = {
    judge.name: judge for judge in (KraftJudge(), PartitionJudge(), AcceptanceJudge())
}

if __name__ == "__main__":
    sys.exit(command.main(JUDGES))
