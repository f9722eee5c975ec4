"""Failing runs made short."""
