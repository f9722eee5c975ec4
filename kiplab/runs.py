"""Functions that authors import: run a play, look at it, compare two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .engine.events import Event
from .plays import verdict as verdicts
from .plays.header import features_asked_for
from .plays.library import encode, find, load, names
from .plays.play import Play
from .plays.runner import run_play
from .plays.stage import Stage
from .plays.transcript import transcript
from .protocol.guards import GUARDS, Guard

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from .rows.columns import Rows


class Run:
    """One play under one set of features. Nothing about it changes any more."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"loss"`` or ``"harm"``."""
        return verdicts.verdict(self.stage)

    @property
    def sentence(self) -> str:
        """The verdict in words: ``"100 committed records lost"``."""
        return verdicts.sentence(self.stage)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return self.stage.events

    @property
    def refusals(self) -> list[dict[str, Any]]:
        """{"guard", "error", "request", "compared"} per refused request."""
        return verdicts.refused(self.stage)

    @property
    def lost(self) -> list[dict[str, Any]]:
        """{"partition", "first", "last"} per loss; offsets are inclusive."""
        return verdicts.lost(self.stage)

    @property
    def partitions(self) -> list[dict[str, Any]]:
        """Every partition at the end, as the controller knows it."""
        return verdicts.partitions(self.stage)

    @property
    def token(self) -> str:
        """The run in one line; `kiplab play TOKEN` and `kiplab.run(token)` run it again."""
        return encode(self.stage.play, None if self.stage.strict else self.stage.features)

    def text(self, *, every: bool = False) -> str:
        """One line per event; `every` leaves nothing out."""
        return transcript(self.stage, every=every)

    def rows(self) -> Rows:
        """The plain columns that pictures are made of."""
        from .rows.rows_of_stage import rows_of

        return rows_of(self.stage)

    def frames(self) -> dict[str, pd.DataFrame]:
        """The rows as pandas tables, by name. Raises MissingExtraError without pandas."""
        from .rows.rows_of_stage import frames

        return frames(self.rows())

    def timeline(self, **options: Any) -> Figure:
        """The picture; options, and errors, as of `kiplab.figures.timeline.whole_runs.timeline`.

        Raises MissingExtraError without plotly.
        """
        from .figures.timeline.whole_runs import timeline

        return timeline(self.rows(), **options)

    def logs(self, **options: Any) -> Figure:
        """The logs of all replicas side by side where an unclean election parts them.

        Options, and errors, as of `kiplab.figures.timeline.whole_runs.logs`. Raises
        MissingExtraError without plotly.
        """
        from .figures.timeline.whole_runs import logs

        return logs(self.rows(), **options)

    def to_html(
        self,
        *,
        include_plotlyjs: bool | str | None = None,
        fragment: bool = False,
        id: str | None = None,
        **options: Any,
    ) -> str:
        """A page with the picture, its player, the story in sentences and the table of events.

        With `fragment`, picture, player and caption for a place in another page, which loads
        plotly.js above it; `id` tells it from others there and names it in links to a step.
        `include_plotlyjs` is by default True for a page and False for a fragment, and may be
        "directory". `options` are about the picture: `theme`, `width`, `partition`, `fold`,
        `kinds`, `between`, `metrics`. Raises ValueError for another value or an unfit id,
        MissingExtraError without plotly.
        """
        from .pages import page

        whole = not fragment
        script = whole if include_plotlyjs is None else include_plotlyjs
        if whole and id is not None:
            raise ValueError("id names a fragment: add fragment=True, or leave id out")
        if whole:
            return page.page(self.rows(), include_plotlyjs=script, **options)
        return page.fragment(self.rows(), id=id, include_plotlyjs=script, **options)

    def report(self) -> dict[str, Any]:
        """The whole run as plain values: what `kiplab play --json` prints."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "features": self.stage.features.label(),
            "violated": verdicts.violated(self.stage),
            "lost": self.lost,
            "offline": verdicts.offline(self.stage),
            "refused": self.refusals,
            "expectations": verdicts.expectations(self.stage),
            "partitions": self.partitions,
            "events": len(self.events),
            "token": self.token,
        }

    def __repr__(self) -> str:
        features = self.stage.features.label()
        return f"<Run of {self.stage.play.name!r} on Kafka {features}: {self.sentence}>"


def run(
    play: str | Path | Play,
    *,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    elr: int | None = None,
) -> Run:
    """Run a play given by name, file, token, text (lines, or ; between them) or value.

    `kafka` is a release, perhaps with a metadata version (``"3.5/3.4-IV0"``); without it the play
    runs under its own features. `elr` is 1 with eligible leader replicas (KIP-966), 0 without, and
    None as in a new cluster of that release: with them from 4.1 on. `off` and `on` name guards, or
    KIPs for all their refusals and rules; `off` is applied first. Raises PlayError or
    UnknownFeatureError, both readable.
    """
    found, shared = (play, None) if isinstance(play, Play) else find(play)
    features = features_asked_for(found, shared, kafka, _tuple(off), _tuple(on), elr)
    return Run(run_play(found, features))


def twin(one: Run, other: Run, **options: Any) -> Figure:
    """Two runs of one play on one axis, the first difference marked: options, and errors, as of
    `kiplab.figures.timeline.whole_runs.twin`. Raises MissingExtraError without plotly.
    """
    from .figures.timeline.whole_runs import twin as draw

    return draw(one.rows(), other.rows(), **options)


def bounces(**options: Any) -> Figure:
    """The four failures of KIP-380's motivation as small panels, without it and with it: options,
    and errors, as of `kiplab.figures.timeline.bounce_panels.bounce_panels`. Raises
    MissingExtraError without plotly.
    """
    from .figures.timeline.bounce_panels import BOUNCES, OFF, ON, BouncePair, bounce_panels

    pairs = (
        BouncePair(run(name, kafka=OFF).rows(), run(name, kafka=ON).rows(), partition)
        for name, partition in BOUNCES
    )
    return bounce_panels(tuple(pairs), **options)


def ladder(*runs: Run, **options: Any) -> Figure:
    """Two to four runs of one play as small multiples; ◆ marks where each leaves the first.

    Options as of `kiplab.figures.timeline.ladder.ladder`. Raises ValueError for another number of
    runs, or for runs of different plays, MissingExtraError without plotly.
    """
    from .figures.timeline.ladder import ladder as draw

    return draw([run.rows() for run in runs], **options)


def differences(one: Run, other: Run, *, at: int | None = None) -> pd.DataFrame:
    """The differences of two runs at moment `at`; without one, where they part and at the end.

    Columns: moment, where (a partition, a broker, the controller, the run), what, and the two
    runs' values, each under its rules. Raises ValueError for a moment that there is none of,
    MissingExtraError without pandas.
    """
    from .rows.difference import differences_frame

    return differences_frame(one.rows(), other.rows(), at=at)


def all_plays() -> list[Play]:
    """The plays that come with kiplab."""
    return [load(name) for name in names()]


def guards() -> list[Guard]:
    """The guard table, in Kafka's order of checks."""
    return list(GUARDS.values())


def _tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
