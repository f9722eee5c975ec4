"""kiplab: break a small Kafka, and see which rule would have saved it."""
