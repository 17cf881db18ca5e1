"""llama-index's client of Ollama's interface: a model with tools, whole and streamed."""

import ollama
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.ollama import Ollama

from frameworks import QUESTION, URL, check, now, run_tool, weather

TOOLS = [FunctionTool.from_defaults(fn=tool) for tool in (weather, now)]


def way(streams):
    def run(name):
        model = Ollama(model=name, base_url=URL.removesuffix("/v1"), request_timeout=60)

        def once(messages):
            if not streams:
                return model.chat_with_tools(TOOLS, chat_history=messages, allow_parallel_tool_calls=True)
            for last in model.stream_chat_with_tools(TOOLS, chat_history=messages, allow_parallel_tool_calls=True):
                pass
            return last

        def ask(messages):
            try:
                return once(messages)
            except ollama.ResponseError as error:
                # It tries nothing again by itself.
                if error.status_code != 429:
                    raise
                return once(messages)

        messages = [ChatMessage(QUESTION, role=MessageRole.USER)]
        answer = ask(messages)
        messages.append(answer.message)
        calls = model.get_tool_calls_from_response(answer, error_on_no_tool_call=False)
        for call in calls:
            result = run_tool(call.tool_name, call.tool_kwargs)
            messages.append(ChatMessage(result, role=MessageRole.TOOL, additional_kwargs={"tool_call_id": call.tool_id}))
        return ask(messages).message.content if calls else answer.message.content

    return run


check({"whole": way(False), "stream": way(True)})
