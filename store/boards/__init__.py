"""Scores and what is made of them: boards, ranking, totals, audits."""
