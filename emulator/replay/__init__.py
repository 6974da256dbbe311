"""Records a program's device calls in its process and replays them in a process without its host code."""

from emulator.replay.recorder import Recorder
from emulator.replay.recording import Recording, RecordingError, Transfers
from emulator.replay.replay import Replay

__all__ = ["Recorder", "Recording", "RecordingError", "Replay", "Transfers"]
