"""The answers of a study of fleets: rows with intervals, computed on Spark or in this process."""
