"""ollama for Python: chat whole, streamed and asynchronous; a prompt, a schema, images, models."""

import asyncio
import json

import ollama

from common import TOOLS, URL, each, same

HOST = URL.removesuffix("/v1")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
client = ollama.Client(host=HOST)
asynchronous = ollama.AsyncClient(host=HOST)
tools = [{"type": "function", "function": {"name": name, "description": text, "parameters": parameters}} for name, text, parameters in TOOLS]
loop = asyncio.new_event_loop()


def put_together(parts):
    whole = ollama.Message(role="assistant", content="", thinking="", tool_calls=[])
    for part in parts:
        whole.content += part.message.content or ""
        whole.thinking += part.message.thinking or ""
        whole.tool_calls += part.message.tool_calls or []
    return whole, parts[-1]


async def collected(arguments):
    return [part async for part in await asynchronous.chat(**arguments, stream=True)]


def ask(way, model, messages):
    """The message of an answer, and its last line."""
    arguments = {"model": model, "messages": messages, "tools": tools, "think": True, "options": {"num_ctx": 8192, "num_predict": 4000}, "keep_alive": "5m"}
    if way == "whole":
        answer = client.chat(**arguments)
        return answer.message, answer
    return put_together(list(client.chat(**arguments, stream=True)) if way == "stream" else loop.run_until_complete(collected(arguments)))


def run(way, model, expect):
    messages = [{"role": "user", "content": "What is the weather?"}]
    if "error" in expect:
        try:
            ask(way, model, messages)
        except ollama.ResponseError as error:
            same(expect["error"] in error.error, True, f"whether {error} says what happened")
            return
        raise AssertionError("no error came")
    try:
        message, last = ask(way, model, messages)
    except ollama.ResponseError as error:
        # It tries nothing again by itself.
        same((error.status_code, model.startswith("flaky")), (429, True), str(error))
        message, last = ask(way, model, messages)
    same(message.content, expect["content"], "the content")
    if "reasoning" in expect:
        same(message.thinking, expect["reasoning"], "the reasoning")
    calls = [[call.function.name, call.function.arguments] for call in message.tool_calls or []]
    same(calls, expect["calls"], "the calls")
    same((last.done, last.done_reason), (True, "length" if expect["finish"] == "length" else "stop"), "the reason")
    same(last.eval_count > 0 and last.total_duration >= last.eval_duration > 0, True, "whether the cost is told")
    if "then" in expect:
        messages.append(message)
        for call in message.tool_calls:
            messages.append({"role": "tool", "content": "-3 degrees", "tool_name": call.function.name})
        message, last = ask(way, model, messages)
        same((message.content, last.done_reason), (expect["then"], "stop"), "the answer to the results")


def schema_and_images():
    schema = {"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}
    question = {"role": "user", "content": "How warm is it?"}
    for stream in (False, True):
        answer = client.chat(model=f"schema@0@python{stream}", messages=[question], format=schema, stream=stream)
        text = put_together(list(answer))[0].content if stream else answer.message.content
        same(json.loads(text), {"degrees": 3}, "the answer by its schema")
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    seen = [{"type": "text", "text": "What is this?"}, image]
    answer = client.chat(model="echo@0@0", messages=[{"role": "user", "content": "What is this?", "images": [PNG]}])
    same(json.loads(answer.message.content), seen, "what the endpoint sees of an image")
    answer = client.generate(model="echo@0@0", prompt="What is this?", images=[PNG], system="Be brief.")
    same(json.loads(answer.response), seen, "what it sees of an image beside a prompt")
    parts = list(client.generate(model="text@7@0", prompt="Hello", stream=True))
    same("".join(part.response for part in parts), 'Hello, 3 < 4 & "so" on.', "the streamed response")


def models():
    same([model.model for model in client.list().models], ["text@0@0"], "the models")
    same(client.ps().models, [], "what is known to run")
    shown = client.show("text@0@0")
    same(set(shown.capabilities) >= {"completion", "tools"}, True, "what it can do")
    same(client.embed("text@0@0", ["a", "b"]).embeddings, [[0.5, 1.0], [0.5, 1.0]], "the vectors")
    same(client.embeddings("text@0@0", "a").embedding, [0.5, 1.0], "the vector")
    same(client.generate(model="text@0@0", keep_alive=0).done_reason, "unload", "the answer to no prompt")
    for refused in (lambda: client.pull("gemma3"), lambda: client.delete("gemma3"), lambda: client.copy("a", "b")):
        try:
            refused()
        except ollama.ResponseError as error:
            same((error.status_code, "the endpoint manages the models" in error.error), (501, True), str(error))
        else:
            raise AssertionError("it was not refused")


schema_and_images()
models()
each(["whole", "stream", "asynchronous"], run)
