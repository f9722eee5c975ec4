"""The list of what the labs ask: predictions and exercises, by the ids their answers have."""

from __future__ import annotations

import msgspec


class AskedInLab(msgspec.Struct, frozen=True):
    """One question. `check` is the function of `kiplab` that judges it; a prediction has none."""

    id: str
    lab: str
    title: str
    check: str = ""


ASKED = (
    AskedInLab("start/slow-request", "00", "Prediction: the slow request"),
    AskedInLab("start/reading", "00", "Six questions, one figure", "check_reading"),
    AskedInLab("start/accepted", "00", "Get it accepted", "check_accepted"),
    AskedInLab("start/exit-ticket", "00", "Exit ticket"),
    AskedInLab("isr/stale-member", "01", "Prediction: the stale member"),
    AskedInLab("isr/acknowledged", "01", "Told, or committed?", "check_acknowledged"),
    AskedInLab("isr/high-watermark", "01", "The high watermark", "check_high_watermark"),
    AskedInLab("isr/schedules", "01", "The true schedules", "check_schedules"),
    AskedInLab(
        "isr/lose-acknowledged", "01", "Lose what was acknowledged", "check_lose_acknowledged"
    ),
    AskedInLab("isr/exit-ticket", "01", "Exit ticket"),
    AskedInLab("epochs/slow-request", "02", "Prediction: the slow request on 3.6"),
    AskedInLab("epochs/twelve", "02", "Twelve events", "check_epochs"),
    AskedInLab("epochs/fences", "02", "What gives it away?", "check_fences"),
    AskedInLab("epochs/reigns", "02", "Three reigns of one leader", "check_reigns"),
    AskedInLab("epochs/exit-ticket", "02", "Exit ticket"),
    AskedInLab("kafka-14139/late-request", "04", "Prediction: the late request"),
    AskedInLab("kafka-14139/window", "04", "How wide is the window?", "check_window"),
    AskedInLab("kafka-14139/two-by-two", "04", "KIP-841 by KIP-903", "check_two_by_two"),
    AskedInLab("kafka-14139/last-replica", "04", "The last replica", "check_last_replica"),
    AskedInLab("kafka-14139/order", "04", "Lose the data yourself", "check_order"),
    AskedInLab("kafka-14139/exit-ticket", "04", "Exit ticket"),
    AskedInLab("explorer/every-order", "09", "Prediction: every order"),
    AskedInLab("explorer/proof", "09", "What does the proof say?", "check_proof"),
    AskedInLab("explorer/missing-guard", "09", "Find the missing rule", "check_missing_guard"),
    AskedInLab("explorer/holes", "09", "Which hole does each close?", "check_holes"),
    AskedInLab("explorer/shorter", "09", "Shorter than yours", "check_shorter"),
    AskedInLab("explorer/exit-ticket", "09", "Exit ticket"),
)
"""In the order of the labs."""
