"""Taking over what another memory holds: each format is read into `Foreign` values, and all come in the same way."""
