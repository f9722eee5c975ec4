"""The labs without a server: everything that they load, in one folder."""
