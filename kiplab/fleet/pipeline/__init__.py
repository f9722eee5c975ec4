"""Studies of whole fleets: scenarios in blocks of replications, on Spark, kept in a folder.

A block is a function from FleetOrder to Partials. They depend on the order alone, so the integers
are the same for any number of cores, partitions and waves, and a study that was killed goes on
where it was.
"""

from .study_folder import StudyFolderError as StudyFolderError
from .study_folder import StudyNotKeptError as StudyNotKeptError
from .study_folder import partials_in as partials_in
from .study_plan import FleetOrder as FleetOrder
from .study_plan import Partial as Partial
from .study_plan import StudyPlan as StudyPlan
from .study_plan import Workload as Workload
from .study_plan import code_version as code_version
from .study_run import RunProgress as RunProgress
from .study_run import StudyOutcome as StudyOutcome
from .study_run import run_study as run_study
from .study_summary import summarise as summarise
