"""What an answer, or what was found for it, is worth. docs/benchmarks.md explains each measure."""
