"""Solutions of challenges: reference steps, and what users published."""
