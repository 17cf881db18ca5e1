"""A smolagents agent with tools for files: asks it the question of the command line."""

import os
import sys

import functions
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

model = OpenAIServerModel("scripted", api_base=os.environ["OPENAI_BASE_URL"], api_key="none")
tools = [tool(one) for one in (functions.read_file, functions.write_file, functions.edit_file)]
agent = ToolCallingAgent(tools=tools, model=model, max_steps=60, verbosity_level=1)
print(agent.run(sys.argv[1]))
