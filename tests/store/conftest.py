from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest
from vector_source import free_port


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory):
    """The address of a real Chroma server."""
    port = free_port()
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run", "--path"]
    command += [str(tmp_path_factory.mktemp("server")), "--host", "127.0.0.1", "--port", str(port)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        with socket.socket() as probing:
            if probing.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    child.terminate()
    child.wait()
