"""What a student did, and where it is kept."""
