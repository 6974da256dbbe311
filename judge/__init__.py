"""The engine: a source, a challenge and a device go in, a judgement comes out. Knows no web, no database, no queue."""
