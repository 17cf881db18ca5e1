"""filled_in.py PROGRAM ARGUMENT…: runs a program at a terminal of its own, agrees to each form, and sends what it proposes."""
import os
import pty
import re
import sys

# Yes to a form, to what is sent and to a field that asks for it; Enter takes what a field proposes.
ANSWERS = {"[y/n] ": b"y\r", "[y/n/e] ": b"y\r", "(y or n): ": b"y\r", "]: ": b"\r"}
# Of what was shown since the last answer, without what steers a terminal.
shown = ""


def read(terminal):
    global shown
    data = os.read(terminal, 1024)
    shown = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]|\r", "", shown + data.decode(errors="replace"))
    for question, answer in ANSWERS.items():
        if shown.endswith(question):
            os.write(terminal, answer)
            shown = ""
    return data


if __name__ == "__main__":
    sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))
