"""The agent's layers over the notes: what is said now, recent turns, facts that change, episodes to learn from."""
