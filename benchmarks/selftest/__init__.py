"""Do the metrics give the published numbers? `amem bench selftest`."""
