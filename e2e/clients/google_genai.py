"""google-genai for Python: whole, streamed, and its chat."""

from google import genai
from google.genai import errors, types

from common import TOOLS, URL, each, same

options = types.HttpOptions(base_url=URL.removesuffix("/v1"), retry_options=types.HttpRetryOptions(attempts=3, initial_delay=0.1, http_status_codes=[429]))
client = genai.Client(api_key="none", vertexai=False, http_options=options)
declarations = [types.FunctionDeclaration(name=name, description=text, parameters_json_schema=parameters) for name, text, parameters in TOOLS]
CONFIG = types.GenerateContentConfig(
    tools=[types.Tool(function_declarations=declarations)], system_instruction="Be brief.", max_output_tokens=4000,
    thinking_config=types.ThinkingConfig(include_thoughts=True),
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}


def ask(way, model, contents):
    """Parts, reason and cost of an answer."""
    if way == "whole":
        answers = [client.models.generate_content(model=model, contents=contents, config=CONFIG)]
    elif way == "stream":
        answers = list(client.models.generate_content_stream(model=model, contents=contents, config=CONFIG))
    else:
        chat = client.chats.create(model=model, config=CONFIG, history=contents[:-1])
        answers = list(chat.send_message_stream(contents[-1].parts))
        same(chat.get_history(curated=True), chat.get_history(), "what the chat takes for whole")
    parts = [part for answer in answers for part in answer.candidates[0].content.parts]
    return parts, answers[-1].candidates[0].finish_reason, answers[-1].usage_metadata


def text(parts, thought=False):
    return "".join(part.text for part in parts if part.text and bool(part.thought) == thought)


def run(way, model, expect):
    contents = [types.Content(role="user", parts=[types.Part(text="What is the weather?")])]
    if "error" in expect:
        try:
            ask(way, model, contents)
        except errors.APIError as error:
            same(expect["error"] in str(error), True, f"whether {error} says what happened")
            return
        raise AssertionError("no error came")
    parts, reason, usage = ask(way, model, contents)
    same(text(parts), expect["content"], "the content")
    if "reasoning" in expect:
        same(text(parts, thought=True), expect["reasoning"], "the reasoning")
    calls = [part.function_call for part in parts if part.function_call]
    same([[call.name, call.args] for call in calls], expect["calls"], "the calls")
    same(reason.value, REASONS[expect["finish"]], "the reason")
    same(usage.total_token_count > 0, True, "whether the cost is told")
    if "then" in expect:
        contents.append(types.Content(role="model", parts=parts))
        results = [types.Part.from_function_response(name=call.name, response={"result": "-3 degrees"}) for call in calls]
        contents.append(types.Content(role="user", parts=results))
        parts, reason, _ = ask(way, model, contents)
        same((text(parts), reason.value), (expect["then"], "STOP"), "the answer to the results")


same(client.models.count_tokens(model="text@0@0", contents="Hi").total_tokens > 0, True, "the count")
each(["whole", "stream", "chat"], run)
