"""The verbs of a memory that are not the main way of a note: looking, changing, keeping, taking elsewhere."""
