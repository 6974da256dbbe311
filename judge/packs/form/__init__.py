"""The form of a pack's files: ``challenge.toml``, the signature, the statement."""
