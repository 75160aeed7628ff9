"""Adapters: one module for each framework, over one table of tools. A framework is imported by its own module only."""
