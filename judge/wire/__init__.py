"""All that crosses the jail's wall: frames, messages, recipes, digests, and the language of system call filters.

The ground floor: both sides import it, and it imports nothing of the judge and nothing but the standard library, since
submissions share the runner's process.
"""
