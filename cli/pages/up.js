"use strict";
const at = (id) => document.getElementById(id);
const narrow = matchMedia("(max-width: 48rem)");
let chat = location.hash.slice(1);
let busy = false;
let talksTo = "";
let names = [];
const LOST = "The connection is lost: does `toolgraft up` still run?";
const REFUSED = "This window is not let in any more: open the address that `toolgraft up` printed last.";
// What this page was given once, with the key to all that it asks for. No cookie: a browser sends those to
// every port of this machine. The tab's own history keeps it for when the page is loaded again.
let key = document.body.dataset.key || history.state?.key || "";
document.body.removeAttribute("data-key");
// Ends what is told of the conversation that is left.
let looking;
// The question that waits for its answer and its files, in case that it is to be asked again.
let [asked, sent] = ["", []];
// What was pasted into it.
let pasted = [];
// The files that go with it, each with its name and its bytes in base64.
let files = [];
// The question that is edited: its place, and its words as they were.
let editing;
// The title that the conversation was given, and its system text.
let [title, system] = [null, null];
// Whether the end of the conversation is followed, and where it was scrolled to.
let [follows, scrolled] = [true, 0];
// Bytes of all files of a question.
const MOST = 40e6;
// The elements of the round that goes on, and the boxes of calls by id.
let round = {};
let calls = new Map();

const keep = (hash) => history.replaceState({ key }, "", location.pathname + hash);
const ask = (path, set = {}) => fetch(path, { ...set, headers: { "toolgraft-page": key, ...set.headers } });

function element(tag, set, ...children) {
  const made = Object.assign(document.createElement(tag), set);
  made.append(...children);
  return made;
}

function add(made) {
  at("said").append(made);
  return made;
}

const distance = () => at("said").scrollHeight - at("said").scrollTop - at("said").clientHeight;

// Goes to the end, unless somebody has scrolled up.
function follow() {
  if (follows) at("said").scrollTop = at("said").scrollHeight;
}

const small = (label, name, onclick) => element("button", { type: "button", className: "small", textContent: label, ariaLabel: name, onclick });
const picture = (of, n, alt) => element("img", { src: `/picture?chat=${chat}&call=${encodeURIComponent(of)}&n=${n}`, alt, onload: follow });

// Asks in a dialog, with a box for text where there is a value; the text or true, and undefined where it is left.
function asked_for({ title: heading, text: content, label, value, rows, go, isBad }) {
  return new Promise((tell) => {
    const box = rows ? element("textarea", { id: "value", rows, value }) : element("input", { id: "value", value, autocomplete: "off" });
    const hasBox = value !== undefined;
    const form = element("form", { method: "dialog" }, element("h2", { id: "heading", textContent: heading }));
    if (content) form.append(element("p", { textContent: content }));
    if (hasBox) form.append(element("label", { htmlFor: "value", textContent: label }), box);
    const leave = element("button", { type: "button", textContent: "Cancel", onclick: () => made.close() });
    form.append(element("div", { className: "choice" }, element("button", { className: isBad ? "stop" : "go", textContent: go }), leave));
    const made = element("dialog", {}, form);
    made.setAttribute("aria-labelledby", "heading");
    let answer;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = hasBox ? box.value : true;
      made.close();
    });
    made.addEventListener("close", () => { made.remove(); tell(answer); });
    document.body.append(made);
    made.showModal();
    if (isBad) leave.focus();
  });
}

// The element of a step. The server escapes each text in it, and the page's policy runs no script but this one.
const grown = (html) => element("template", { innerHTML: html }).content.firstElementChild;
// An empty element to which text is added while it is written.
const begun = (name) => add(at(name).content.firstElementChild.cloneNode(true));
const grow = (made, content) => { made.querySelector(".text").textContent += content; };
const pictures = ({ call, pictures: count }, alt) => Array.from({ length: count }, (_, n) => picture(call, n, alt));

