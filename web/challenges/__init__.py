"""The list of challenges and the page of each."""
