"""Ingest: notes are built, linked and evolved."""
