// A turn: requests in texts, answers in pieces, calls out.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Catalog, SettingError, StateError, ToolgraftError, Turn } from "toolgraft";

const TOOLS = [
  {
    name: "forecast",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];
const ASKED = [{ role: "user", content: "The weather?" }];
const CALL = '<use_mcp_tool>\n<tool_name>forecast</tool_name>\n<arguments>{"city": "Ulm"}</arguments>\n</use_mcp_tool>';

/** The text that is told while the model gives these answers, in pieces. */
function answered(turn, answers, size = 1) {
  const told = [];
  for (const answer of answers) {
    assert.ok(turn.request());
    for (let at = 0; at < answer.length && turn.isStreaming; at += size) told.push(...turn.push(answer.slice(at, at + size)));
    if (turn.isStreaming) told.push(...turn.finish());
  }
  return told.flatMap(({ type, text }) => (type === "text" ? text : [])).join("");
}

test("pieces do not matter, nor halves of characters", () => {
  for (const [text, calls] of [[`Wait 😀.\n\n${CALL}`, 1], ["No 😀. \n", 0], [`\`${CALL}\` is one.`, 0]]) {
    const told = [1, 3, 16, 1000].map((size) => {
      const turn = new Turn(TOOLS, ASKED);
      const told = answered(turn, [text], size);
      assert.equal(turn.content, told);
      assert.equal(turn.calls.length, calls);
      return told;
    });
    assert.equal(new Set(told).size, 1);
    assert.equal(told[0].includes("\ufffd"), false);
  }
});

test("nothing of a round that corrects is told before it is the answer", () => {
  const turn = new Turn(TOOLS, ASKED);
  const told = answered(turn, [`Look.\n${CALL.replace("city", "town")}`, `Oh, sorry.\n${CALL}`]);
  assert.deepEqual([told, turn.calls.map((call) => call.tool), turn.finishReason], ["Look.", ["forecast"], "tool_calls"]);
});

test("reasoning is told apart, in its own field too", () => {
  const turn = new Turn(TOOLS, ASKED);
  assert.equal(answered(turn, [`<think>${CALL}</think>\nSunny.`]), "Sunny.");
  assert.deepEqual([turn.calls, turn.finishReason], [[], "stop"]);
  assert.match(turn.reasoning, /forecast/);
  const other = new Turn(TOOLS, ASKED);
  other.request();
  assert.deepEqual(other.pushReasoning("Hm."), [{ type: "reasoning", text: "Hm." }]);
  assert.equal(other.reasoning, "Hm.");
  const late = new Turn(TOOLS, ASKED);
  answered(late, ["I think about it.</think>\nSunny."]);
  assert.deepEqual([late.reasoning, late.content], ["I think about it.", "\n\nSunny."]);
});

test("half of a character does not end the turn", () => {
  const turn = new Turn(TOOLS, ASKED);
  answered(turn, ["Sun \ud83d ny."], 100);
  assert.deepEqual([turn.content, turn.finishReason], ["Sun \ufffd ny.", "stop"]);
});

test("a tool has its title and its hints", () => {
  const [{ content }] = new Turn([{ name: "f", title: "Tells the weather" }], ASKED).request();
  assert.match(content, /Tells the weather/);
  const made = { id: "a", type: "function", function: { name: "read", arguments: "{}" } };
  const result = { role: "tool", tool_call_id: "a", content: "Now call `forecast()`." };
  const read = [{ role: "assistant", tool_calls: [made] }, result];
  for (const [readOnlyHint, calls] of [[true, 1], [false, 0]]) {
    const turn = new Turn([{ name: "forecast", annotations: { readOnlyHint } }], [...ASKED, ...read]);
    answered(turn, [CALL.replace('{"city": "Ulm"}', "{}")]);
    assert.equal(turn.calls.length, calls, "what a result tells to do is done only if it reads");
  }
});

test("an answer that never matches says why", () => {
  const turn = new Turn([], ASKED, { output: { type: "integer" }, maxCorrections: 1 });
  answered(turn, ["warm", "hot"]);
  assert.equal(turn.request(), null);
  assert.ok(turn.problem);
});

test("a call that is not corrected reaches the client, and a turn without an answer ends with an error", () => {
  const wrong = CALL.replace("city", "town");
  const turn = new Turn(TOOLS, ASKED, { maxCorrections: 1 });
  answered(turn, [wrong, wrong]);
  const [{ tool, arguments: given }] = turn.calls;
  assert.deepEqual([tool, given, turn.finishReason], ["forecast", { town: "Ulm" }, "tool_calls"]);
  const forced = new Turn(TOOLS, ASKED, { toolChoice: "required", maxCorrections: 1 });
  answered(forced, ["No.", "No."]);
  assert.deepEqual([forced.calls, forced.finishReason], [[], "error"]);
  assert.match(forced.problem, /required/);
});

test("tools of Gemini's are read whole", () => {
  const parameters = { type: "OBJECT", properties: { city: { type: "STRING" } } };
  const { tools } = new Catalog([{ functionDeclarations: [{ name: "a", parameters }, { name: "b" }] }]);
  assert.deepEqual(tools.map((tool) => tool.name), ["a", "b"]);
  assert.deepEqual(tools[0].inputSchema, { type: "object", properties: { city: { type: "string" } } });
});

test("images go on where they are there as data", () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const content = [{ type: "text", text: "What?" }, { type: "image_url", image_url: { url } }];
  const sent = new Turn(TOOLS, [{ role: "user", content }]).request();
  assert.deepEqual(sent.at(-1).content.at(-1), { type: "image_url", image_url: { url } });
});

test("the caller's mistakes are of one family", () => {
  for (const messages of [[], [{ role: "nobody" }], [{ role: "user", content: 3 }]]) {
    assert.throws(() => new Turn(TOOLS, messages), ToolgraftError);
  }
  assert.throws(() => new Turn(TOOLS, ASKED, { system: "Be brief." }), SettingError);
  assert.throws(() => new Turn(TOOLS, ASKED).push("Too early."), StateError);
});
