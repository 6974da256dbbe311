"""The gpujudge command. The base install has Typer, Rich and httpx; commands import whatever else they need."""