// A text in pieces of which each is on screen or not; in a diff with their kind.
const pieces = (content) => content.split("\n").flatMap((line, number) => {
  const kind = { "- ": "goes", "+ ": "comes" }[line.slice(0, 2)] ?? "";
  const parts = line.match(/.{1,60}/gsu) ?? [];
  return [...(number ? ["\n"] : []), ...parts.map((part) => element("span", { className: kind, textContent: part }))];
});

// Marks pieces as parts of a question that nobody has seen yet.
function unseen(parts) {
  parts.forEach((part) => part.classList?.add("unseen"));
  return parts;
}

// Whether all of a piece is on screen: nothing has scrolled it away, and nothing lies on it.
function isOnScreen(piece) {
  const isThere = (x, y) => piece.parentElement.contains(document.elementFromPoint(x, y));
  const rows = [...piece.getClientRects()];
  return rows.length > 0 && rows.every(({ left, top, bottom }) => isThere(left + 1, top + 2) && isThere(left + 1, bottom - 2));
}

// Calls back once every part of a question was on screen.
function watch(made, done) {
  const look = () => {
    if (!made.isConnected || !made.querySelector(".choice")) return end();
    for (const piece of made.querySelectorAll(".unseen:not(.fold)")) {
      if (document.visibilityState !== "visible" || piece.getBoundingClientRect().top > innerHeight) break;
      if (isOnScreen(piece)) piece.classList.remove("unseen");
    }
    if (made.querySelector(".unseen")) return;
    end();
    done();
  };
  const end = () => {
    clearInterval(every);
    removeEventListener("scroll", look, true);
  };
  const every = setInterval(look, 200);
  addEventListener("scroll", look, true);
  look();
}

function closed(call) {
  const made = calls.get(call);
  made?.querySelector(".choice")?.remove();
  made?.classList.remove("open");
}

function spoken(content) {
  round.text ??= begun("spoken");
  grow(round.text, content);
}

function thought(content) {
  round.thought ??= begun("thought");
  grow(round.thought, content);
}

