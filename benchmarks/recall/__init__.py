"""Does recall find the evidence? Measured without a language model: `amem bench recall`. docs/recall.md explains it."""
