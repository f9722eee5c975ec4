"""Studies of whole fleets: scenarios in blocks of replications, on Spark, kept in a folder.

A block is a function from FleetOrder to Partials. They depend on the order alone, so the integers
are the same for any number of cores, partitions and waves, and a study that was killed goes on
where it was.
"""
