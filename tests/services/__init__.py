"""What tests need from the machine: found running, or started from an installed binary for the length of the session."""
