"""How sure a result is, and what it cost."""
