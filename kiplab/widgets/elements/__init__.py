"""The elements that own JavaScript, and the words on every control."""
