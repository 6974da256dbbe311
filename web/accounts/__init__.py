"""Sign-up, log-in, log-out, passwords, API tokens."""
