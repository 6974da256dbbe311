"""Runs the lease keeper: ``python -m workers.lease_keeper_process``. Only ``LeaseKeeper`` starts it."""

from store.start import importing

with importing():
    from workers.lease_keeper import main

main()
