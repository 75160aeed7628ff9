"""A whole run: conversations become notes, questions are asked, and the answers are summed up."""

from __future__ import annotations

import platform
import sqlite3
from contextlib import AsyncExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from amem.embedding import open_embedder
from amem.errors import InputError
from amem.memory import AsyncMemory
from amem.opening import open_rooms

from .ask import Box, Timed
from .options import TUNING, index_settings
from .report import About, Asked, Report, set_report
from .turns import as_notes, session_of, turn_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from amem.embedding import Embedder
    from amem.rooms import Rooms
    from amem.settings import Settings

    from ..datasets.locomo import Conversation, Locomo, Question
    from .options import Options, SetName

    Progress = Callable[[int, int], None]
