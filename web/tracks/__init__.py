"""The pages of tracks: challenges in an order that teaches, with lessons."""
