"""The kinds of device that can judge, a folder each. ``judge.kinds`` registers them, ``registry`` looks them up."""
