"""The operators' side of the site: what they see, set and keep."""
