from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The same examples in every run of the continuous integration; new ones on a developer's machine.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
