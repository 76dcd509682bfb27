"""Generators. Each takes a `random.Random`, so that a seed, or a tool that shrinks cases, can drive it."""
