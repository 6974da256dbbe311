"""The trusted side of the frames: feeds cases, holds the clock and the limits, and decides."""
