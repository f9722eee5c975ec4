"""Live tests are skipped for what a machine lacks, and never for a mistake in our own fetching."""

import pytest

from kiplab.judge.kafka_jars import jar_cache, judged_releases
from tests.judge import kafka_here


@pytest.mark.parametrize(
    ("java", "fetcher", "outcome"),
    [
        (False, "Maven", pytest.skip.Exception),
        (True, None, pytest.skip.Exception),
        (False, None, pytest.skip.Exception),
        (True, "Maven", judged_releases.MissingKafkaError),
    ],
)
def test_without_java_or_a_fetcher_it_is_skipped_and_else_it_fails(
    java: bool,
    fetcher: str | None,
    outcome: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kafka_here, "has_java", lambda: java)
    monkeypatch.setattr(jar_cache, "can_fetch", lambda: fetcher)
    with pytest.raises(outcome, match="No jars"), kafka_here.real_kafka():
        raise judged_releases.MissingKafkaError("No jars of Kafka 3.5.2 came.", "Try again.")
