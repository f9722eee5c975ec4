"""What this machine has and lacks: Java, a cache folder, and the one way to say that something is
missing.
"""