const STEPS = {
  state(step) {
    chat = step.chat;
    keep(`#${chat}`);
    STEPS.model(step);
    document.title = "toolgraft";
    at("said").replaceChildren();
    [round, calls] = [{}, new Map()];
    wait("");
    if (step.note) STEPS.note({ text: step.note });
    step.steps.forEach(take);
    if (!at("said").firstChild) add(element("p", { className: "note", id: "begin", textContent: "Ask something. The model can use the tools that are switched on." }));
    follows = true;
    working(step.busy);
    const edited = editing && at("said").querySelectorAll(".user")[editing.at];
    if (editing && edited?.words !== editing.was) edit();
    at("timeline").href = `/timeline?chat=${chat}`;
    at("share").href = `/share?chat=${chat}`;
    at("ways").hidden = !step.steps.length;
    list();
  },
  model(step) {
    at("about").textContent = step.about;
    [talksTo, title, system] = [step.model, step.title, step.system];
    named(step.model);
  },
  user(step) {
    at("begin")?.remove();
    at("ways").hidden = false;
    round = {};
    const made = grown(step.html);
    const place = at("said").querySelectorAll(".user").length;
    made.words = step.raw ?? step.text;
    made.firstChild.append(small("Edit", `Edit question ${place + 1}`, () => edit(place, made.words)));
    made.append(...pictures(step, "A picture of the question"));
    add(made);
    working(true);
  },
  round() { round = {}; },
  text(step) { spoken(step.text); },
  reasoning(step) { thought(step.text); },
  switch(step) {
    round.text?.remove();
    round.thought?.remove();
    round = {};
    if (step.reasoning) thought(step.reasoning);
    if (step.text) spoken(step.text);
  },
  answer(step) {
    const made = grown(step.html);
    made.append(small("Copy", "Copy this answer", () => copied(step.text)));
    if (round.text) round.text.replaceWith(made);
    else add(made);
    // What is said after it is no part of it.
    round.text = undefined;
  },
  call(step) { calls.set(step.call, add(grown(step.html))); },
  ask(step) {
    const made = calls.get(step.call);
    made.classList.add("open");
    made.tabIndex = -1;
    made.querySelectorAll(":scope > pre, :scope > details").forEach((old) => old.remove());
    const [head, hidden, tail] = step.body;
    const shown = element("pre", { dir: "ltr" }, ...unseen(pieces(head)));
    const fold = element("button", { type: "button", className: "fold unseen", textContent: step.more, onclick: () => fold.replaceWith(...unseen(pieces(hidden))) });
    if (hidden) shown.append(fold, ...unseen(pieces(tail)));
    made.append(shown);
    const reason = element("input", { id: `reason-${step.call}`, autocomplete: "off" });
    const say = (answer) => post("/answer", { chat, call: step.call, definition: step.definition, answer, reason: reason.value });
    const button = (label, answer, set) => element("button", { type: "button", textContent: label, onclick: () => say(answer), ...set });
    reason.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.isComposing) say("no"); });
    // What was not on screen is not what somebody says yes to.
    const runs = [button("Run once", "once", { className: "go", disabled: true })];
    if (!step.once) runs.push(button("Always in this conversation", "always", { disabled: true }));
    const next = () => {
      if (made.querySelector(".unseen") === fold) fold.click();
      made.querySelector(".unseen")?.scrollIntoView({ block: "start" });
    };
    const rest = element("div", { className: "rest" }, element("p", { textContent: "It can run once all of it was on screen." }), element("button", { type: "button", textContent: "Show the next part", onclick: next }));
    const choice = element("div", { className: "choice" }, element("p", {}, ...unseen(pieces(`${step.title} ${step.why}`))), rest, ...runs);
    choice.append(element("div", {}, element("label", { htmlFor: reason.id, textContent: "Why not? The model is told." }), reason), button("Do not run", "no"));
    made.append(choice);
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", step.title);
    if (made.offsetHeight <= at("said").clientHeight) follows = true;
    else if (follows) {
      follows = false;
      made.scrollIntoView({ block: "start" });
    }
    document.title = `? ${step.title}`;
    // Nobody who writes is interrupted, and no key runs a call by chance.
    if ([document.body, at("question")].includes(document.activeElement) && !at("question").value) made.focus({ preventScroll: true });
    watch(made, () => {
      const had = rest.contains(document.activeElement);
      rest.remove();
      runs.forEach((run) => { run.disabled = false; });
      if (had) made.focus({ preventScroll: true });
    });
  },
  input(step) {
    const made = element("form", { className: "block open input", tabIndex: -1 }, element("p", { className: "label" }, element("b", { textContent: step.title })), element("div", { className: "text", dir: "auto", textContent: step.text }));
    if (step.warning) made.append(element("p", { className: "bad", textContent: step.warning }));
    if (step.url) made.append(element("p", {}, element("a", { href: step.url, target: "_blank", rel: "noopener noreferrer", textContent: step.url })));
    const fields = step.fields.map(({ name, label, help, choices }, n) => {
      const id = `input-${step.input}-${n}`;
      const options = ["", ...choices].map((choice) => element("option", { value: choice && choice[0], textContent: choice && choice[1] }));
      const input = choices.length ? element("select", { id }, ...options) : element("input", { id, autocomplete: "off" });
      made.append(element("div", {}, element("label", { htmlFor: id, textContent: label }), input));
      if (help) {
        input.setAttribute("aria-describedby", `${id}-help`);
        input.after(element("p", { className: "help", id: `${id}-help`, textContent: help, dir: "auto" }));
      }
      return [name, input];
    });
    const wrong = element("p", { className: "wrong", role: "alert" });
    const say = async (values) => { wrong.textContent = (await post("/input", { input: step.input, values }))?.wrong ?? ""; };
    const decline = element("button", { type: "button", textContent: "Decline", onclick: () => say(null) });
    made.append(wrong, element("div", { className: "choice" }, element("button", { className: "go", textContent: step.url ? "I open it" : "Send" }), decline));
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      say(Object.fromEntries(fields.map(([name, input]) => [name, input.value])));
    });
    calls.set(step.input, add(made));
    follows = true;
    follow();
    if ([document.body, at("question")].includes(document.activeElement) && !at("question").value) made.focus();
  },
  "input-over"(step) {
    const had = calls.get(step.input)?.contains(document.activeElement);
    calls.get(step.input)?.remove();
    calls.delete(step.input);
    if (had) at("question").focus();
  },
  answered(step) {
    document.title = "toolgraft";
    const had = calls.get(step.call)?.contains(document.activeElement);
    closed(step.call);
    if (had) at("question").focus();
  },
  outcome(step) {
    closed(step.call);
    const made = grown(step.html);
    made.append(...pictures(step, "A picture of the result"));
    if (calls.has(step.call)) calls.get(step.call).after(made);
    else add(made);
  },
  rejected(step) { add(grown(step.html)); },
  note(step) { add(element("p", { className: "note", textContent: step.text })); },
  wait(step) { wait(step.text); },
  end(step) {
    document.title = "toolgraft";
    calls.forEach((_, call) => closed(call));
    wait("");
    if (step.stopped) STEPS.note({ text: step.stopped });
    if (step.again && !at("question").value && !files.length) {
      at("question").value = asked;
      files = sent;
      attached();
    }
    [asked, sent] = ["", []];
    working(false);
    list();
  },
  gone() { look(""); },
  list() { list(); },
  tools() { if (isShown("tools")) tools(); },
};

