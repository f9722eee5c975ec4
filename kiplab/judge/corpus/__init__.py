"""What real controllers have said, kept and asked again, and what was tried of them by it."""
