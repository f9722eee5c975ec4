"""Pictures of a study's results, each with its sentence and its table."""

from .answer_pictures import delay_map as delay_map
from .answer_pictures import forest as forest
from .answer_pictures import incident_sizes as incident_sizes
from .answer_pictures import losses_by_cause as losses_by_cause
from .answer_pictures import pictures_of as pictures_of
from .answer_pictures import rates_by_reboots as rates_by_reboots
from .answer_pictures import survival as survival
from .answer_pictures import tornado as tornado
