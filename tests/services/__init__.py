"""What tests need from the machine: found running, or started from an installed binary for one test session."""
