"""The messages and the metadata log of a Kafka release, written by the schemas in its jars."""
