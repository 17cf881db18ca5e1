"use strict";
const at = (id) => document.getElementById(id);
const base = location.origin;
const key = () => at("key").value || "none";
const model = () => at("model").value || "MODEL";
const json = (value) => JSON.stringify(value, null, 2);

function element(tag, text, parent) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent.append(made);
  return made;
}

// What an answer holds; an error says what came in its place.
async function read(answer) {
  const text = await answer.text();
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error(`status ${answer.status}: ${text.slice(0, 200) || "an empty answer"}`);
  }
  if (!answer.ok) throw new Error(found.error?.message || `status ${answer.status}`);
  return found;
}

async function models() {
  const headers = at("key").value ? { authorization: `Bearer ${at("key").value}` } : {};
  const state = at("state");
  try {
    const answer = await fetch("/v1/models", { headers });
    at("locked").hidden = answer.status !== 401 && !at("key").value;
    const list = await read(answer);
    at("model").replaceChildren(...(list.data || []).map(({ id }) => new Option(id)));
    state.textContent = `The endpoint answers. Models: ${at("model").length}.`;
    state.className = "";
  } catch (error) {
    state.textContent = `No list of models: ${error.message}`;
    state.className = "failed";
  }
  programs();
}

// As one word of a shell: a model's name may hold anything.
const word = (text) => (/^[\w.:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// Each program's name, how its settings are written, and what to set.
const PROGRAMS = [
  ["Claude Code", () => `export ANTHROPIC_BASE_URL=${base}\nexport ANTHROPIC_AUTH_TOKEN=${word(key())}\nexport ANTHROPIC_MODEL=${word(model())}\nexport ANTHROPIC_SMALL_FAST_MODEL=${word(model())}\nclaude`],
  ["Codex (~/.codex/config.toml)", () => `model = ${json(model())}\nmodel_provider = "toolgraft"\n\n[model_providers.toolgraft]\nname = "toolgraft"\nbase_url = "${base}/v1"\nwire_api = "responses"`],
  ["Gemini CLI", () => `export GEMINI_API_KEY=${word(key())}\nexport GOOGLE_GEMINI_BASE_URL=${base}\ngemini -m ${word(model())}`],
  ["opencode (opencode.json)", () => json({ $schema: "https://opencode.ai/config.json", model: `toolgraft/${model()}`, provider: { toolgraft: { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${base}/v1`, apiKey: key() }, models: { [model()]: { tool_call: true } } } } })],
  ["Qwen Code", () => `export OPENAI_BASE_URL=${base}/v1\nexport OPENAI_API_KEY=${word(key())}\nexport OPENAI_MODEL=${word(model())}\nqwen`],
  ["Cline", () => `cline auth -p openai -b ${base}/v1 -k ${word(key())} -m ${word(model())}`],
  ["Continue (config.yaml)", () => `models:\n  - name: toolgraft\n    provider: openai\n    model: ${json(model())}\n    apiBase: ${base}/v1\n    apiKey: ${json(key())}\n    capabilities: [tool_use]\n    roles: [chat, edit]`],
  ["Other programs, OpenAI's clients", () => `export OPENAI_BASE_URL=${base}/v1\nexport OPENAI_API_KEY=${word(key())}`],
];

function programs() {
  const open = [...at("programs").querySelectorAll("details")].map((program) => program.open);
  at("programs").replaceChildren();
  PROGRAMS.forEach(([name, text], number) => {
    const program = element("details", "", at("programs"));
    program.open = Boolean(open[number]);
    element("summary", name, program);
    const settings = element("pre", text(), program);
    const copy = element("button", "Copy", program);
    copy.type = "button";
    copy.setAttribute("aria-description", `the settings of ${name}`);
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        copy.textContent = "Copied";
      } catch {
        // A page that came unencrypted from another machine may not write to the clipboard.
        getSelection().selectAllChildren(settings);
        copy.textContent = "Selected: press Ctrl+C";
      }
    });
  });
}

const TOOL = { type: "function", function: { name: "get_time", description: "The time now in a time zone.", parameters: { type: "object", properties: { zone: { type: "string", description: "IANA name, such as Europe/Oslo" } }, required: ["zone"] } } };

function time(text) {
  try {
    return new Date().toLocaleString("en-GB", { timeZone: JSON.parse(text).zone });
  } catch (error) {
    return `Error: ${error.message}`;
  }
}

function tell(title, text, failed) {
  const step = element("li", title, at("happened"));
  if (text) element("pre", text, step);
  if (failed) step.className = "failed";
}

async function round(messages) {
  const headers = { "content-type": "application/json" };
  if (at("key").value) headers.authorization = `Bearer ${at("key").value}`;
  const body = JSON.stringify({ model: at("model").value, messages, tools: [TOOL], stream: false });
  const answer = await fetch("/v1/chat/completions", { method: "POST", headers, body });
  const { choices } = await read(answer);
  const rounds = answer.headers.get("x-toolgraft-rounds");
  return { message: choices[0].message, rounds };
}

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = at("ask").querySelector("button");
  button.disabled = true;
  at("happened").replaceChildren();
  const messages = [{ role: "user", content: at("question").value }];
  try {
    for (let more = 4; more > 0; more -= 1) {
      const { message, rounds } = await round(messages);
      messages.push(message);
      const calls = message.tool_calls || [];
      if (calls.length === 0) {
        tell(`The model answers (requests to the endpoint: ${rounds})`, message.content);
        return;
      }
      for (const { id, function: { name, arguments: text } } of calls) {
        tell(`The model calls ${name} (requests to the endpoint: ${rounds})`, text);
        const result = time(text);
        tell("This page runs it", result);
        messages.push({ role: "tool", tool_call_id: id, content: result });
      }
    }
    tell("The model calls again and again: the page stops here", "", true);
  } catch (error) {
    tell("It failed", error.message, true);
  } finally {
    button.disabled = false;
  }
});
at("settings").addEventListener("submit", (event) => event.preventDefault());
at("model").addEventListener("change", programs);
at("key").addEventListener("change", models);
at("base").textContent = `${base}/v1`;
models();
