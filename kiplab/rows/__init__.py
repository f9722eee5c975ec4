"""The results of a run, as rows, sentences and tables. No plotly; computes no Kafka."""
