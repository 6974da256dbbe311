"""Times submissions on real devices, where a claimed time needs the supervisor's own clock beside it."""
