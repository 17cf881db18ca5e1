"""langchain-ollama: a model with tools bound to it, whole and streamed; a schema and an image."""

import json

import ollama
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_ollama import ChatOllama, OllamaEmbeddings

from frameworks import QUESTION, URL, check, now, run_tool, weather

HOST = URL.removesuffix("/v1")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def whole(model, messages):
    return model.invoke(messages)


def streamed(model, messages):
    total = None
    for chunk in model.stream(messages):
        total = chunk if total is None else total + chunk
    return total


def way(ask):
    def run(name):
        model = ChatOllama(model=name, base_url=HOST, reasoning=True, num_ctx=8192).bind_tools([weather, now])
        messages = [HumanMessage(QUESTION)]
        try:
            answer = ask(model, messages)
        except ollama.ResponseError as error:
            # It tries nothing again by itself.
            if error.status_code != 429:
                raise
            answer = ask(model, messages)
        messages.append(answer)
        for call in answer.tool_calls:
            messages.append(ToolMessage(run_tool(call["name"], call["args"]), tool_call_id=call["id"]))
        return ask(model, messages).text if answer.tool_calls else answer.text

    return run


def same(found, expected):
    if found != expected:
        raise SystemExit(f"{found!r} should be {expected!r}")


schema = {"title": "answer", "type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}
model = ChatOllama(model="schema@0@langchain", base_url=HOST, validate_model_on_init=False)
same(model.with_structured_output(schema, method="json_schema").invoke(QUESTION), {"degrees": 3})
image = {"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}
answer = ChatOllama(model="echo@0@0", base_url=HOST).invoke([HumanMessage([{"type": "text", "text": "Look:"}, image])])
same(json.loads(answer.text)[1]["image_url"]["url"], f"data:image/png;base64,{PNG}")
same(OllamaEmbeddings(model="text@0@0", base_url=HOST).embed_documents(["a"]), [[0.5, 1.0]])
ChatOllama(model="text@0@0", base_url=HOST, validate_model_on_init=True)
check({"whole": way(whole), "stream": way(streamed)})
