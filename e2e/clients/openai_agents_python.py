"""openai-agents: an agent with tools, whole and streamed, by Chat Completions and by Responses."""

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from frameworks import QUESTION, RETRIES, URL, check, now, weather

set_tracing_disabled(True)
SHAPES = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}


async def ask(shape, name, streams):
    client = AsyncOpenAI(base_url=URL, api_key="none", max_retries=RETRIES)
    agent = Agent(name="test", tools=[function_tool(weather), function_tool(now)], model=SHAPES[shape](model=name, openai_client=client))
    if not streams:
        return (await Runner.run(agent, QUESTION)).final_output
    result = Runner.run_streamed(agent, QUESTION)
    async for _ in result.stream_events():
        pass
    return result.final_output


def way(shape, streams):
    return lambda name: asyncio.run(ask(shape, name, streams))


check({f"{shape} {'streamed' if streams else 'whole'}": way(shape, streams) for shape in SHAPES for streams in (False, True)})
