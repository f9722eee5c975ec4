"""Why no real Kafka can be run here, and what mends it."""

from __future__ import annotations


class MissingKafkaError(Exception):
    """Java, a way to fetch Kafka, or Kafka itself is missing.

    `sentence` says what, `mend` what to do about it; the text is both.
    """

    def __init__(self, sentence: str, mend: str) -> None:
        super().__init__(sentence, mend)
        self.sentence = sentence
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.sentence} {self.mend}"
