"""Packs found, loaded, reloaded, archived and begun."""
