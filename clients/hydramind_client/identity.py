"""Who this process says it is."""

from __future__ import annotations

import os
import uuid

from hydramind import local
from hydramind_client.model import Actor


def default_actor() -> Actor:
    """The Python client of this process, in a session of its own."""
    return Actor("hydramind-python", local.version(), os.getpid(), uuid.uuid4().hex)
