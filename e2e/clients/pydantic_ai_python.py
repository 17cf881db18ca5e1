"""pydantic-ai: an agent with tools, whole and streamed.

Not `run_stream`: that takes the first text for the answer, be there a call behind it or not.
"""

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from frameworks import QUESTION, RETRIES, URL, check, now, weather


CLIENT = AsyncOpenAI(base_url=URL, api_key="none", max_retries=RETRIES)
LOOP = asyncio.new_event_loop()


async def events(_, stream):
    async for _ in stream:
        pass


def way(**more):
    def run(name):
        model = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=CLIENT))
        return LOOP.run_until_complete(Agent(model, tools=[weather, now]).run(QUESTION, **more)).output

    return run


check({"whole": way(), "stream": way(event_stream_handler=events)})
