"""Other people's memories, each in an environment of its own, asked over a pipe; their code is used as it is."""
