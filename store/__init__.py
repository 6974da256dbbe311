"""The database: settings, models, job leases, leaderboards.

The rows are the source of truth; the broker only wakes workers.
"""
