"""The instruments of a notebook: ipywidgets around plays, engine and figures."""

from .lab import Lab

__all__ = ["Lab"]
