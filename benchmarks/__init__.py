"""Benchmarks: data sets, and what is measured on them. Shipped as `amem._benchmarks`."""
