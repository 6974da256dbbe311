"""Tracks: challenges in an order that teaches, each with a goal that the profile of a kernel must show."""
