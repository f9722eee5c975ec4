"""Shortening of failing runs."""
