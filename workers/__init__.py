"""The processes that judge: build workers, device workers, and the sweeper. Started by ``python -m workers``."""
