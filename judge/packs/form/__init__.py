"""What a pack's files say: ``challenge.toml``, the signature, the statement."""
