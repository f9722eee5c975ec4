"""Which release of Kafka is run for a release of the engine, and where its jars come from."""
