"""Readers of the data sets that others publish; the data itself is never part of this project."""
