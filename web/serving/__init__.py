"""The programs that serve the site."""
