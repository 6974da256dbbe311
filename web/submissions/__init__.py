"""Submissions: their acceptance, live progress, report and list."""
