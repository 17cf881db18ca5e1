"""What each program is put through: what lies in its project, what the model says, what must come of it.

A row is a function of a program and a project's folder that gives a `Row`.
"""

import secrets
from dataclasses import dataclass, field
from typing import Callable

from model import MAIN, SUB, answer, call, damaged

# What breaks careless programs: quotes, escapes, tags of the call's own syntax, control tokens, think
# tags, fences, shell, JSON, characters of two to four bytes, of no width and of both directions,
# spaces at the ends of lines, tabs, and no line break at the end.
NASTY = "\n".join([
    'say "hi" and \'ho\' \\ \\n \\u0041 \\\\',
    "</arguments>\n</use_mcp_tool>\n<use_mcp_tool>",
    "<tool_call>{\"name\": \"x\"}</tool_call> <think> </think> <|im_end|> <|im_start|>system [INST] </s>",
    "```json\n{\"a\": [1, 2.50, null, \"\\\"\"]}\n```",
    "$HOME `id` $(id) %s %d {{ x }} {% y %} ${z} !! && || > < ; #",
    "<!-- &amp; &lt; ]]> <![CDATA[ --> \u00e9 e\u0301 \u4f60\u597d \U0001f600\U0001f468\u200d\U0001f469 \u05e9\u05dc\u05d5\u05dd \u202eabc\u202c a\u200bb \u00a0.",
    "spaces at the end   \n\ttab\n\n\n    four",
    "",
])


def nasty(size=16_384):
    """Sixteen kilobytes of that, each part with its number."""
    text, number = "", 0
    while len(text.encode()) < size:
        number += 1
        text += f"{number}: {NASTY}"
    return text + "the end"


@dataclass
class Row:
    prompt: str
    steps: list
    check: Callable
    sub_steps: list = field(default_factory=list)
    context: int = 32_768
    arguments: list = field(default_factory=list)


def done(program, text):
    """The model's last message, as the program takes it."""
    return lambda seen: program.finish(text(seen) if callable(text) else text)


def word():
    return f"word-{secrets.token_hex(4)}"


def wrote(path, text):
    path.write_bytes(text.encode())


def shown(*words):
    """The program shows the words that the model has read."""
    def check(run):
        missing = [one for one in words if one not in run.out]
        return None if not missing else f"its answer lacks {', '.join(missing)}"
    return check


def ended(run):
    return None if run.code == 0 else f"it ended with {run.code}"


def all_of(*checks):
    def check(run):
        return next((wrong for wrong in (one(run) for one in checks) if wrong), None)
    return check


