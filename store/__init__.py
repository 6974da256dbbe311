"""The database: settings, models, job leases, leaderboards. The rows are the truth; the broker is only a doorbell."""
