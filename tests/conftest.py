"""Hypothesis without deadlines, as the machine may be busy; the same examples in every CI run."""

import os

from hypothesis import settings

settings.register_profile("streambound", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("streambound")
