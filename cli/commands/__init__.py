"""The commands: those for a server, those that judge in this process, and those for operators."""
