"""Generated data sets in the formats of LoCoMo and DialSim, of any length, whose answers are known by construction."""
