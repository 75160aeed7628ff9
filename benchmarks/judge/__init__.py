"""A language model as the judge of answers: optional, off unless asked for, and judged itself before it is believed."""
