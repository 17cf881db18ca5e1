"""What the server itself and others do where a model has no tool calling, for comparison: the tasks of
tasks.json are put by hand, past everything that toolgraft does, and judged as `toolgraft probe` judges
them (cli/src/probe).

    others.py       checks how calls and answers are read and judged
"""

import json
import math
import os
import re
import urllib.error
import urllib.request

# The request has `tools`, and the answer's `tool_calls` count: what the server does by itself.
NATIVE = "native"
ONE_SCHEMA = "others: one schema, a call or an answer"
TAG = "others: a prompt that asks for JSON in a tag"
WAYS = [NATIVE, ONE_SCHEMA, TAG]

# Requests of one task at most: the call, and the answer with one to spare.
ROUNDS = 3
# Most time for one request, and most tokens of an answer.
SECONDS = 180
TOKENS = 160


def described(tools):
    return json.dumps([{"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]} for t in tools],
                      separators=(",", ":"), ensure_ascii=False)


def system(way, tools):
    if way == ONE_SCHEMA:
        return (f"You can use these tools:\n{described(tools)}\n\nAnswer with one JSON object: "
                '{"tool": NAME, "arguments": {…}} to use a tool, or {"answer": TEXT} where none is needed.')
    return (f"You have access to these tools:\n{described(tools)}\n\nTo use a tool, write this and nothing else, "
            'once for each call:\n<tool_call>\n{"name": NAME, "arguments": {…}}\n</tool_call>\n'
            "Where no tool is needed, answer as usual.")


def union(tools):
    """A schema that a call of each tool fits, or an answer."""
    def one(properties):
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    calls = [one({"tool": {"const": tool["name"]}, "arguments": tool["inputSchema"]}) for tool in tools]
    return {"anyOf": calls + [one({"answer": {"type": "string"}})]}


def functions(tools):
    return [{"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]}}
            for t in tools]


def arguments_of(text):
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def read(text, name):
    """The call that a JSON object is."""
    try:
        call = json.loads(text)
    except ValueError:
        return []
    if not isinstance(call, dict) or not isinstance(call.get(name), str):
        return []
    arguments = call.get("arguments")
    return [(call[name], arguments if isinstance(arguments, dict) else {})]


def calls_of(way, message):
    """The calls of a message; natively its `tool_calls`, whatever its text is."""
    if way == NATIVE:
        functions = [call.get("function") or {} for call in message.get("tool_calls") or []]
        return [(function.get("name"), arguments_of(function.get("arguments") or "{}")) for function in functions]
    text = message.get("content") or ""
    if way == ONE_SCHEMA:
        return read(text, "tool")
    tagged = [call for block in re.findall(r"(?s)<tool_call>\s*(\{.*?\})\s*</tool_call>", text) for call in read(block, "name")]
    # A small model leaves the tag out.
    return tagged or read(text.strip(), "name")


def answer_of(way, text):
    try:
        answer = json.loads(text).get("answer") if way == ONE_SCHEMA else None
    except (ValueError, AttributeError):
        answer = None
    return answer if isinstance(answer, str) else text


def chat(url, body):
    """The message of an answer, and what it cost."""
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        whole = json.load(answer)
    usage = whole.get("usage", {})
    return whole["choices"][0]["message"], usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)


def ask(url, model, way, tools, task):
    """Calls of the first message that has any, the answer where nothing was called, tokens. Where an answer is wanted,
    calls are answered with its result; else the first message is all."""
    taught = [] if way == NATIVE else [{"role": "system", "content": system(way, tools)}]
    messages = taught + [{"role": "user", "content": task["question"]}]
    found, answer, tokens = [], "", 0
    for _ in range(ROUNDS):
        body = {"model": model, "messages": messages, "temperature": 0, "max_tokens": TOKENS}
        if way == ONE_SCHEMA:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": union(tools)}}
        if way == NATIVE:
            body["tools"] = functions(tools)
        message, cost = chat(url, body)
        tokens += cost
        text = message.get("content") or ""
        calls = calls_of(way, message)
        found = found or calls
        if not calls or "result" not in task:
            answer = answer_of(way, text)
            break
        if way == NATIVE:
            messages.append(message)
            messages += [{"role": "tool", "tool_call_id": call.get("id", ""), "content": task["result"]} for call in message["tool_calls"]]
        else:
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": f"Tool result: {task['result']}"}]
    return found, answer, tokens


def plain(text):
    return text.strip().rstrip(".").lower()


def same(wanted, found):
    if isinstance(wanted, str) and isinstance(found, str):
        return plain(wanted) == plain(found)
    return wanted == found and isinstance(wanted, bool) == isinstance(found, bool)


def fits(call, wanted):
    (tool, arguments), expected = call, wanted["arguments"]
    return (tool == wanted["tool"] and arguments.keys() == expected.keys()
            and all(same(value, arguments[name]) for name, value in expected.items()))


def holds(answer, value):
    """Whether an answer holds a value; no digit goes on before or after a number."""
    before = r"(?<!\d)" if value[0].isdigit() else ""
    after = r"(?!\d)" if value[-1].isdigit() else ""
    return re.search(before + re.escape(value.lower()) + after, answer.lower(), re.ASCII) is not None


def judged(task, calls, answer):
    """(a call came, of the right tool, all right, the result was used)"""
    wanted = task["wanted"]
    if not wanted:
        return bool(calls), False, not calls, False
    left, wrong = list(wanted), False
    for call in calls:
        match = next((one for one in left if fits(call, one)), None)
        if match is not None:
            left.remove(match)
        elif "result" not in task or not any(fits(call, one) for one in wanted):
            wrong = True
    right_tool = bool(calls) and all(any(tool == one["tool"] for one in wanted) for tool, _ in calls)
    used = bool(calls) and "result" in task and holds(answer, task["value"])
    return bool(calls), right_tool, bool(calls) and not left and not wrong, used


def interval(count, of):
    """Wilson's interval at 95 %."""
    if not of:
        return None
    z, part = 1.96, count / of
    middle, scale = part + z * z / (2 * of), 1 + z * z / of
    half = z * math.sqrt(part * (1 - part) / of + z * z / (4 * of * of))
    return [max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)]


def tasks_of(file):
    def call(task):
        return {"tool": task["tool"], "arguments": task["arguments"]}
    return ([{**task, "kind": "call", "wanted": [call(task)]} for task in file.get("call", [])]
            + [{**task, "kind": "calls", "wanted": task["calls"]} for task in file.get("calls", [])]
            + [{**task, "kind": "none", "wanted": []} for task in file.get("none", [])]
            + [{**task, "kind": "result", "wanted": [call(task)]} for task in file.get("result", [])])


def row(way, tasks, trials):
    """What came of all tasks, as a row of `probe --json` has it."""
    pairs = list(zip(tasks, trials))
    wanted = [trial for task, trial in pairs if task["wanted"]]
    several = [trial for task, trial in pairs if task["kind"] == "calls"]
    results = [trial for task, trial in pairs if task["kind"] == "result"]
    unwanted = [trial for task, trial in pairs if not task["wanted"]]
    accepted, right_tool, right = (sum(trial[at] for trial in wanted) for at in range(3))
    false_calls = sum(trial[0] for trial in unwanted)
    return {"cell": way, "tasks": len(pairs), "wanted": len(wanted), "accepted": accepted, "right_tool": right_tool,
            "fully_right": right, "fully_right_interval": interval(right, len(wanted)),
            "several": len(several), "several_right": sum(trial[2] for trial in several),
            "unwanted": len(unwanted), "false_calls": false_calls, "false_calls_interval": interval(false_calls, len(unwanted)),
            "results": len(results), "used": sum(trial[3] for trial in results), "tokens": sum(trial[4] for trial in trials),
            "corrected": [{"accepted": accepted, "fully_right": right}] * 3}


def measured(url, model, path, kept):
    """A row for each way. `kept` is the file of what was tried: a run that was stopped goes on."""
    with open(path, encoding="utf-8") as file:
        file = json.load(file)
    tasks = tasks_of(file)
    known = {}
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as before:
            known = json.load(before)
    rows = []
    for way in WAYS:
        trials = known.setdefault(way, {})
        for task in tasks:
            if task["question"] in trials:
                continue
            try:
                calls, answer, tokens = ask(url, model, way, file["tools"], task)
                trials[task["question"]] = [*judged(task, calls, answer), tokens]
            # A server that cannot read its own model's call refuses the request.
            except (TimeoutError, urllib.error.HTTPError):
                trials[task["question"]] = [False, False, False, False, 0]
            with open(kept + ".new", "w", encoding="utf-8") as after:
                json.dump(known, after)
            os.rename(kept + ".new", kept)
        rows.append(row(way, tasks, [trials[task["question"]] for task in tasks]))
    return rows


def check():
    call = ("get_weather", {"city": "Oslo"})
    def said(text):
        return {"role": "assistant", "content": text}

    assert calls_of(ONE_SCHEMA, said('{"tool": "get_weather", "arguments": {"city": "Oslo"}}')) == [call]
    assert answer_of(ONE_SCHEMA, '{"answer": "Hi."}') == "Hi." and answer_of(TAG, "Hi.") == "Hi."
    tagged = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    assert calls_of(TAG, said(f"{tagged}\n{tagged}")) == [call, call]
    assert len(calls_of(TAG, said('{"name": "get_weather", "arguments": {"city": "Oslo"}}'))) == 1
    assert calls_of(TAG, said("Hi.")) == calls_of(ONE_SCHEMA, said('{"answer": "Hi."}')) == calls_of(NATIVE, said(tagged)) == []
    native = {"content": None, "tool_calls": [{"id": "1", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}]}
    assert calls_of(NATIVE, native) == [call]
    expected = {"tool": "get_weather", "arguments": {"city": "Oslo"}}
    one, both = {"wanted": [expected]}, {"wanted": [{**expected, "arguments": {"city": "Lima"}}, expected]}
    lima, oslo = ("get_weather", {"city": "Lima"}), ("get_weather", {"city": " oslo."})
    assert judged(one, [oslo], "") == (True, True, True, False)
    assert judged(one, [lima], "") == judged(one, [oslo, lima], "") == judged(both, [oslo], "") == (True, True, False, False)
    assert judged(one, [("x", {})], "") == (True, False, False, False)
    assert judged(both, [oslo, lima], "")[2] and not judged(one, [], "")[2]
    assert judged({"wanted": []}, [], "") == (False, False, True, False) and not judged({"wanted": []}, [oslo], "")[2]
    result = {"wanted": [expected], "result": "Oslo: 13", "value": "13"}
    assert judged(result, [oslo, oslo], "It is -13 degrees.") == (True, True, True, True)
    assert not judged(result, [oslo], "It is 113.")[3] and not judged(result, [], "13")[3]
    assert [round(100 * part) for part in interval(14, 17)] == [59, 94] and interval(0, 0) is None
    assert same(2, 2.0) and not same(1, True)


if __name__ == "__main__":
    check()
