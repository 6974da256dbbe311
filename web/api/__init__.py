"""The JSON API under ``/api/v1``, for the command line and other programs. Uses the same services as the pages."""
