from __future__ import annotations

from pathlib import Path

import pytest

from guard.storage import mounts

LINUX = """\
/dev/vda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb1 /home/me ext4 rw 0 0
//win/share /mnt/my\\040share cifs rw 0 0
me@host:/src /mnt/ssh fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/repo/.git/guard", ""),
        ("/home/you/repo/.git/guard", "nfs4"),
        ("/home/me/repo/.git/guard", ""),
        ("/homestead/repo", ""),
        ("/mnt/my share/repo", "cifs"),
        ("/mnt/ssh/repo", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_counts(
    folder: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = tmp_path / "mounts"
    listing.write_text(LINUX, encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTS", str(listing))
    assert mounts.network_filesystem(folder) == kind


def test_a_local_folder_of_this_machine_is_local(tmp_path: Path) -> None:
    assert mounts.network_filesystem(str(tmp_path), creating=True) == ""


def test_without_proc_only_making_the_store_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "MOUNTS", str(tmp_path / "absent"))
    assert mounts.network_filesystem(str(tmp_path)) == ""
    assert mounts.network_filesystem(str(tmp_path), creating=True) == ""


def test_the_mount_command_of_macos() -> None:
    text = (
        "/dev/disk3s1s1 on / (apfs, sealed, local)\n"
        "//me@nas/My Share on /Volumes/My Share (smbfs, nodev)\n"
        "nonsense\n"
    )
    assert mounts.read_bsd(text) == [("/", "apfs"), ("/Volumes/My Share", "smbfs")]
