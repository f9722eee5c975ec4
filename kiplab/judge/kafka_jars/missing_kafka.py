"""Why no real Kafka can be run here, and what mends it."""

from ...machine import LackingError


class MissingKafkaError(LackingError):
    """Java, a way to fetch Kafka, or Kafka itself is missing."""


class UnpublishedReleaseError(MissingKafkaError):
    """Whoever publishes Kafka's jars was asked, and has no such release."""
