"""LangSmith's own client, bounded and quiet, with every error in one line.

The client is imported late: it takes longer to import than guard does to start. It sends at
once and not by a thread behind our back: what could not be sent is known, and nothing is left.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

from guard.plugin import Skip, TargetError
from guard_langsmith.settings import KEY, api_key, endpoint, find_missing, where

if TYPE_CHECKING:
    from requests import Response

    from guard_langsmith.api import Client

#: Milliseconds for a connection, and between two pieces of an answer.
TIMEOUTS: Final = (5_000, 20_000)
#: Characters of what a server says of an error.
SAID: Final = 200


def make_client(errors: list[Exception] | None = None) -> Client:
    """Return a client; what its batches meet is put into ``errors``, which it else keeps quiet of.

    Raises `Skip` where the package or the key is missing.
    """
    missing = find_missing()
    if missing:
        raise Skip(f"langsmith: {missing}")
    from langsmith import Client as Real

    from guard_langsmith.transport import make_retry

    # Without a handler Python prints its warnings on stderr.
    logging.getLogger("langsmith").addHandler(logging.NullHandler())
    client = Real(
        api_url=endpoint(),
        api_key=api_key(),
        retry_config=make_retry(),
        timeout_ms=TIMEOUTS,
        auto_batch_tracing=False,
        tracing_mode="langsmith",
        tracing_sampling_rate=1.0,
        omit_traced_runtime_info=True,
        disable_prompt_cache=True,
        tracing_error_callback=None if errors is None else errors.append,
    )
    return cast("Client", client)


@contextmanager
def open_client() -> Generator[tuple[Client, list[Exception]]]:
    """Give a client and the errors of its batches; close it at the end."""
    errors: list[Exception] = []
    with telling("it can't be used"):
        client = make_client(errors)
    try:
        yield client, errors
    finally:
        client.close(timeout=0)


@contextmanager
def telling(what: str) -> Generator[None]:
    """Turn whatever the client raises inside into a `TargetError` of one line; without warnings.

    An answer that isn't what its API promises makes it raise anything.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (TargetError, Skip):
        raise
    except Exception as error:
        raise TargetError(f"LangSmith ({where()}): {what}: {_told(error)}") from None


def raise_first(errors: list[Exception]) -> None:
    """Raise what a batch met."""
    if errors:
        raise errors[0]


def _told(error: BaseException) -> str:
    """Return why, in words of ours: the client's own show a part of the key."""
    from langsmith.utils import LangSmithConnectionError, LangSmithUserError
    from requests import JSONDecodeError, Timeout, exceptions

    response = _response_of(error)
    if response is not None:
        return without_key(f"{response.status_code} {_said(response)}".rstrip())
    causes = _causes(error)
    if any(isinstance(cause, Timeout) or "timed out" in str(cause) for cause in causes):
        return "no answer in time"
    broken = (
        LangSmithConnectionError,
        exceptions.ConnectionError,
        exceptions.ChunkedEncodingError,
    )
    if any(isinstance(cause, broken) for cause in causes):
        return "it can't be reached, or hangs up"
    if isinstance(error, JSONDecodeError):
        return "the answer is no JSON: is that its API?"
    if isinstance(error, LangSmithUserError):
        return without_key(_one_line(str(error)))
    return without_key(f"{type(error).__name__}: {_one_line(str(error))}")


def _response_of(error: BaseException) -> Response | None:
    """Return the answer behind an error, which the client hides in its causes."""
    from requests import HTTPError

    found = (cause.response for cause in _causes(error) if isinstance(cause, HTTPError))
    return next((response for response in found if response is not None), None)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _said(response: Response) -> str:
    if response.status_code in (401, 403):
        return f"the key in {KEY} is refused"
    return _one_line(response.text) or response.reason or ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:SAID]


def without_key(text: str) -> str:
    """Return text in which the key is blotted out."""
    key = api_key()
    return text.replace(key, f"[redacted {KEY}]") if key else text
