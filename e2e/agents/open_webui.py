"""Open WebUI: starts its server, gives it tools for files, asks it one question over its own interface.

Its tools run in the server where a request belongs to a chat, so one is made for each question, and
looked at until its answer is there.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

HERE = Path(__file__).parent
# It takes its time to start.
PATIENCE = 150
TOOLS = '''
import sys
sys.path.insert(0, {here!r})
import functions


class Tools:
    def read_file(self, path: str) -> str:
        """
        Reads a file.
        :param path: The file.
        """
        return functions.read_file(path)

    def write_file(self, path: str, text: str) -> str:
        """
        Writes a file.
        :param path: The file.
        :param text: What is to stand in it.
        """
        return functions.write_file(path, text)

    def edit_file(self, path: str, old: str, new: str) -> str:
        """
        Replaces a text in a file.
        :param path: The file.
        :param old: The text.
        :param new: What is to stand in its place.
        """
        return functions.edit_file(path, old, new)
'''


class Server:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        variables = {
            **os.environ, "DATA_DIR": os.environ["HOME"], "WEBUI_AUTH": "False", "WEBUI_SECRET_KEY": "none",
            # Each start has another endpoint, which counts and not that of the first.
            "ENABLE_PERSISTENT_CONFIG": "false",
            "OFFLINE_MODE": "true", "HF_HUB_OFFLINE": "1", "ENABLE_OLLAMA_API": "false", "RAG_EMBEDDING_ENGINE": "openai",
            "ENABLE_TITLE_GENERATION": "false", "ENABLE_TAGS_GENERATION": "false", "ENABLE_FOLLOW_UP_GENERATION": "false",
        }
        command = ["open-webui", "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, env=variables, stdout=sys.stderr, stderr=sys.stderr)
        self.token = None

    def ask(self, path, body=None):
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def is_up(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                return self.ask("/health")
            except OSError:
                time.sleep(0.5)
        raise SystemExit("Open WebUI did not start")


def message(role, content, parent, child):
    return {"id": str(uuid.uuid4()), "role": role, "content": content, "parentId": parent, "childrenIds": child,
            "timestamp": int(time.time()), "models": ["scripted"], "model": "scripted"}


def answered(server, question):
    user = message("user", question, None, [])
    assistant = message("assistant", "", user["id"], [])
    user["childrenIds"] = [assistant["id"]]
    history = {"messages": {one["id"]: one for one in (user, assistant)}, "currentId": assistant["id"]}
    chat = server.ask("/api/v1/chats/new", {"chat": {"title": "A question", "models": ["scripted"], "history": history,
                                                     "messages": [user, assistant]}})
    server.ask("/api/chat/completions", {
        "model": "scripted", "stream": True, "messages": [{"role": "user", "content": question}], "tool_ids": ["files"],
        "params": {"function_calling": "native"}, "chat_id": chat["id"], "id": assistant["id"],
        "session_id": str(uuid.uuid4()), "background_tasks": {}})
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        said = server.ask(f"/api/v1/chats/{chat['id']}")["chat"]["history"]["messages"][assistant["id"]]
        if said.get("done") or said.get("error"):
            return said
        time.sleep(0.3)
    raise SystemExit("no answer came")


def main(question):
    server = Server()
    try:
        server.is_up()
        server.token = server.ask("/api/v1/auths/signin", {"email": "", "password": ""})["token"]
        # An earlier start in this home has left them there.
        if not any(tool["id"] == "files" for tool in server.ask("/api/v1/tools/")):
            server.ask("/api/v1/tools/create", {"id": "files", "name": "files", "content": TOOLS.format(here=str(HERE)),
                                                "meta": {"description": "Files."}})
        said = answered(server, question)
        print(said.get("content"), said.get("error") or "")
    finally:
        server.process.terminate()
        server.process.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1])
