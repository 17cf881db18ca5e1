"""langchain-openai: a model with tools bound to it, whole and streamed."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from frameworks import QUESTION, RETRIES, URL, check, now, run_tool, weather


def whole(model, messages):
    return model.invoke(messages)


def streamed(model, messages):
    total = None
    for chunk in model.stream(messages):
        total = chunk if total is None else total + chunk
    return total


def way(ask):
    def run(name):
        model = ChatOpenAI(model=name, base_url=URL, api_key="none", max_retries=RETRIES).bind_tools([weather, now])
        messages = [HumanMessage(QUESTION)]
        answer = ask(model, messages)
        messages.append(answer)
        for call in answer.tool_calls:
            messages.append(ToolMessage(run_tool(call["name"], call["args"]), tool_call_id=call["id"]))
        return ask(model, messages).text if answer.tool_calls else answer.text

    return run


check({"whole": way(whole), "stream": way(streamed)})
