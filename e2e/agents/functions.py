"""Tools for programs that have none of their own."""

from pathlib import Path


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: The file.
    """
    return Path(path).read_bytes().decode(errors="replace")


def write_file(path: str, text: str) -> str:
    """Writes a file.

    Args:
        path: The file.
        text: What is to stand in it.
    """
    Path(path).write_bytes(text.encode())
    return "written"


def edit_file(path: str, old: str, new: str) -> str:
    """Replaces a text in a file.

    Args:
        path: The file.
        old: The text.
        new: What is to stand in its place.
    """
    text = read_file(path)
    if text.count(old) != 1:
        raise ValueError(f"the text stands {text.count(old)} times in {path}")
    return write_file(path, text.replace(old, new))
