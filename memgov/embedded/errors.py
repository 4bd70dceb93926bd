"""Why a start can fail.  Each message is one line that says what to do; nothing else lives here."""

from __future__ import annotations


class StartError(Exception):
    """The servers cannot be started; the message is shown to a person as it stands."""

    exit_code = 1


class AlreadyRunning(StartError):
    """The data directory is in use by a living process."""

    exit_code = 3
