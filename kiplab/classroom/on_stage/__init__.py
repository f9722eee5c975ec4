"""What a lecturer shows: pictures, slides and cards of the labs, and a gallery."""
