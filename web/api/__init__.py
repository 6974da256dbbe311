"""The JSON API under ``/api/v1``: the same services as the pages, for the command line and other programs."""
