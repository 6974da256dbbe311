"""Challenge packs: a challenge, read from a directory as frozen data, and the functions that use it."""
