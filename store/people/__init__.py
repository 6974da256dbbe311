"""Accounts and how they sign in."""
