"""Timing: how often a kernel is called, what is made of the samples, and when a time is not believed."""
