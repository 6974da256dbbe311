"""The inputs of cases: how they are described, drawn and stored."""
