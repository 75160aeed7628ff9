from __future__ import annotations

import sys
import zipfile

import pytest
from dialsim_support import write_zip

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

archive = benchmarks_module("datasets.archive")

LONG = b"".join(b"line %d of many\n" % number for number in range(200_000))


def test_a_file_compressed_with_deflate64_is_read_from_a_zip_whatever_its_folder(tmp_path):
    found = archive.Zip(write_zip(tmp_path / "a.zip", {"b.pickle": LONG, "a.txt": b"short"}, prefix="x/y/"))
    assert found.names() == ["a.txt", "b.pickle"]
    assert found.read("b.pickle") == LONG
    assert found.read("a.txt") == b"short"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_other_compressions_are_read_as_well(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as file:
        file.writestr("data/a.pickle", LONG)
    assert archive.Zip(tmp_path / "a.zip").read("a.pickle") == LONG


def test_damage_within_deflate64_is_noticed(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"b.pickle": LONG})
    data = bytearray(path.read_bytes())
    data[2000] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.zip: data/b\.pickle cannot be read"):
        archive.Zip(path).read("b.pickle")


def test_a_file_that_is_longer_than_its_zip_says_is_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"b.pickle": LONG})
    path.write_bytes(path.read_bytes().replace(len(LONG).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with pytest.raises(InputError, match="check sum"):
        archive.Zip(path).read("b.pickle")


def test_without_the_library_the_error_says_what_to_do(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "a.zip", {"b.pickle": b"1"})
    monkeypatch.setitem(sys.modules, "inflate64", None)
    with pytest.raises(InputError, match=r"pip install 'amem\[bench\]'`, or unpack the file"):
        archive.Zip(path).read("b.pickle")


def test_two_files_of_one_name_are_not_chosen_from(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("v1/a.pickle", "1")
        file.writestr("v2/a.pickle", "2")
    with pytest.raises(InputError, match=r"has v1/a\.pickle and v2/a\.pickle"):
        archive.Zip(tmp_path / "a.zip").read("a.pickle")


def test_what_is_no_zip_is_an_input_error(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK no")
    with pytest.raises(InputError, match="as a zip"):
        archive.Zip(tmp_path / "a.zip")
