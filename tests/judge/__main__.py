"""`python -m tests.judge NAME`: every judge by its name."""

import sys

from tests.judge.acceptance.acceptance_judge import AcceptanceJudge
from tests.judge.kraft.kraft_judge import KraftJudge
from tests.judge.partition.partition_judge import PartitionJudge
from tests.judge.skeleton import command, judging
from tests.judge.zookeeper.controller_judges import ControllersJudge, SchedulesJudge
from tests.judge.zookeeper_server.script_judge import ScriptJudge

JUDGES: dict[str, judging.Judge] = {
    judge.name: judge
    for judge in (
        KraftJudge(),
        PartitionJudge(),
        AcceptanceJudge(),
        ControllersJudge(),
        SchedulesJudge(),
        ScriptJudge(),
    )
}

if __name__ == "__main__":
    sys.exit(command.main(JUDGES))
