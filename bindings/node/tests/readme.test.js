// The README's examples run, each in a process of its own.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { promisify } from "node:util";

const HERE = new URL(".", import.meta.url);
const EXAMPLES = [...readFileSync(new URL("../README.md", HERE), "utf8").matchAll(/^```js\n([^]*?)^```/gm)];

const CALL = '<use_mcp_tool>\n<tool_name>forecast</tool_name>\n<arguments>{"city": "Ulm"}</arguments>\n</use_mcp_tool>';

/** An endpoint that answers with a call, and then with words; it refuses a request that names tools. */
async function endpoint() {
  const answers = [CALL, "It is sunny."];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (body.tools || body.response_format || !answers.length) return response.writeHead(400).end("{}");
    const message = { role: "assistant", content: answers.shift() };
    const answer = { id: "1", created: 1, model: body.model, choices: [{ index: 0, message, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

test("the README has examples of everything", () => assert.ok(EXAMPLES.length >= 5));

for (const [, example] of EXAMPLES) {
  test(/import .* from "toolgraft.*/.exec(example)[0], async () => {
    const { url, close } = await endpoint();
    try {
      const run = [process.execPath, ["--input-type=module", "--eval", example]];
      await promisify(execFile)(...run, { cwd: HERE, env: { ...process.env, MODEL_URL: url } });
    } finally {
      close();
    }
  });
}