function take(step) {
  STEPS[step?.step]?.(step);
  follow();
}
function wait(content) { at("wait").textContent = content; }

function working(is) {
  busy = is;
  at("said").setAttribute("aria-busy", is);
  at("send").hidden = is;
  at("stop").hidden = !is;
  at("last").hidden = is || !at("said").querySelector(".user");
  for (const each of [...at("said").querySelectorAll(".user .small"), at("system"), at("rename"), at("delete")]) each.disabled = is;
}

// What a conversation is told, line by line, until another one is looked at or the connection is lost.
async function* told(which, signal) {
  const answer = await ask(`/events?chat=${encodeURIComponent(which)}`, { signal });
  if (!answer.ok) throw new Error([401, 403].includes(answer.status) ? REFUSED : (await answer.json()).error);
  const [reader, decoder] = [answer.body.getReader(), new TextDecoder()];
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop();
    yield* lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  }
}

async function look(which) {
  looking?.abort();
  const mine = (looking = new AbortController());
  while (!mine.signal.aborted) {
    try {
      for await (const step of told(which, mine.signal)) if (!mine.signal.aborted) take(JSON.parse(step));
      wait(LOST);
    } catch (error) {
      if (mine.signal.aborted) return;
      wait(error instanceof TypeError ? LOST : error.message);
      if (!(error instanceof TypeError)) return;
    }
    which = chat;
    await new Promise((again) => { setTimeout(again, 1000); });
  }
}

async function post(path, message) {
  try {
    const answer = await ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) });
    const read = await answer.json();
    if (!answer.ok) throw new Error(read.error);
    return read;
  } catch (error) {
    wait(error instanceof TypeError ? LOST : error.message);
    return undefined;
  }
}

async function send() {
  const question = at("question").value.trim();
  if ((!question && !files.length) || busy) return;
  [asked, sent] = [question, files];
  at("question").value = "";
  [files, follows] = [[], true];
  attached();
  working(true);
  if ((await post("/ask", { chat, text: question, pasted, files: sent, question: editing?.at })) === undefined) {
    at("question").value = question;
    files = sent;
    attached();
    working(false);
  } else {
    pasted = [];
    edit();
  }
}

async function retry() {
  working(true);
  if ((await post("/retry", { chat })) === undefined) working(false);
}

async function undo() {
  const taken = await post("/undo", { chat });
  if (taken && !at("question").value) at("question").value = taken.text;
  if (taken) at("question").focus();
}

// Edits the question at this place, or none any more.
function edit(place, words) {
  const wasEdited = editing;
  editing = words === undefined ? undefined : { at: place, was: words };
  at("editing").hidden = !editing;
  if (editing) at("question").value = words;
  else if (wasEdited && at("question").value === wasEdited.was) at("question").value = "";
  if (editing || wasEdited) at("question").focus();
}

