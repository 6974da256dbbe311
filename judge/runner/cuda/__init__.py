"""An NVIDIA GPU as a device of the runner, through PyCUDA and the driver's API."""
