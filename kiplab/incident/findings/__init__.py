"""What a history shows: one function a rule."""
