"""The programs: where they come from, how they are started, how their tools are called."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

from model import MAIN, answer, call
from rows import ROWS, Row, all_of, ended, on_disk, shown, word, wrote


@dataclass
class Program:
    title: str
    # npm's or PyPI's name of it, and its command.
    package: str
    command: str
    interface: str
    # What stands behind the command for one question.
    ask: Callable
    # A tool and its arguments for each of these.
    read: Callable
    edit: Optional[Callable] = None
    write: Optional[Callable] = None
    sub: Optional[Callable] = None
    # How the model ends: most programs take a text.
    finish: Callable = str
    # How a sub-agent's model ends.
    sub_finish: Callable = str
    # Its name for `toolgraft launch`; the others get `toolgraft serve`, and this writes their settings
    # into a home and gives further variables.
    launch: Optional[str] = None
    settings: Optional[Callable] = None
    # What it makes of a text that it writes, and the words for it.
    alters: Callable = str
    alteration: str = ""
    # Variables for a run without a person.
    variables: dict = field(default_factory=dict)
    # What it cannot do itself, by row, in words for the table.
    own: dict = field(default_factory=dict)
    # Rows in its own way, for a program that sends no tools.
    rows: dict = field(default_factory=dict)
    kind: str = "npm"
    # The least minor version of Python 3 that it runs on.
    python: int = 0


def patched(path, old, new):
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
    return "exec_command", {"cmd": f"apply_patch <<'PATCH'\n{patch}\nPATCH\n"}


def here(path, text):
    # A shell adds a line break at the end; the last one of the text goes by another way.
    return "exec_command", {"cmd": f"head -c -1 > {path} <<'THE_END_OF_IT'\n{text}\nTHE_END_OF_IT\n"}


HERE = Path(__file__).parent


def pi_settings(home, url, context):
    folder = home / ".pi/agent"
    folder.mkdir(parents=True, exist_ok=True)
    models = [{"id": "scripted", "contextWindow": context, "maxTokens": context // 4}]
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": models}
    (folder / "models.json").write_text(json.dumps({"providers": {"toolgraft": provider}}), encoding="utf-8")
    kept = {"reserveTokens": context // 4, "keepRecentTokens": context // 4}
    (folder / "settings.json").write_text(json.dumps({"compaction": kept}), encoding="utf-8")
    return {"PI_OFFLINE": "1"}


def llm_settings(home, url, _):
    folder = home / "llm"
    folder.mkdir(exist_ok=True)
    model = f"- model_id: scripted\n  model_name: scripted\n  api_base: {url}\n  supports_tools: true\n"
    (folder / "extra-openai-models.yaml").write_text(model, encoding="utf-8")
    return {"LLM_USER_PATH": str(folder), "OPENAI_API_KEY": "none"}


def openai_settings(_, url, __):
    return {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_BASE_URL": url, "OPENAI_API_KEY": "none"}


def told(_, project):
    """A file that the person names."""
    secret, path = word(), project / "note.txt"
    wrote(path, f"The secret is {secret}.\n")
    return Row(f"{MAIN}: what does it say?", [answer], all_of(ended, shown(secret)), arguments=["note.txt"])


def replaced(_, project):
    path = project / "code.py"
    wrote(path, "def f():\n    return 'old'\n")
    text = "code.py\n```python\n<<<<<<< SEARCH\n    return 'old'\n=======\n    return 'new'\n>>>>>>> REPLACE\n```\n"
    check = all_of(ended, on_disk(path, "def f():\n    return 'new'\n"))
    return Row(f"{MAIN}: edit code.py.", [text], check, arguments=["code.py"])


def in_commands(path, text):
    # Its editor takes 6,000 characters at a time.
    return "run_commands", {"commands": [here(path, text)[1]["cmd"]]}


PROGRAMS = {
    "claude": Program(
        "Claude Code", "@anthropic-ai/claude-code", "claude", "Messages",
        ask=lambda prompt: ["-p", prompt, "--dangerously-skip-permissions"],
        read=lambda path: ("Read", {"file_path": str(path)}),
        edit=lambda path, old, new: ("Edit", {"file_path": str(path), "old_string": old, "new_string": new}),
        write=lambda path, text: ("Write", {"file_path": str(path), "content": text}),
        sub=lambda prompt: ("Agent", {"description": "Read a file", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": False}),
        launch="claude", variables={"IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"},
        alters=lambda text: re.sub(r"[ \t]+$", "", text.replace("\\u0041", "A"), flags=re.M),
        alteration="writes `\\u0041` in a text as the character that it stands for, and no spaces at the ends of lines",
    ),
    "codex": Program(
        "Codex", "@openai/codex", "codex", "Responses",
        ask=lambda prompt: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
        read=lambda path: ("exec_command", {"cmd": f"cat {path}"}),
        edit=patched, write=here, launch="codex",
        own={"sub-agent": "offers no sub-agents to a model that it does not know"},
    ),
    "opencode": Program(
        "opencode", "opencode-ai", "opencode", "Chat Completions",
        ask=lambda prompt: ["run", prompt],
        read=lambda path: ("read", {"filePath": str(path)}),
        edit=lambda path, old, new: ("edit", {"filePath": str(path), "oldString": old, "newString": new}),
        write=lambda path, text: ("write", {"filePath": str(path), "content": text}),
        sub=lambda prompt: ("task", {"description": "Read a file", "prompt": prompt, "subagent_type": "general"}),
        launch="opencode", variables={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    ),
    "gemini": Program(
        "Gemini CLI", "@google/gemini-cli", "gemini", "Gemini",
        ask=lambda prompt: ["--yolo", "--skip-trust", "-p", prompt],
        read=lambda path: ("read_file", {"file_path": str(path)}),
        edit=lambda path, old, new: ("replace", {"file_path": str(path), "instruction": "Change it.", "old_string": old, "new_string": new}),
        write=lambda path, text: ("write_file", {"file_path": str(path), "content": text}),
        sub=lambda prompt: ("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),
        sub_finish=lambda text: call("complete_task", {"result": {"response": text}}),
        launch="gemini",
        own={"40 steps": "makes its history shorter between two questions of the person, not within one"},
    ),
    "qwen": Program(
        "Qwen Code", "@qwen-code/qwen-code", "qwen", "Chat Completions",
        ask=lambda prompt: ["--yolo", "-p", prompt],
        read=lambda path: ("read_file", {"file_path": str(path)}),
        edit=lambda path, old, new: ("edit", {"file_path": str(path), "old_string": old, "new_string": new}),
        write=lambda path, text: ("write_file", {"file_path": str(path), "content": text}),
        sub=lambda prompt: ("agent", {"description": "Read a file", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": False}),
        launch="qwen", variables={"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
    ),
    "cline": Program(
        "Cline", "cline", "cline", "Chat Completions",
        ask=lambda prompt: [prompt],
        read=lambda path: ("read_files", {"files": [{"path": str(path)}]}),
        edit=lambda path, old, new: ("editor", {"path": str(path), "old_text": old, "new_text": new}),
        write=lambda path, text: ("editor", {"path": str(path), "new_text": text}) if len(text) < 6_000 else in_commands(path, text),
        sub=lambda prompt: ("spawn_agent", {"systemPrompt": "You read files.", "task": prompt}),
        launch="cline",
        own={"40 steps": "takes every model's context for 128,000 tokens, and makes its history shorter when the endpoint refuses it, once in a run"},
    ),
    "continue": Program(
        "Continue", "@continuedev/cli", "cn", "Chat Completions",
        ask=lambda prompt: ["-p", prompt, "--auto"],
        read=lambda path: ("Read", {"filepath": str(path)}),
        edit=lambda path, old, new: ("Edit", {"file_path": str(path), "old_string": old, "new_string": new}),
        write=lambda path, text: ("Write", {"filepath": str(path), "content": text}),
        launch="continue", variables={"CONTINUE_TELEMETRY_ENABLED": "0"},
        own={"sub-agent": "has no sub-agents without a flag"},
    ),
    "copilot": Program(
        "Copilot CLI", "@github/copilot", "copilot", "Chat Completions",
        ask=lambda prompt: ["--allow-all-tools", "--allow-all-paths", "-p", prompt],
        read=lambda path: ("view", {"path": str(path)}),
        edit=lambda path, old, new: ("edit", {"path": str(path), "old_str": old, "new_str": new}),
        write=lambda path, text: ("create", {"path": str(path), "file_text": text}),
        sub=lambda prompt: ("task", {"name": "reads", "description": "Read a file", "prompt": prompt, "agent_type": "general-purpose", "mode": "sync"}),
        launch="copilot",
    ),
    "vibe": Program(
        "Mistral Vibe", "mistral-vibe", "vibe", "Chat Completions",
        ask=lambda prompt: ["--auto-approve", "--trust", "-p", prompt],
        read=lambda path: ("read_file", {"path": str(path)}),
        edit=lambda path, old, new: ("edit", {"file_path": str(path), "old_string": old, "new_string": new}),
        write=lambda path, text: ("write_file", {"path": str(path), "content": text}),
        launch="vibe", kind="pypi", python=12, own={"sub-agent": "offers no tool for sub-agents"},
    ),
    "pi": Program(
        "pi", "@earendil-works/pi-coding-agent", "pi", "Chat Completions",
        ask=lambda prompt: ["--provider", "toolgraft", "--model", "scripted", "-p", prompt],
        read=lambda path: ("read", {"path": str(path)}),
        edit=lambda path, old, new: ("edit", {"path": str(path), "edits": [{"oldText": old, "newText": new}]}),
        write=lambda path, text: ("write", {"path": str(path), "content": text}),
        settings=pi_settings, own={"sub-agent": "has no sub-agents"},
    ),
    "llm": Program(
        "llm", "llm", "llm", "Chat Completions",
        ask=lambda prompt: ["-m", "scripted", "--functions", str(HERE / "functions.py"), "--cl", "0", prompt],
        read=lambda path: ("read_file", {"path": str(path)}),
        edit=lambda path, old, new: ("edit_file", {"path": str(path), "old": old, "new": new}),
        write=lambda path, text: ("write_file", {"path": str(path), "text": text}),
        settings=llm_settings, kind="pypi",
        own={"sub-agent": "has no sub-agents", "40 steps": "never makes its history shorter"},
    ),
    "open-webui": Program(
        "Open WebUI", "open-webui", "python", "Chat Completions",
        ask=lambda prompt: [str(HERE / "open_webui.py"), prompt],
        read=lambda path: ("read_file", {"path": str(path)}),
        edit=lambda path, old, new: ("edit_file", {"path": str(path), "old": old, "new": new}),
        write=lambda path, text: ("write_file", {"path": str(path), "text": text}),
        settings=openai_settings, kind="pypi",
        own={"sub-agent": "has no sub-agents", "40 steps": "never makes its history shorter"},
    ),
    "aider": Program(
        "aider", "aider-chat", "aider", "Chat Completions",
        ask=lambda prompt: ["--model", "openai/scripted", "--edit-format", "diff", "--map-tokens", "0", "--yes-always", "--no-git",
                            "--no-check-update", "--no-analytics", "--no-show-model-warnings", "--message", prompt],
        read=None, settings=openai_settings, kind="pypi", rows={"read": told, "edit": replaced},
        own={row: "sends no tools, and reads and edits by texts of its own form" for row in ROWS if row not in ("read", "edit")},
    ),
    "smolagents": Program(
        "smolagents", "smolagents[openai]", "python", "Chat Completions",
        ask=lambda prompt: [str(HERE / "smolagents_agent.py"), prompt],
        read=lambda path: ("read_file", {"path": str(path)}),
        edit=lambda path, old, new: ("edit_file", {"path": str(path), "old": old, "new": new}),
        write=lambda path, text: ("write_file", {"path": str(path), "text": text}),
        finish=lambda text: call("final_answer", {"answer": text}),
        settings=openai_settings, kind="pypi",
        own={"sub-agent": "has no sub-agents of its own", "40 steps": "never makes its history shorter",
             "never mended": "requires a call in each message, so that one without is an error, and asks until its max_steps"},
    ),
}
