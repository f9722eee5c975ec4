"""What a run comes to, as rows, sentences and tables. No plotly; computes no Kafka."""
