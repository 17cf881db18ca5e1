"""Runs real clients against the built `toolgraft serve` in front of a scripted endpoint.

    run.py TOOLGRAFT NODE [CLIENT…]

The client `more` stands for all frameworks, each with the Python of its environment, and for
the one in Rust; `make clients CLIENTS=all` sets them up.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import upstream

HERE = Path(__file__).parent
CLIENTS = {
    "openai for Python": [sys.executable, "openai_python.py"],
    "openai for Python, Responses": [sys.executable, "openai_responses.py"],
    "google-genai for Python": [sys.executable, "google_genai.py"],
    "anthropic for Python": [sys.executable, "anthropic_python.py"],
    "openai for Node": ["node", "openai_node.mjs"],
    "anthropic for Node": ["node", "anthropic_node.mjs"],
    "AI SDK": ["node", "ai_sdk.mjs"],
}

MORE = {
    "langchain-openai": ["venv-more/bin/python", "langchain_openai_python.py"],
    "pydantic-ai": ["venv-more/bin/python", "pydantic_ai_python.py"],
    "openai-agents": ["venv-more/bin/python", "openai_agents_python.py"],
    "litellm": ["venv-litellm/bin/python", "litellm_python.py"],
    "llama-index": ["venv-openai2/bin/python", "llama_index_python.py"],
    "instructor": ["venv-openai2/bin/python", "instructor_python.py"],
    "ollama for Python": ["venv-ollama/bin/python", "ollama_python.py"],
    "ollama for Node": ["node", "ollama_node.mjs"],
    "litellm for Ollama": ["venv-litellm/bin/python", "litellm_ollama_python.py"],
    "AI SDK for Ollama": ["node", "ai_sdk_ollama.mjs"],
    "langchain-ollama": ["venv-ollama/bin/python", "langchain_ollama_python.py"],
    "llama-index for Ollama": ["venv-ollama/bin/python", "llama_index_ollama_python.py"],
    "async-openai": ["../../target/clients/debug/toolgraft-test-async-openai"],
}


def chosen(wanted):
    if not wanted:
        return CLIENTS
    clients = {name: command for name, command in {**CLIENTS, **MORE}.items() if name in wanted}
    return {**clients, **(MORE if "more" in wanted else {})}


def main(toolgraft, node, *wanted):
    clients = chosen(wanted)
    failed = []
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        command = [toolgraft, "serve", "--listen", "127.0.0.1:0", "--base-url", upstream.start()]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()
            environment["TOOLGRAFT_URL"] = url
            running = {}
            for name, (program, *scripts) in clients.items():
                program = node if program == "node" else HERE / program
                running[name] = subprocess.Popen(
                    [program, *(HERE / script for script in scripts)], env=environment, cwd=HERE,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for name, process in running.items():
                try:
                    out, _ = process.communicate(timeout=400)
                except subprocess.TimeoutExpired:
                    process.kill()
                    out, _ = process.communicate()
                    out += "\nit did not end within 400 seconds"
                if process.returncode != 0:
                    failed.append(name)
                print(f"{'FAILED' if process.returncode else 'passed'}  {name}: {out.strip() if process.returncode else out.strip().splitlines()[-1]}")
        finally:
            server.terminate()
            server.wait(timeout=60)
    if not running:
        print("no client was run")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
