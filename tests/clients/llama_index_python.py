"""llama-index: a model with a tool, whole and streamed."""

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from frameworks import QUESTION, URL, check, weather

TOOL = FunctionTool.from_defaults(fn=weather)


def way(streams):
    def run(name):
        model = OpenAILike(model=name, api_base=URL, api_key="none", is_chat_model=True, is_function_calling_model=True, max_retries=0)

        def ask(messages):
            if not streams:
                return model.chat_with_tools([TOOL], chat_history=messages, allow_parallel_tool_calls=True)
            for last in model.stream_chat_with_tools([TOOL], chat_history=messages, allow_parallel_tool_calls=True):
                pass
            return last

        messages = [ChatMessage(QUESTION, role=MessageRole.USER)]
        answer = ask(messages)
        messages.append(answer.message)
        for call in model.get_tool_calls_from_response(answer, error_on_no_tool_call=False):
            result = TOOL(**call.tool_kwargs).content
            more = {"tool_call_id": call.tool_id}
            messages.append(ChatMessage(result, role=MessageRole.TOOL, additional_kwargs=more))
        return ask(messages).message.content

    return run


check({"whole": way(False), "stream": way(True)})
