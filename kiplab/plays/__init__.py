"""Plays: runs written down so that they read aloud, and the scenarios as text files."""
