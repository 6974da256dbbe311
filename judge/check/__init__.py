"""Deciding whether an output is right: how far it may be off, and where it is."""
