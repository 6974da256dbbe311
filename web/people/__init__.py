"""The pages on people: the ranking over all boards, and each user's public page."""
