"""Kafka's protocol: values, messages, and one named function per rule.

Nothing here reads a clock, draws a random number, prints, or knows that an engine exists.
"""
