"""The website and its API: they take submissions in and show results, and run none of them."""
