"""LTI 1.3: launches from learning platforms, and the choice of assignments that a course links to."""
