"""Help: the documents in ``docs`` as pages, and the API's operations as one."""
