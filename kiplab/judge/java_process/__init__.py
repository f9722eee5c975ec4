"""A Java process of the judge's: started with a release's jars, told things, and always ended."""
