"""Live tests are skipped for what a machine lacks, and never for a mistake in our own fetching."""

import pytest

from kiplab.judge.kafka_jars.judged_releases import MissingKafkaError
from tests.judge import kafka_here
from tests.judge.kafka_here import skip_without_kafka

NO_JARS = MissingKafkaError("No jars of Kafka 3.5.2 came.", "Try again.")


@pytest.mark.parametrize(("java", "fetcher"), [(False, "Maven"), (True, None), (False, None)])
def test_without_java_or_a_fetcher_it_is_skipped(
    java: bool, fetcher: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_here, "has_java", lambda: java)
    monkeypatch.setattr(kafka_here, "can_fetch", lambda: fetcher)
    with pytest.raises(pytest.skip.Exception, match="No jars"):
        skip_without_kafka(NO_JARS)


def test_where_both_are_there_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_here, "has_java", lambda: True)
    monkeypatch.setattr(kafka_here, "can_fetch", lambda: "Maven")
    with pytest.raises(MissingKafkaError, match="No jars"):
        skip_without_kafka(NO_JARS)
