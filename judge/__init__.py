"""The engine: a source, a challenge and a device go in, a judgement comes out. Knows no web, no database, no queue."""

#: The version of the program, here and nowhere else: it runs from a checkout that nobody installed, too.
__version__ = "1.0.0"
