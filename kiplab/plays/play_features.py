"""Which rules a play is to run under: its own, those it was shared under, or others."""

from __future__ import annotations

from ..protocol.features import Features, fitting, parse_features, switched
from .header import features_of
from .play import Play


def features_asked_for(
    play: Play,
    shared: Features | None,
    kafka: str | None,
    off: tuple[str, ...],
    on: tuple[str, ...],
) -> Features | None:
    """The features asked for, None for the play's own."""
    if kafka is not None:
        return parse_features(kafka, off=off, on=on)
    if not off and not on:
        return shared
    features = features_of(play) if shared is None else shared
    for name in off:
        features = switched(features, name, False)
    for name in on:
        features = switched(features, name, True)
    return fitting(features)
