"""Classes: their members, assignments and grades."""
