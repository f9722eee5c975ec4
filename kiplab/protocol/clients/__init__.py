"""Kafka's clients: producers, and consumers that detect a truncated log."""
