"""A real cluster by Kafka's own test kit, driven until an acknowledged record is gone."""
