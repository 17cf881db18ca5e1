"""pydantic-ai: an agent with a tool, whole and streamed.

Not `run_stream`: that takes the first text for the answer, be there a call behind it or not.
"""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from frameworks import QUESTION, URL, check, weather


def agent(name):
    model = OpenAIChatModel(name, provider=OpenAIProvider(base_url=URL, api_key="none"))
    return Agent(model, tools=[weather])


def whole(name):
    return agent(name).run_sync(QUESTION).output


def streamed(name):
    async def events(_, stream):
        async for _ in stream:
            pass

    async def run():
        return (await agent(name).run(QUESTION, event_stream_handler=events)).output

    return asyncio.run(run())


check({"whole": whole, "stream": streamed})
