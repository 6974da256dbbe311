"""The process inside the jail: it loads the submission, calls it and hands raw bytes back. Nothing that it says is
believed.
"""
