"""Studies of whole fleets: scenarios in blocks of replications, on Spark, kept in a folder.

A block is a function from FleetOrder to Partials. They depend on the order alone, so the integers
are the same for any number of cores, partitions and waves, and a study that was killed goes on
where it was.
"""

from .code_version import code_version as code_version
from .folder_errors import StudyFolderError as StudyFolderError
from .folder_errors import StudyNotKeptError as StudyNotKeptError
from .run_progress import RunProgress as RunProgress
from .study_folder import partials_in as partials_in
from .study_plan import StudyPlan as StudyPlan
from .study_plan import Workload as Workload
from .study_run import StudyOutcome as StudyOutcome
from .study_run import run_study as run_study
from .study_summary import SummaryRow as SummaryRow
from .study_summary import summarise as summarise
from .work_orders import FleetOrder as FleetOrder
from .work_orders import Partial as Partial
