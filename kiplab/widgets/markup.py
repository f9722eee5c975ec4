"""The words around the picture as HTML, escaped: verdict, transcript, notes, a press's result."""

from collections.abc import Callable, Iterator
from html import escape

from ..engine.truth import partition_of
from ..plays import verdict as verdicts
from ..plays.play_errors import PlayError
from ..plays.stage import Performed, Stage
from ..plays.step_story import story_of
from ..plays.transcript import event_lines, number_of
from ..protocol.ids import NO_LEADER, broker_list
from ..rows.columns import MomentRow, plural
from .elements.labelled import words
from .history_tree.branch_tree import Tree
from .history_tree.playback import Playback

INK, MUTED = "var(--jp-ui-font-color1, #1b1f23)", "var(--jp-ui-font-color2, #5b636b)"
LINE, SOFT = "var(--jp-border-color2, #d7dade)", "var(--jp-layout-color2, #f3f4f6)"
_SHIELD = (
    '<svg width="11" height="14" viewBox="-5.5 -7 11 14" style="vertical-align:-2px" aria-hidden>'
    '<path fill="currentcolor" d="M-5.5 1v-5L0-7l5.5 3v5L0 7zm2-2.5v2h7v-2z"/></svg>'
)
"""A guard refused it: the sign that the picture has, in the size of words."""


def glyph(stage: Stage) -> str:
    return verdicts.VERDICT_SIGNS[verdicts.verdict(stage)]


def story_bar(
    playback: Playback, moment: MomentRow, branch: str = "", *, is_end: bool = False
) -> str:
    """What happened at the step where one stands, why it matters, and the verdict so far.

    `moment` is what the axis says of it. `branch` is the name of the branch, if it is not the play.
    After the step that `is_end` nothing happens.
    """
    word, story = verdicts.verdict(playback.here), story_of(playback.here)
    so_far = "" if is_end or word != "safe" else " so far"
    sentence = verdicts.sentence(playback.here).removeprefix("nothing lost yet, but ")
    verdict = f"{glyph(playback.here)} {word}: {sentence}{so_far}"
    label, struck = moment.label, "s" if moment.was_left_out else "span"
    is_new = playback.at and label.casefold() not in story.happened.casefold()
    where = f"Step {playback.at} of {playback.last}" + (f", {label}" if is_new else "")
    where = muted(where + (f" · on {branch}" if branch else ""), struck)
    happened = escape(story.happened).replace("◘", _SHIELD)
    return (
        f'<div class="kiplab-verdict kiplab-{word}" role="status" tabindex="0"><div>'
        f"<p>{where} <b>{happened}</b></p><p>{escape(story.matters)}</p>"
        f'</div><span class="kiplab-chip">{escape(verdict)}</span></div>'
    )


def on_record(playback: Playback, partition: str) -> str:
    """Leader, ISR and the two epochs of a partition; what this step has changed is marked."""
    before = record_of(playback.frames[max(playback.at - 1, 0)].stage, partition)
    now = record_of(playback.here, partition)
    facts = ""
    for name, value in now.items():
        is_new = value != before.get(name, "")
        mark = ' class="kiplab-changed" title="changed by this step"' * is_new
        facts += f"<span><span>{name}</span> <b{mark}>{escape(value)}</b></span>"
    label = escape(f"on record for {partition}", quote=True)
    return f'<div class="kiplab-facts" role="group" aria-label="{label}">{facts}</div>'


def record_of(stage: Stage, partition: str) -> dict[str, str]:
    """Leader, leader epoch, ISR and partition epoch in words, by name, with the ELR and the last
    known leader where there is one; empty for no partition.
    """
    state = partition_of(stage.cluster, partition)
    if state is None:
        return {}
    return {
        "leader": "none" if state.leader == NO_LEADER else str(state.leader),
        "leader epoch": str(state.leader_epoch),
        "ISR": broker_list(state.isr),
        **({"ELR": broker_list(state.elr)} if state.elr else {}),
        **({"last known leader": str(state.last_known[0])} if state.last_known else {}),
        "partition epoch": str(state.partition_epoch),
    }


