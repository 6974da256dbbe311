"""What a program asked of the device, recorded in its process, and done again in one that has none of its host code."""

from emulator.replay.recorder import Recorder
from emulator.replay.recording import Recording, RecordingError, Transfers
from emulator.replay.replay import Replay

__all__ = ["Recorder", "Recording", "RecordingError", "Replay", "Transfers"]
