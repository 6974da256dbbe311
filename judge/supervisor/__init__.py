"""Runs submissions in jailed runners from the trusted side: sends cases, keeps the clock and the limits, decides."""
