"""What a case lets go wrong while its agent runs: locks held, statements at a time or a state.

One that never came is no test of anything: the trial is an ERROR.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from guard.plugin import TargetError
from guard_postgres.connections import told

if TYPE_CHECKING:
    from psycopg import Connection

    from guard_postgres.connections import Login
    from guard_postgres.given import Fault

#: How often the state is looked at that a fault waits for, in seconds.
LOOK: Final = 0.01
#: Seconds that a fault gets to end.
END: Final = 15.0

Open = Callable[[], "Connection[tuple[Any, ...]]"]


class Faults:
    """The faults of one trial; used once."""

    def __init__(self, faults: Sequence[Fault], login: Login, open_connection: Open) -> None:
        self._faults = faults
        self._login = login
        self._open = open_connection
        self._held: list[Connection[tuple[Any, ...]]] = []
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        self._wrong: list[str] = []

    def begin(self) -> None:
        """Do what comes before the agent starts, and wait for the rest. Raises `TargetError`."""
        import psycopg

        for fault in self._faults:
            try:
                self._begin(fault)
            except psycopg.Error as error:
                said = told(error, self._login)
                raise TargetError(f"the fault `{fault.label}` fails: {said}") from error

    def end(self) -> None:
        """Let go of all that is held. Raises `TargetError` where one failed or never came."""
        self._over.set()
        for thread in self._threads:
            thread.join(END)
        for connection in self._held:
            with suppress(Exception):
                connection.close()
        self._held.clear()
        wrong, self._wrong = self._wrong, []
        if wrong:
            raise TargetError(wrong[0])

    def _begin(self, fault: Fault) -> None:
        connection = self._open()
        self._held.append(connection)
        if fault.hold:
            connection.execute("begin")
        if fault.after is None and not fault.when:
            connection.execute(fault.sql.encode())
            if not fault.hold:
                connection.close()
            elif fault.seconds is not None:
                self._later(self._release, fault, connection)
        else:
            self._later(self._strike, fault, connection)

    def _later(
        self,
        function: Callable[[Fault, Connection[tuple[Any, ...]]], None],
        fault: Fault,
        connection: Connection[tuple[Any, ...]],
    ) -> None:
        arguments = (fault, connection)
        thread = threading.Thread(target=function, args=arguments, daemon=True, name="fault")
        self._threads.append(thread)
        thread.start()

    def _release(self, fault: Fault, connection: Connection[tuple[Any, ...]]) -> None:
        self._over.wait(fault.seconds)
        with suppress(Exception):
            connection.close()

    def _strike(self, fault: Fault, connection: Connection[tuple[Any, ...]]) -> None:
        try:
            if self._comes(fault, connection):
                connection.execute(fault.sql.encode())
            else:
                self._wrong.append(f"the fault `{fault.label}` never came: the agent ended before")
        except Exception as error:  # told where it is waited for
            self._wrong.append(f"the fault `{fault.label}` fails: {told(error, self._login)}")

    def _comes(self, fault: Fault, connection: Connection[tuple[Any, ...]]) -> bool:
        """Wait until it is time; tell whether that came before the agent ended."""
        if fault.after is not None:
            return not self._over.wait(fault.after)
        while True:
            over = self._over.is_set()
            found = connection.execute(fault.when.encode()).fetchone()
            if found and found[0]:
                return not over
            if over:
                return False
            self._over.wait(LOOK)
