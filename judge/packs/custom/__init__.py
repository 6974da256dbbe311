"""Cases that users make of their own inputs."""
