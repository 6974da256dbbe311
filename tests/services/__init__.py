"""Services for tests: found running, or started from an installed binary for one test session."""
