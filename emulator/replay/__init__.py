"""Records a program's device calls in its process and replays them in a process without its host code."""