async function copied(content) {
  try {
    await navigator.clipboard.writeText(content);
    wait("The answer is copied.");
  } catch {
    wait("The browser does not let this page copy: select the answer instead.");
  }
}

// Takes files for the next question; one of the same name takes the other's place.
async function take_files(list) {
  for (const file of list) {
    const bytes = files.filter(({ name }) => name !== file.name).reduce((sum, { data }) => sum + data.length * 0.75, file.size);
    if (bytes > MOST) {
      wait(`${file.name}: all files of a question together can have ${MOST / 1e6} MB`);
      continue;
    }
    const data = await new Promise((tell) => {
      const reader = new FileReader();
      reader.onload = () => tell(reader.result.split(",")[1] ?? "");
      reader.onerror = () => tell(undefined);
      reader.readAsDataURL(file);
    });
    if (data === undefined) wait(`${file.name} cannot be read`);
    else files = [...files.filter(({ name }) => name !== file.name), { name: file.name, data }];
  }
  attached();
}

function attached() {
  const entry = ({ name }) => {
    const drop = small("Remove", `Remove ${name}`, () => {
      files = files.filter((file) => file.name !== name);
      attached();
      at("attach").focus();
    });
    return element("li", {}, element("span", { textContent: name, dir: "auto" }), drop);
  };
  at("attached").replaceChildren(...files.map(entry));
  at("attached").hidden = !files.length;
}

async function rename() {
  const value = title ?? at("said").querySelector(".user")?.words.replace(/\s+/g, " ").slice(0, 100) ?? "";
  const given = await asked_for({ title: "Rename this conversation", label: "Title; without one it is the first question", value, go: "Rename" });
  if (given !== undefined) post("/rename", { chat, title: given });
}

async function forget() {
  const agreed = await asked_for({ title: "Delete this conversation?", text: "It is deleted for good, in all windows.", go: "Delete", isBad: true });
  if (agreed) post("/delete", { chat });
}

async function teach() {
  const text = "Your own text comes before what the model is told of the tools. It holds for this conversation and the next ones in the folder where toolgraft was started.";
  const given = await asked_for({ title: "System text", text, label: "System text", value: system ?? "", rows: 6, go: "Save" });
  if (given !== undefined) post("/set", { chat, key: "system", value: given });
}

// The choice of a model; the one that is talked to may be in no list.
function named(model) {
  const all = [...new Set(names.includes(model) ? names : [model, ...names])];
  at("model").replaceChildren(...all.map((name) => element("option", { value: name, textContent: name })));
  at("model").value = model;
}

async function models() {
  const answer = await ask("/models").then((answer) => answer.json()).catch(() => ({}));
  names = answer.models ?? [];
  named(talksTo);
}

async function choose() {
  wait("");
  if ((await post("/model", { chat, model: at("model").value })) !== undefined) return;
  // The model is what it was.
  named(talksTo);
}

const stop = () => post("/stop", { chat });

let searches = 0;
async function list() {
  const mine = (searches += 1);
  const answer = await ask(`/chats?q=${encodeURIComponent(at("search").value)}`).then((answer) => answer.json()).catch(() => ({ chats: [] }));
  if (mine !== searches) return;
  const entry = ({ chat: id, title, age, model, hit }) => {
    const link = element("a", { href: `#${id}`, textContent: title, dir: "auto" }, element("span", { className: "meta", textContent: [age, model].filter(Boolean).join(" · ") }));
    if (hit) link.append(element("span", { className: "meta", textContent: `… ${hit}` }));
    if (id === chat) link.setAttribute("aria-current", "page");
    return element("li", {}, link);
  };
  const found = (answer.chats ?? []).map(entry);
  at("found").replaceChildren(...(found.length ? found : [element("li", { className: "note", textContent: "No conversation here." })]));
}

async function tools() {
  switched(await ask("/tools").then((answer) => answer.json()).catch(() => ({ servers: [] })));
}

