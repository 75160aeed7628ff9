"""Files by their names, from a folder or a zip; the zip may be compressed with Deflate64, which Python cannot read."""

from __future__ import annotations

import struct
import zipfile
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from amem.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

DEFLATE64 = 9
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_CHUNK = 1 << 20


class Files(Protocol):
    """Files, each by its name without folders."""

    def names(self) -> list[str]:
        """Return their names, sorted."""

    def read(self, name: str) -> bytes:
        """Return the bytes of one.

        Raises:
            InputError: it cannot be read.
        """


class Folder:
    """The files of a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        """Return their names, sorted."""
        return sorted(entry.name for entry in self._path.iterdir() if entry.is_file())

    def read(self, name: str) -> bytes:
        """Return the bytes of one.

        Raises:
            InputError: it cannot be read.
        """
        try:
            return (self._path / name).read_bytes()
        except OSError as error:
            raise InputError(f"{self._path / name} cannot be read: {error.strerror or error}") from error


class Zip:
    """The files in a zip, in whatever folders.

    Raises:
        InputError: it is no zip.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._infos: dict[str, list[zipfile.ZipInfo]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir()]
        except (OSError, zipfile.BadZipFile, ValueError, RuntimeError) as error:
            raise InputError(f"{path} cannot be read as a zip: {error}") from error
        for info in infos:
            self._infos.setdefault(info.filename.rpartition("/")[2], []).append(info)

    def names(self) -> list[str]:
        """Return their names, sorted."""
        return sorted(self._infos)

    def read(self, name: str) -> bytes:
        """Return the bytes of one.

        Raises:
            InputError: it cannot be read.
        """
        info, *more = self._infos[name]
        if more:
            raise InputError(f"{self._path} has {info.filename} and {more[0].filename}; unpack it, and choose one")
        inflater = _inflater(self._path) if info.compress_type == DEFLATE64 else None
        try:
            if inflater is not None:
                return self._inflated(info, inflater)
            with zipfile.ZipFile(self._path) as archive:
                return archive.read(info)
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, ValueError, RuntimeError) as error:
            raise InputError(f"{self._path}: {info.filename} cannot be read: {error}") from error

    def _inflated(self, info: zipfile.ZipInfo, inflater: Any) -> bytes:
        if info.flag_bits & 1:
            raise zipfile.BadZipFile("it is encrypted")
        with self._path.open("rb") as file:
            _to_data(file, info)
            data = b"".join(_deflate64(file, info, inflater))
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("its check sum is another")
        return data


def _to_data(file: IO[bytes], info: zipfile.ZipInfo) -> None:
    """Go to where a file's compressed bytes begin."""
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("its header is missing")
    *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)


def _inflater(path: Path) -> Any:
    try:
        return import_module("inflate64").Inflater()
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} is compressed with Deflate64, and inflate64 is not installed. Nothing was read;"
            " `pip install 'amem[bench]'`, or unpack the file and name the folder"
        ) from error


def _deflate64(file: IO[bytes], info: zipfile.ZipInfo, inflater: Any) -> Iterator[bytes]:
    """Yield what the compressed bytes stand for, but no more than the zip says there is."""
    left, made = info.compress_size, 0
    while left > 0 and made <= info.file_size:
        chunk = file.read(min(_CHUNK, left))
        if not chunk:
            break
        left -= len(chunk)
        data: bytes = inflater.inflate(chunk)
        made += len(data)
        yield data
