"""The language model boundary: one protocol, one live client, one recorded double."""
