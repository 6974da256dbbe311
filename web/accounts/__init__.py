"""User accounts: sign-up, log-in, log-out, passwords and API tokens."""
