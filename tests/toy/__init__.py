"""A kind of device and a language that the judge does not know: each is one file here and its registration."""
