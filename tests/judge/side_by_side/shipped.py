"""From the stored answers of real Kafka to the columns that are shipped, by the live path."""

import lzma
from collections.abc import Mapping

import msgspec

from kiplab.engine.cluster import Cluster
from kiplab.judge.side_by_side import deciding, real_run, two_columns
from kiplab.judge.side_by_side.chosen import (
    BOTH,
    JUDGES,
    Chosen,
    chosen,
    live_columns,
    possible_leaders,
)
from kiplab.plays.header import features_of
from kiplab.plays.library import load, names
from kiplab.plays.play import Play, Statement
from kiplab.protocol.features import Features, UnknownFeatureError
from kiplab.protocol.releases import Mode
from tests.judge.side_by_side import stored_answers


def told_plays() -> list[str]:
    """Every play that comes with kiplab, and can be told to a real controller of KRaft's."""
    return [name for name in names() if not has_zookeeper(load(name)) and can_be_told(load(name))]


def has_zookeeper(play: Play) -> bool:
    """Its controller lives on a broker, and asks brokers what KRaft's never asks: what is said of
    it cannot be told to the controllers here, which are KRaft's.
    """
    return features_of(play).mode is Mode.ZOOKEEPER


def can_be_told(play: Play) -> bool:
    """A real controller stays on its release, and no request has the only replica there is elected
    uncleanly.
    """
    return not any(map(_is_untold, play.statements))


def _is_untold(line: Statement) -> bool:
    if line.verb == "upgrade":
        return line.words[:1] in (("controller",), ("all",))
    alone = line.verb == "topic" and line.arg("replicas") == line.arg("isr")
    return alone and line.arg("recovery") == "recovering"


def why_untold(play: Play, features: Features) -> str:
    """The line that no real broker can be told, and why; empty where each can be."""
    return possible_leaders(Chosen(play, features, "", BOTH), asked_for=False).why


def asked_live(name: str, release: str) -> tuple[str, stored_answers.PlayRecording]:
    """What real nodes answer now, and the patch release. Raises as `live_columns` does."""
    what = possible_leaders(chosen(name, release, BOTH), asked_for=False)
    noting = stored_answers.Noting()
    assert live_columns(what, noting.between).agree, f"{name} on {release}: the columns part"
    return what.patch, noting.recording()


def play_columns(name: str, release: str) -> tuple[str, real_run.RecordedPlay]:
    """The patch release, and what is shipped of a play on it."""
    columns, why, patch = {}, "", ""
    for judge in JUDGES:
        try:
            asked = chosen(name, release, judge)
        except UnknownFeatureError:
            # Only leaders are asked for, and that release has none.
            continue
        what = possible_leaders(asked, asked_for=False)
        patch = what.patch
        if what.judge != asked.judge:
            why = what.why
        elif what.judge == judge:
            both = answered(what)
            assert both.agree, f"{name} on {release}, {judge}: the columns part"
            columns[judge] = recorded_column(both)
    return patch, real_run.RecordedPlay(columns, why)


def answered(what: Chosen) -> two_columns.TwoColumns:
    """Both columns, by the live path, of what real nodes have once answered."""
    recording, judges = stored_answers.recordings_of(what.play.name)[what.patch], what.judges

    def nodes(start: Cluster) -> deciding.RealNodes:
        kafka = stored_answers.RecordedKafka(recording) if judges.decides else None
        leaders = stored_answers.RecordedLeaders(recording.leaders, start) if judges.leads else None
        return deciding.RealNodes(kafka, leaders)

    return two_columns.play_in_two_columns(what.play, what.features, nodes)


def recorded_column(both: two_columns.TwoColumns) -> real_run.RecordedColumn:
    """What is shipped of a run of which the columns agree."""
    mine, theirs = both.engine.history.steps, both.kafka.history.steps
    steps = enumerate(zip(mine, theirs, strict=True))
    other = {n: kafka.events for n, (own, kafka) in steps if own.events != kafka.events}
    side = {name: getattr(both, name) for name in two_columns.RealSide.__struct_fields__}
    return real_run.RecordedColumn(**side, moves=len(mine), events=other)


def keep_columns(shipped: Mapping[str, Mapping[str, real_run.RecordedPlay]]) -> None:
    """Write all there are."""
    text = msgspec.json.encode(shipped)
    real_run.RECORDED_COLUMNS.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    real_run.shipped_columns.cache_clear()
