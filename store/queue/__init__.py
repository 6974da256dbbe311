"""Submissions as jobs: intake, leases, events, artifacts."""
