"""The commands, by what they talk to: a server, the judge in this process, or the machine that runs a server."""
