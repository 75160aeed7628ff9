"""Taking a memory elsewhere: all of a box, or of a person, as lines that come back whole, or as pages to read."""
