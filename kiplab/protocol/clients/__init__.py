"""What Kafka's clients do: consumers that read, and notice when a log was cut under them."""
