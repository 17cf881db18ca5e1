"""Records in files, and what one process makes of them."""

import json
import subprocess

FILES = 24


def record(number):
    city = json.dumps({"city": f"Oslo {number}", "days": number % 7}, ensure_ascii=False)
    prose = f"Record {number}: ä 天气 < & > \u2028 `code`. " * (number % 40)
    call = [
        f"<use_mcp_tool>\n<server_name>w</server_name>\n<tool_name>f</tool_name>\n<arguments>\n{city}\n</arguments>\n</use_mcp_tool>",
        f'<tool_call>\n{{"name": "f", "arguments": {city}}}\n</tool_call>',
        f"<think>Perhaps f({number})?</think>\n[TOOL_CALLS]" + f'[{{"name": "f", "arguments": {city}}}]',
        '<use_mcp_tool>\n<tool_name>f</tool_name>\n<arguments>\n{"city": }',
        "",
    ][number % 5]
    return json.dumps({"id": number, "text": prose + call}, ensure_ascii=number % 2 == 0)


def made(program, folder, each):
    """Writes so many records into each of the files; the output of one process for all of them."""
    folder.mkdir()
    expected = b""
    for file in range(FILES):
        lines = "".join(f"{record(file * each + n)}\n" for n in range(each))
        (folder / f"{file:03}.jsonl").write_text(lines, encoding="utf-8", newline="")
        expected += subprocess.run([program, "extract"], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout
    return expected
