"""What frames.py imports: a call while it is imported."""
from __main__ import ask

ask()
