"""SHA-256, with or without OpenSSL."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from guard.digests import digest_of, new_sha256


def test_is_sha256() -> None:
    digest = new_sha256()
    digest.update(b"abc")
    assert digest.hexdigest() == hashlib.sha256(b"abc").hexdigest()


def test_parts_are_not_run_together() -> None:
    assert digest_of([b"a", b"bc"]) != digest_of([b"ab", b"c"])
    assert digest_of([b"a", b"bc"]) == digest_of(iter([b"a", b"bc"]))


def test_loads_no_openssl() -> None:
    call = "import sys; from guard.digests import digest_of; digest_of([b'a'])"
    call += "; print('_ssl' in sys.modules or '_hashlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", call], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
