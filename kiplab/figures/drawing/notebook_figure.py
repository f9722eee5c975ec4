"""A plotly figure that shows itself as kiplab wants it in a notebook."""

from typing import Any

import plotly.graph_objects as go

from .still_picture import described, mimebundle


class Picture(go.Figure):  # type: ignore[misc]  # plotly has no annotations
    """A plotly Figure in all but how a cell shows it: see `still_picture.mimebundle`."""

    # IPython asks for this first, and plotly's own goes around the bundle.
    _ipython_display_ = None

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The figure, a still image with words, and words."""
        return mimebundle(self)

    def __repr__(self) -> str:
        return f"<Picture: {described(self.to_plotly_json())}>"
