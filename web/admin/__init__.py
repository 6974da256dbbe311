"""The operators' pages. For everybody else there is nothing at their addresses."""
