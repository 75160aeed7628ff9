"""A run: what is measured on what, stage by stage, so that a crash loses nothing and a replay gives the same bytes."""
