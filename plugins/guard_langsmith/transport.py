"""How often, and how long, LangSmith is asked again. Imports urllib3: import it late."""

from __future__ import annotations

from typing import Final

from urllib3 import BaseHTTPResponse
from urllib3.util import Retry

#: Answers that may be another one a moment later.
PASSING: Final = (408, 425, 429, 500, 502, 503, 504)
#: Seconds that a server may ask to wait before the next try; more is not waited for.
LONGEST_PAUSE: Final = 10.0
#: Seconds before the second retry, where a server asks for none; twice as many before the next.
PAUSE: Final = 0.4


class BoundedRetry(Retry):
    """Tries again a few times; a server doesn't say for how long."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Return the seconds that a server asks to wait, or the most that is granted."""
        asked = super().get_retry_after(response)
        return None if asked is None else min(asked, LONGEST_PAUSE)


def make_retry() -> Retry:
    """Return the policy of one request. What is written has an id: twice is once."""
    return BoundedRetry(
        total=3,
        connect=1,
        read=1,
        status=3,
        backoff_factor=PAUSE / 2,
        status_forcelist=PASSING,
        allowed_methods=None,
        raise_on_status=False,
        raise_on_redirect=False,
    )
