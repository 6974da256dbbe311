"""What operators see, set and keep."""
