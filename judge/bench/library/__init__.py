"""Runs a library's call on a pack's task, checks it, and measures it by the rules of submissions."""
