"""The build workers, the device workers and the sweeper, started by ``python -m workers``."""
