"""The work of a class: read from a folder, counted, and shown as a table, a picture and a page."""
