"""Challenge packs: what a challenge is, read from a directory, as plain frozen data with a few methods."""