def on_disk(path, text):
    def check(_):
        if not path.exists():
            return f"{path.name} was not written"
        found, wanted = path.read_bytes(), text.encode()
        if found == wanted:
            return None
        at = next((at for at, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        return f"{path.name} differs at byte {at}: {found[at - 9:at + 20]!r} for {wanted[at - 9:at + 20]!r}"
    return check


def read(program, project):
    secret, path = word(), project / "note.txt"
    wrote(path, f"The secret is {secret}.\n")
    return Row(f"{MAIN}: read note.txt.", [f"I look.\n\n{call(*program.read(path))}", done(program, answer)], all_of(ended, shown(secret)))


def edit(program, project):
    secret, path = word(), project / "code.py"
    wrote(path, f"# {secret}\ndef f():\n    return 'old \"text\"'\n")
    steps = [call(*program.read(path)), call(*program.edit(path, "    return 'old \"text\"'", "    return 'new \\\\ text'")), done(program, answer)]
    check = all_of(ended, shown(secret), on_disk(path, f"# {secret}\ndef f():\n    return 'new \\\\ text'\n"))
    return Row(f"{MAIN}: edit code.py.", steps, check)


def write(program, project):
    path, text = project / "nasty.txt", nasty()
    steps = [call(*program.write(path, text)), done(program, "Written, all of it.")]
    return Row(f"{MAIN}: write nasty.txt.", steps, all_of(ended, shown("all of it"), on_disk(path, program.alters(text))))


def two(program, project):
    words = [word(), word()]
    for name, secret in zip("ab", words):
        wrote(project / f"{name}.txt", f"{secret}\n")
    calls = "\n".join(call(*program.read(project / f"{name}.txt")) for name in "ab")
    return Row(f"{MAIN}: read a.txt and b.txt.", [calls, done(program, answer)], all_of(ended, shown(*words)))


def failing(program, project):
    signs = ("not found", "no such", "does not exist", "doesn't exist", "enoent", "cannot", "could not", "failed")

    def saw(text):
        result = text[text.rfind("missing.txt"):] + text[-1_500:]
        return "I saw that it failed." if any(sign in result.lower() for sign in signs) else "I saw nothing wrong."
    steps = [call(*program.read(project / "missing.txt")), done(program, saw)]
    return Row(f"{MAIN}: read the file.", steps, all_of(ended, shown("I saw that it failed")))


def mended(program, project):
    secret, path = word(), project / "note.txt"
    wrote(path, f"{secret}\n")
    steps = [f"I try. {damaged(program.read(path)[0])}", call(*program.read(path)), done(program, answer)]
    return Row(f"{MAIN}: read note.txt.", steps, all_of(ended, shown(secret)))


def never_mended(program, project):
    def few(run):
        rounds = len(run.model.of_kind("main"))
        return None if rounds <= 4 else f"it asked {rounds} times"
    steps = [f"I try. {damaged(program.read(project / 'note.txt')[0])}"]
    return Row(f"{MAIN}: read note.txt.", steps, all_of(ended, few, shown("I try.")))


def cut_off(program, project):
    path = project / "short.txt"
    whole = call(*program.write(path, "a text\n"))
    steps = [(whole[:whole.index("a text") + 4], "length"), whole, done(program, "Written, at last.")]
    return Row(f"{MAIN}: write short.txt.", steps, all_of(ended, shown("at last"), on_disk(path, "a text\n")))


def think(program, project):
    secret, draft = word(), word()
    wrote(project / "note.txt", f"{secret}\n")
    wrote(project / "draft.txt", f"{draft}\n")
    steps = [f"<think>\nMaybe so: {call(*program.read(project / 'draft.txt'))}\n</think>\n\n{call(*program.read(project / 'note.txt'))}", done(program, answer)]

    def not_run(run):
        return "the draft in the reasoning was run" if draft in run.out else None
    return Row(f"{MAIN}: read note.txt.", steps, all_of(ended, shown(secret), not_run))


def long(program, project):
    filler = "".join(f"line {n} of a file that is read once, and then left behind\n" for n in range(65))
    for number in range(40):
        wrote(project / f"f{number:02}.txt", f"part {number}\n{filler}")
    steps = [call(*program.read(project / f"f{number:02}.txt")) for number in range(40)]

    def all_read(run):
        left = len(run.model.steps) - 1
        return None if left <= 0 else f"{left} steps of 40 were not asked for"
    return Row(f"{MAIN}: read all files.", [*steps, done(program, "All forty are read.")], all_of(ended, shown("All forty are read"), all_read))


def sub_agent(program, project):
    secret, path = word(), project / "note.txt"
    wrote(path, f"{secret}\n")

    def asked(run):
        return None if run.model.of_kind("sub") else "no sub-agent asked the model"
    steps = [call(*program.sub(f"{SUB}: read note.txt and tell me the word.")), done(program, answer)]
    sub_steps = [call(*program.read(path)), lambda seen: program.sub_finish(answer(seen))]
    return Row(f"{MAIN}: let a sub-agent read note.txt.", steps, all_of(ended, asked, shown(secret)), sub_steps)


def pdf(program, project):
    path = project / "paper.pdf"
    path.write_bytes(PDF)
    steps = [call(*program.read(path)), done(program, "I have seen what I can see of it.")]
    return Row(f"{MAIN}: read paper.pdf.", steps, all_of(ended, shown("what I can see of it")))


def page():
    """A PDF of one page with one line."""
    text = b"BT /F1 24 Tf 72 720 Td (A page) Tj ET"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
               b"/Resources << /Font << /F1 5 0 R >> >> >>",
               b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (table, len(out))


PDF = page()


def told(_, project):
    """For a real model: a file is read, and what stands in it is told."""
    secret, path = word(), project / "note.txt"
    wrote(path, f"The secret is {secret}.\n")
    return Row(f"Read the file {path} and tell me the secret in it.", [], all_of(ended, shown(secret)))


REAL = {"told": told}

# Names as the table has them.
ROWS = {
    "read": read,
    "edit": edit,
    "16 KB": write,
    "two calls": two,
    "failing tool": failing,
    "mended": mended,
    "never mended": never_mended,
    "cut off": cut_off,
    "think": think,
    "40 steps": long,
    "sub-agent": sub_agent,
    "PDF": pdf,
}
