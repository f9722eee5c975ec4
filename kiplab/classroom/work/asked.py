"""The list of what the labs ask: predictions and exercises, by the ids their answers have."""

from __future__ import annotations

import msgspec

from ..exercises.what_ifs import WAYS, WHAT_IFS, what_if_id

LETTERS_OF_CHOICES = "ABCDEFGH"
"""What choices are called, in the order in which a lab offers them."""


class AskedInLab(msgspec.Struct, frozen=True):
    """One question. `check` is the function of `kiplab` that judges it; a prediction has none.

    A prediction has its question and its choices as the lab has them, for those who look at answers
    without the lab, and the letter of the choice that comes true.
    """

    id: str
    lab: str
    title: str
    check: str = ""
    question: str = ""
    choices: tuple[str, ...] = ()
    right: str = ""

    @property
    def comes_true(self) -> str:
        """The choice that is right; empty for an exercise."""
        return self.choices[LETTERS_OF_CHOICES.index(self.right)] if self.right else ""


ASKED = (
    AskedInLab(
        "start/slow-request",
        "00",
        "Prediction: the slow request",
        question="The request arrives. It names broker 3, which is gone. "
        "What does the controller do?",
        choices=(
            "It accepts: broker 1 leads, and the leader knows who is in sync.",
            "It accepts broker 2, and leaves broker 3 out.",
            "It refuses: the request speaks of a state that is over.",
            "It refuses: broker 1 does not lead any more.",
        ),
        right="C",
    ),
    AskedInLab("start/reading", "00", "Six questions, one figure", "check_reading"),
    AskedInLab("start/accepted", "00", "Get it accepted", "check_accepted"),
    AskedInLab(
        "start/exit-ticket",
        "00",
        "Exit ticket",
        question="No epoch of the partition is compared; KIP-841 is on. "
        "The request names {1, 3, 2}. And now?",
        choices=(
            "It is accepted, as above.",
            "It is refused: broker 3 is fenced.",
        ),
        right="B",
    ),
    AskedInLab(
        "isr/stale-member",
        "01",
        "Prediction: the stale member",
        question="Broker 3 leads without M1. Broker 1 comes back, with M1 on its disk. "
        "What became of M1?",
        choices=(
            "Broker 3 fetches M1 from broker 1: nothing is lost.",
            "M1 was committed, for two copies are enough: Kafka lost committed records.",
            "M1 is thrown away, and Kafka broke no promise: it was never committed.",
            "This cannot happen: a broker that lacks records is never elected.",
        ),
        right="C",
    ),
    AskedInLab("isr/acknowledged", "01", "Told, or committed?", "check_acknowledged"),
    AskedInLab("isr/high-watermark", "01", "The high watermark", "check_high_watermark"),
    AskedInLab("isr/schedules", "01", "The true schedules", "check_schedules"),
    AskedInLab(
        "isr/lose-acknowledged", "01", "Lose what was acknowledged", "check_lose_acknowledged"
    ),
    AskedInLab(
        "isr/exit-ticket",
        "01",
        "Exit ticket",
        question="acks=all, and an ISR of one. Are the records safe?",
        choices=(
            "Yes: acks=all waited for the whole ISR.",
            "No: the whole ISR was one disk.",
        ),
        right="B",
    ),
    AskedInLab(
        "epochs/slow-request",
        "02",
        "Prediction: the slow request on 3.6",
        question="Kafka 3.6, the same steps. Broker 1 leads all the while. "
        "What does the controller answer?",
        choices=(
            "FENCED_LEADER_EPOCH, as before: the ISR changed, so the leader epoch did.",
            "INVALID_UPDATE_VERSION: only the partition epoch has moved.",
            "INELIGIBLE_REPLICA: the request names broker 3, which is fenced.",
            "Nothing is wrong: no leader changed, so the request is taken.",
        ),
        right="B",
    ),
    AskedInLab("epochs/twelve", "02", "Twelve events", "check_epochs"),
    AskedInLab("epochs/fences", "02", "What gives it away?", "check_fences"),
    AskedInLab("epochs/reigns", "02", "Three reigns of one leader", "check_reigns"),
    AskedInLab(
        "epochs/exit-ticket",
        "02",
        "Exit ticket",
        question="3.6 code, metadata version 3.5-IV2. "
        "With which error is the slow request refused?",
        choices=(
            "INVALID_UPDATE_VERSION: the code is 3.6.",
            "FENCED_LEADER_EPOCH: the version is 3.5.",
        ),
        right="B",
    ),
    AskedInLab(
        "conversation/five-faults",
        "03",
        "Prediction: five faults",
        question="All five are wrong at once. What does the controller answer?",
        choices=(
            "All five errors: whoever asks is told all that is wrong.",
            "INELIGIBLE_REPLICA: a broker that is fenced weighs most.",
            "INVALID_UPDATE_VERSION: compare and set, so the version comes first.",
            "STALE_BROKER_EPOCH: before anything else it looks who speaks.",
        ),
        right="D",
    ),
    AskedInLab("conversation/first-rule", "03", "Eight requests", "check_first_rule"),
    AskedInLab("conversation/refusals", "03", "Three refusals, honestly", "check_refusals"),
    AskedInLab(
        "conversation/exit-ticket",
        "03",
        "Exit ticket",
        question="AlterPartition version 1 asks for broker 3, which is fenced. "
        "With which error is it refused?",
        choices=(
            "INELIGIBLE_REPLICA: the rule is the controller's, and the controller is new.",
            "OPERATION_NOT_ATTEMPTED: the leader is old, and would not know the other one.",
        ),
        right="B",
    ),
    AskedInLab(
        "kafka-14139/late-request",
        "04",
        "Prediction: the late request",
        question="The slow request arrives, and broker 2 is alive again. "
        "What does the controller do?",
        choices=(
            (
                "It refuses: fencing broker 2 moved the partition epoch, so the request is out "
                "of date."
            ),
            "It refuses: broker 2 has been fenced since, and KIP-841 keeps it out.",
            "It accepts, and that is fine: broker 2 will copy what it lacks.",
            "It accepts, and committed records can be lost.",
        ),
        right="D",
    ),
    AskedInLab("kafka-14139/window", "04", "How wide is the window?", "check_window"),
    AskedInLab("kafka-14139/two-by-two", "04", "KIP-841 by KIP-903", "check_two_by_two"),
    AskedInLab("kafka-14139/last-replica", "04", "The last replica", "check_last_replica"),
    AskedInLab("kafka-14139/order", "04", "Lose the data yourself", "check_order"),
    AskedInLab(
        "kafka-14139/exit-ticket",
        "04",
        "Exit ticket",
        question="The code is new, the metadata version is old. "
        "Does the late request still do harm?",
        choices=(
            "No: the 3.5 controller checks broker epochs.",
            "Yes: nobody tells it the broker's epoch.",
        ),
        right="B",
    ),
    AskedInLab(
        "fetch/late-fetch",
        "05",
        "Prediction: the late Fetch",
        question="What does broker 1, the leader, make of it?",
        choices=(
            "It asks for broker 2 as epoch 102, and the controller refuses.",
            "It asks for broker 2 as epoch 250, and the controller accepts.",
            "It asks for nobody: broker 2 has been fenced in between.",
            "It asks for nobody: a Fetch does not outlive the process that sent it.",
        ),
        right="B",
    ),
    AskedInLab("fetch/sources", "05", "Four designs, two slow messages", "check_epoch_sources"),
    AskedInLab("fetch/price", "05", "Who pays for a new reign?", "check_bump_price"),
    AskedInLab("fetch/old-fetch", "05", "Lose data by a right number", "check_old_fetch"),
    AskedInLab(
        "fetch/exit-ticket",
        "05",
        "Exit ticket",
        question="The epoch comes from Fetch. Can the empty broker get in?",
        choices=(
            "No: whichever Fetch it is, level and epoch come from the same one.",
            "Yes: level by the one Fetch, and with the epoch of the other.",
        ),
        right="B",
    ),
    AskedInLab(
        "recovery/read-on",
        "06",
        "Prediction: the consumer reads on",
        question="The consumer has read up to offset 20. What does it get?",
        choices=(
            "A refusal, until broker 2 has recovered what it lacks.",
            "Nothing, until there is an offset 21 again.",
            "Offsets 11 to 15, with other records in them than those it has read.",
            "An error that its application has to deal with, whatever its settings.",
        ),
        right="C",
    ),
    AskedInLab("recovery/vanishing", "06", "Which offsets vanish?", "check_vanishing"),
    AskedInLab("recovery/consumers", "06", "Who notices?", "check_what_they_notice"),
    AskedInLab("recovery/businesses", "06", "Three businesses", "check_businesses"),
    AskedInLab("recovery/lose-one", "06", "Lose exactly one", "check_lose_one"),
    AskedInLab(
        "recovery/exit-ticket",
        "06",
        "Exit ticket",
        question="Broker 1 is unfenced, ten records short. Who leads?",
        choices=(
            "Nobody: only an unclean election could make it lead, and they are off.",
            "Broker 2, which has more of the records.",
            "Broker 1, by a clean election, and ten records are gone.",
        ),
        right="C",
    ),
    AskedInLab(
        "bounce/back-again",
        "07",
        "Prediction: back before anybody looks",
        question="The controller looks who is registered. What does it do?",
        choices=(
            "It tells broker 1 what it has to do: broker 1 is registered anew.",
            "It goes through both changes, one after the other: broker 1 gone, broker 1 back.",
            "It finds the same three brokers as before, and does nothing.",
            "It need not do anything: broker 1 reads in ZooKeeper what it leads.",
        ),
        right="C",
    ),
    AskedInLab("bounce/symptoms", "07", "Four symptoms, four messages", "check_symptoms"),
    AskedInLab("bounce/who-objects", "07", "Who objects?", "check_who_objects"),
    AskedInLab("bounce/needed", "07", "Which check does it take?", "check_needed_checks"),
    AskedInLab("bounce/session-ids", "07", "Break the session ids", "check_session_ids"),
    AskedInLab(
        "bounce/exit-ticket",
        "07",
        "Exit ticket",
        question="All run 2.2, and speak as 2.1 did. In how many of the four plays is there harm?",
        choices=(
            "In none: the checks are in the code, and every broker has it.",
            "In all four: without epochs in the requests nobody can compare anything.",
            "In three: what the controller reads in ZooKeeper has a number all the same.",
        ),
        right="C",
    ),
    AskedInLab(
        "heartbeats/stale-leader",
        "08",
        "Prediction: a leader that nobody tells",
        question="Until when does broker 1 tell clients that it leads?",
        choices=(
            "Until ZooKeeper ends its session: that takes some seconds.",
            "Until it looks in ZooKeeper, where it is written who leads.",
            "Until it notices that the controller is silent.",
            "Until the link is back, however long that takes.",
        ),
        right="D",
    ),
    AskedInLab("heartbeats/timeouts", "08", "Two timeouts, one silence", "check_timeouts"),
    AskedInLab(
        "heartbeats/incarnations", "08", "Two processes, one broker id", "check_incarnations"
    ),
    AskedInLab("heartbeats/swapped", "08", "What the text forgot", "check_swapped"),
    AskedInLab("heartbeats/fates", "08", "What became of it?", "check_fates"),
    AskedInLab(
        "heartbeats/exit-ticket",
        "08",
        "Exit ticket",
        question="What becomes of these five records?",
        choices=(
            "Broker 1 refuses them: after 9 seconds of silence it has fenced itself.",
            "Broker 1 takes them, and never says that they are written.",
            "Broker 1 takes them, says that they are written, and they are gone later.",
        ),
        right="B",
    ),
    AskedInLab(
        "explorer/every-order",
        "09",
        "Prediction: every order",
        question="Every order of these events is tried. What does the search answer?",
        choices=(
            "Proved: KIP-841 and KIP-903 have closed the last hole.",
            "Refuted: the disk that is lost had the only copy.",
            "Refuted: a broker gets into the ISR without the record, and no rule is off.",
            "Not finished: there are too many orders to try.",
        ),
        right="C",
    ),
    AskedInLab("explorer/proof", "09", "What does the proof say?", "check_proof"),
    AskedInLab("explorer/missing-guard", "09", "Find the missing rule", "check_missing_guard"),
    AskedInLab("explorer/holes", "09", "Which hole does each close?", "check_holes"),
    AskedInLab("explorer/shorter", "09", "Shorter than yours", "check_shorter"),
    AskedInLab(
        "explorer/exit-ticket",
        "09",
        "Exit ticket",
        question="Brokers 1 and 2 are gone, with their disks whole. What about the record?",
        choices=(
            "It is safe: with acks=all it was never acknowledged without broker 3.",
            "It is safe: the partition waits until broker 1 or 2 is back.",
            "It is lost: broker 3 is elected, cleanly, without it.",
        ),
        right="C",
    ),
    AskedInLab(
        "fleet/what-loses-most",
        "10",
        "Prediction: what loses most",
        question="What loses committed records most often in this fleet?",
        choices=(
            "The race of KAFKA-14139: a stale replica joins the ISR, and leads.",
            "The last replica in sync crashes, and comes back with less.",
            "Something takes all brokers at once.",
            "Nothing: with both KIPs no committed record is lost.",
        ),
        right="C",
    ),
    *(
        AskedInLab(
            what_if_id(letter),
            "10",
            f"What-if {letter}",
            question=f"{letter} · {asked.question}",
            choices=tuple(WAYS.values()),
            right=LETTERS_OF_CHOICES[[*WAYS].index(asked.comes)],
        )
        for letter, asked in WHAT_IFS.items()
    ),
    AskedInLab("fleet/rates", "10", "What a number says", "check_rates"),
    AskedInLab("fleet/safer", "10", "Ten times safer", "check_safer_fleet"),
    AskedInLab(
        "fleet/exit-ticket",
        "10",
        "Exit ticket",
        question="Three replicas. How often are committed records lost now, by whatever cause?",
        choices=(
            "Thousands of times less often: three brokers have to fail at once.",
            "Hardly less often: what takes all brokers takes three of them, too.",
            "Never: one of three copies always survives.",
        ),
        right="B",
    ),
    AskedInLab(
        "hole/late-metadata",
        "11",
        "Prediction: late metadata",
        question="What does broker 1, the leader, do with this metadata?",
        choices=(
            "It skips it: it says nothing that broker 1 does not know.",
            "It takes it over, and still waits for broker 2: nobody has decided that yet.",
            "It takes it over as it is, and no longer knows that it asked for broker 2.",
            "It takes it over, and asks the controller for broker 2 once more.",
        ),
        right="C",
    ),
    AskedInLab("hole/what-saves", "11", "What would have kept the record?", "check_what_saves"),
    AskedInLab("hole/what-closes", "11", "Which rule would close it?", "check_what_closes"),
    AskedInLab("hole/nobody-dies", "11", "Nobody dies", "check_nobody_dies"),
    AskedInLab(
        "hole/exit-ticket",
        "11",
        "Exit ticket",
        question="Kafka 4.1, and the run of the Lab above, in which the metadata is late all the "
        "same. And now?",
        choices=(
            "Nothing is lost: the hole is closed.",
            "The record is lost: the hole is hidden.",
        ),
        right="B",
    ),
)
"""In the order of the labs."""
