"""The jail: everything that a submission had a hand in runs inside it, the compiler included.

``policy`` says what a jail may see and use, ``launch`` starts one, ``probe`` tries each protection for real.
"""
