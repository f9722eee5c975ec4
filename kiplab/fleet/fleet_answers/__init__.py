"""What a study of fleets comes to: rows with intervals, worked out on Spark or in this process."""
