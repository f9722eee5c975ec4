"""A lab for otter-grader and for nbgrader: what is asked, its right answer, its points."""
