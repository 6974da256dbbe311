"""The gpujudge command. The base install has Typer, Rich and httpx; commands import further packages lazily."""
