"""Measures how long a submission's ``solve`` takes, and decides whether a measured time can be trusted."""
