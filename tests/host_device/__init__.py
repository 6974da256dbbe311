"""A device of host memory, for tests of everything around a kernel: submissions for it are plain C++, built with
g++.
"""