def transcript(playback: Playback, height: int) -> str:
    """What happened up to where one stands; the box opens at its end, on the current step."""
    here, at = playback.here, playback.at
    groups = "".join(_group(here, moment, at) for moment in range(at + 1))
    left = playback.last - at
    more = f"{plural(left, 'more step')} in this run" if left else "the end of this run"
    # The reversed column keeps the scroll bar at the newest line without any script.
    return (
        f'<div class="kiplab-transcript" data-told role="log" tabindex="0" aria-label="transcript"'
        f' style="height:{height}px;overflow-y:auto;display:flex;flex-direction:column-reverse;'
        f'border:1px solid {LINE};color:{INK};box-sizing:border-box">'
        f'<div style="font:12px/1.45 var(--jp-code-font-family, monospace);margin-bottom:auto">'
        f'{groups}<div style="color:{MUTED};padding:2px 10px 6px">{more}</div></div></div>'
    )


def _group(stage: Stage, moment: int, at: int) -> str:
    start = [] if moment else ['<div data-about="0"><b>0 the start</b></div>']
    here = (p for p in stage.performed if p.moment == moment)
    body = "".join((*start, *(line for performed in here for line in _lines(stage, performed))))
    mark = ' aria-current="step"' if moment == at else ""
    return f'<div{mark} style="{edge(moment == at)};padding:2px 8px 2px 6px">{body}</div>'


def edge(is_here: bool) -> str:
    look = f"background:{SOFT};border-left:4px solid #0072b2"
    return look if is_here else "border-left:4px solid transparent"


def _lines(stage: Stage, performed: Performed) -> Iterator[str]:
    moment, text = performed.moment, escape(" ".join(performed.statement.text.split()))
    number = number_of(stage, performed) if moment else ""
    struck = "b" if performed.not_applicable is None else "s"
    yield f'<div data-about="{moment}"><{struck}>{number} {text}</{struck}></div>'
    for id, line in event_lines(stage, performed):
        yield f'<div class="kiplab-line" data-about="{id}">{escape(line)}</div>'


def note(text: str, *, alarm: bool = False) -> str:
    """A calm sentence; an `alarm` is read aloud at once."""
    if not text:
        return ""
    role, edge = ("alert", INK) if alarm else ("status", "#0072b2")
    return (
        f'<div class="kiplab-note" role="{role}" tabindex="0" style="border-left:5px solid {edge};'
        f'padding:4px 12px;line-height:1.5;color:{INK}">{escape(text)}</div>'
    )


def heading(text: str) -> str:
    return f'<b style="color:{INK};font-size:13px">{escape(text)}</b>'


def muted(text: str, tag: str = "span") -> str:
    look = f"display:inline-block;color:{MUTED};font-size:12px;line-height:1.35"
    return f'<{tag} style="{look}">{escape(text)}</{tag}>'


def beside(title: str, text: str) -> str:
    return (
        f'<div style="line-height:1.4;padding:4px 0 0">{heading(title)}'
        f' <span style="color:{MUTED};font-size:12px">{text}</span></div>'
    )


# --- what became of a press -----------------------------------------------------------------------


def because(problem: PlayError) -> str:
    said, expected = capital(problem.problem), problem.expected
    if expected.endswith("?"):
        return f"{said}. {capital(expected)} Nothing has changed."
    return f"{said}{'; ' if expected else ''}{expected}. Nothing has changed."


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def broken(problem: Exception, token: str) -> str:
    """A mistake of kiplab's own as a sentence; the traceback is in the log."""
    what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
    report = f"Nothing has changed. Please report it with this token: {token}"
    return f"Something went wrong inside kiplab: {what}. {report}"


def forked(before: Tree, after: Tree) -> str:
    """The note about a line that was done: empty if the branch only grew."""
    if after.current == before.current:
        return ""
    playback = before.here.playback
    left = playback.last - playback.at
    steps = "The step" if left == 1 else f"The {left} steps"
    kept = f" {steps} after step {playback.at} are kept on {before.here.name}."
    return f"You are on {after.here.name}.{kept if left else ''} Reset brings you back to the play."


class Answer:
    """`box` holds the sentence."""

    def __init__(self) -> None:
        self.box = words()

    def say(self, text: str) -> None:
        """A calm sentence; an empty one takes the last away."""
        self.box.value = note(text)

    def to(self, action: Callable[[], str]) -> None:
        """Show the message of `action`, or why it cannot be done; nothing has changed then."""
        try:
            self.say(action())
        except PlayError as problem:
            self.box.value = note(because(problem), alarm=True)
