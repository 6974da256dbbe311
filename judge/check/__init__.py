"""Decides whether an output is right: the error allowed for each element, the comparison, and the report."""
