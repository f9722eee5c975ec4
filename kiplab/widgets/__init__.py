"""The instruments of a notebook: ipywidgets around plays, engine and figures."""

from .fleet_lab.lab_of_fleets import FleetLab
from .lab import Lab

__all__ = ["FleetLab", "Lab"]
