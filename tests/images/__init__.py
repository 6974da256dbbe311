"""Tests that build the images and bring the stack of containers up (``make test-images``)."""
