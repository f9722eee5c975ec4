"""The release of Kafka that is run for a release of the engine, and the source of its jars."""
