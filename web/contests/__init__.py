"""Contests: their list, pages, standings, and the form that makes and changes them."""
