"""Submissions: accepted, followed live, shown with what came of them, listed."""
