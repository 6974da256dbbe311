"""Backups of the database in one file, and their restoration: ``files`` chooses by the kind of database."""
