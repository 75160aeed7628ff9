"""Recall: arms, fusion, expansion, packing."""
