"""Runs real clients against the built `toolgraft serve` in front of a scripted endpoint.

    run.py TOOLGRAFT NODE [CLIENT…]
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


def main(toolgraft, node, *wanted):
    clients = {name: command for name, command in CLIENTS.items() if not wanted or name in wanted}
    failed = []
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        command = [toolgraft, "serve", "--listen", "127.0.0.1:0", "--base-url", upstream.start()]
        server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()
            environment["TOOLGRAFT_URL"] = url
            running = {}
            for name, (program, script) in clients.items():
                program = node if program == "node" else program
                running[name] = subprocess.Popen(
                    [program, HERE / script], env=environment, cwd=HERE,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for name, process in running.items():
                try:
                    out, _ = process.communicate(timeout=180)
                except subprocess.TimeoutExpired:
                    process.kill()
                    out, _ = process.communicate()
                    out += "\nit did not end within 180 seconds"
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
