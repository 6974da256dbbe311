"""A device of host memory, for tests of everything around a kernel.

Submissions for it are plain C++, built with g++.
"""
