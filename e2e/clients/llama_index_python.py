"""llama-index: a model with tools, whole and streamed."""

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from frameworks import QUESTION, RETRIES, URL, check, now, run_tool, weather

TOOLS = [FunctionTool.from_defaults(fn=tool) for tool in (weather, now)]


def way(streams):
    def run(name):
        model = OpenAILike(model=name, api_base=URL, api_key="none", is_chat_model=True, is_function_calling_model=True, max_retries=RETRIES)

        def ask(messages):
            if not streams:
                return model.chat_with_tools(TOOLS, chat_history=messages, allow_parallel_tool_calls=True)
            for last in model.stream_chat_with_tools(TOOLS, chat_history=messages, allow_parallel_tool_calls=True):
                pass
            return last

        messages = [ChatMessage(QUESTION, role=MessageRole.USER)]
        answer = ask(messages)
        messages.append(answer.message)
        calls = model.get_tool_calls_from_response(answer, error_on_no_tool_call=False)
        for call in calls:
            result = run_tool(call.tool_name, call.tool_kwargs)
            more = {"tool_call_id": call.tool_id}
            messages.append(ChatMessage(result, role=MessageRole.TOOL, additional_kwargs=more))
        return ask(messages).message.content if calls else answer.message.content

    return run


check({"whole": way(False), "stream": way(True)})
