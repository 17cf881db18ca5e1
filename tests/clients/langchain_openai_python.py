"""langchain-openai: a model with a tool bound to it, whole and streamed."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from frameworks import QUESTION, URL, check, weather


def whole(model, messages):
    return model.invoke(messages)


def streamed(model, messages):
    total = None
    for chunk in model.stream(messages):
        total = chunk if total is None else total + chunk
    return total


def way(ask):
    def run(name):
        model = ChatOpenAI(model=name, base_url=URL, api_key="none", max_retries=0).bind_tools([weather])
        messages = [HumanMessage(QUESTION)]
        answer = ask(model, messages)
        messages.append(answer)
        for call in answer.tool_calls:
            messages.append(ToolMessage(weather(**call["args"]), tool_call_id=call["id"]))
        return ask(model, messages).text

    return run


check({"whole": way(whole), "stream": way(streamed)})
