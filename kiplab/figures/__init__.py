"""Rows of a run, and pictures, sentences, tables and files made of rows. Computes no Kafka."""
