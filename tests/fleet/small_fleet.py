"""A small study for the kernel itself, short enough for executors that run it as plain Python.

Compiling takes each process half a minute; the plain road takes milliseconds for these blocks, and
comes to the same bits. So a session gets `PLAIN` for its executors.
"""

from kiplab.fleet.fleet_answers.quick_estimate import changed
from kiplab.fleet.parameters.fleet_study import read_study
from kiplab.fleet.pipeline.study_plan import StudyPlan, Workload

PLAIN = {"NUMBA_DISABLE_JIT": "1"}
SETS = ("none", "841", "903", "841+903")
STUDY = changed(
    read_study("small"),
    {
        "crashes_per_year": [20.0, 200.0],
        "slow_alter_partition_share": 0.3,
        "tail_lost": 0.5,
        "horizon_years": 0.25,
    },
)
"""The preset, but with so much going wrong that a few years see it."""


def plan(blocks: int = 12) -> StudyPlan:
    """Two scenarios, `blocks` blocks of each, a dozen replications in a block."""
    loads = tuple(
        Workload(scenario=scenario, block_replications=12, blocks=blocks, years=0.25)
        for scenario in STUDY.scenarios
    )
    return StudyPlan(workloads=loads, feature_sets=SETS, study_seed=7, code="0123abcd")
