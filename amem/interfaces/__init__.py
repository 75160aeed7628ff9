"""Doors to amem: the command line."""
