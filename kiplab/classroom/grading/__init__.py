"""`kiplab grade`: every submission judged again, in a process of its own with limits."""
