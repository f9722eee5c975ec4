"""How a release of Kafka writes its messages and its metadata log, by the schemas in its jars."""