function switched({ servers }) {
  const focused = at("tools").contains(document.activeElement) ? document.activeElement.dataset.of : undefined;
  const check = (label, on, message) => {
    const input = element("input", { type: "checkbox", checked: on });
    input.addEventListener("change", async () => {
      const answer = await post("/switch", { ...message, on: input.checked });
      if (answer) switched(answer);
      else input.checked = on;
    });
    input.dataset.of = JSON.stringify(message);
    return element("label", { className: "switch" }, input, label);
  };
  const of = (server) => element("fieldset", { className: "server" },
    check(element("b", { textContent: server.name }), server.state !== "disabled", { server: server.name }),
    ...(server.error ? [element("p", { className: "meta", textContent: server.error })] : []),
    ...server.tools.map((tool) => check(element("span", { className: "name", textContent: tool.shown ?? tool.name }), tool.on, { server: server.name, tool: tool.name })));
  at("tools").replaceChildren(...(servers.length ? servers.map(of) : [element("p", { className: "note", textContent: "No MCP servers are configured." })]));
  if (focused) at("tools").querySelector(`[data-of="${CSS.escape(focused)}"]`)?.focus();
}

async function panel(name, show) {
  at(`to-${name}`).setAttribute("aria-expanded", show);
  if (name === "chats") at(name).classList.toggle("shown", show);
  else at(name).hidden = !show;
  if (show && narrow.matches) panel(name === "chats" ? "tools" : "chats", false);
  if (show && name === "tools") await tools();
  if (show) at(name).querySelector("input, a")?.focus();
}

const isShown = (name) => at(`to-${name}`).getAttribute("aria-expanded") === "true";
for (const name of ["chats", "tools"]) at(`to-${name}`).addEventListener("click", () => panel(name, !isShown(name)));
at("ask").addEventListener("submit", (event) => { event.preventDefault(); send(); });
at("stop").addEventListener("click", stop);
at("model").addEventListener("change", choose);
for (const [name, act] of Object.entries({ retry, undo, rename, delete: forget, system: teach })) at(name).addEventListener("click", act);
at("leave").addEventListener("click", () => edit());
at("attach").addEventListener("click", () => at("files").click());
at("files").addEventListener("change", async () => {
  await take_files([...at("files").files]);
  at("files").value = "";
});
at("said").addEventListener("scroll", () => {
  // What is added below does not scroll: whoever goes up has scrolled.
  if (at("said").scrollTop < scrolled - 1) follows = false;
  if (distance() < 80) follows = true;
  scrolled = at("said").scrollTop;
});
at("search").addEventListener("input", list);
at("new").addEventListener("click", () => { look(""); at("question").focus(); });
at("found").addEventListener("click", (event) => { if (event.target.closest("a")) panel("chats", false); });
at("question").addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain");
  if (text) pasted.push(text.replace(/\r\n?/g, "\n"));
  else take_files([...(event.clipboardData?.files ?? [])]);
});
at("question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const open = ["chats", "tools"].find((name) => isShown(name) && at(name).contains(document.activeElement));
  if (open) {
    panel(open, false);
    at(`to-${open}`).focus();
  } else if (document.querySelector("dialog")) {
    // It is the dialog's.
  } else if (busy) stop();
  else if (editing) edit();
});
addEventListener("hashchange", () => {
  const wanted = location.hash.slice(1);
  // The link to the message box is one too.
  if (wanted === "question") return keep(`#${chat}`);
  if (wanted !== chat) look(wanted);
});
// Another window of this page may have the key, where this one was opened by a link.
const windows = new BroadcastChannel("toolgraft");
windows.onmessage = ({ data }) => {
  if (data.wanted && key) windows.postMessage({ key });
  else if (data.key && !key) begin(data.key);
};
function begin(given) {
  key = given;
  keep(location.hash);
  look(chat);
  models();
}
if (key) begin(key);
else {
  wait(REFUSED);
  windows.postMessage({ wanted: true });
}
at("question").focus();
