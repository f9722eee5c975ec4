"""Kafka's own kafka.cluster.Partition beside the engine's broker: to both happens the same."""
