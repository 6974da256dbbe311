"""The process inside the jail: loads the submission, calls it and returns raw bytes. Nobody trusts what it says."""
