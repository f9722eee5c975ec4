"""Rates that no plain sampling would ever see: what is rare is forced, and weighed for it."""
