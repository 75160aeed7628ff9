"""Who answers from what a system found: the same reader, prompt, budget and length for every system of a table."""
