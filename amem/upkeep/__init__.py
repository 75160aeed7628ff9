"""Looking after a memory: forgetting, and what it leaves to do."""
