"""The jail. Submissions run inside it, and so does the compiler that reads them.

``policy`` says what a jail may see and use, ``launch`` starts one, ``probe`` tests each protection on this machine.
"""
