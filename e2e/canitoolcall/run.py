"""Recorded outputs of the public suite `canitoolcall` through `toolgraft extract`.

    python run.py TOOLGRAFT [--least-passed N] [--least-exact N] [--show]

The suite (PyPI, Apache-2.0) brings the outputs, what each should be read as, and the checks; none
of it is kept in this repository. It counts an output as passed, as nearly passed (white space
around the text differs), or as failed; and, of those that can be read, the outputs whose calls are
exactly those that are expected. What an engine knows of the model is told to `extract`, too: the
model's name, and whether the chat template opened the reasoning. `--show` names what failed.
"""

import argparse
import collections
import json
import subprocess

from canitoolcall.checks import canonical_arguments, run_checks, case_status
from canitoolcall.fixtures import load_families, load_fixtures
from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status


def tools(fixture):
    functions = [tool.get("function", tool) for tool in fixture.tools]
    return [
        {"name": f["name"], "description": f.get("description", ""), "inputSchema": f.get("parameters") or {"type": "object"}}
        for f in functions
    ]


def reasoning(fixture, family):
    """Whether the template opened the reasoning in front of the answer."""
    model = family.reference_for(fixture.reference_model) if family else None
    prompt = fixture.generation_prompt or (model and model.default_generation_prompt) or ""
    return "open" if prompt.rstrip().endswith(("<think>", "[THINK]", "<|open|>think<|sep|>")) else "auto"


def extracted(binary, fixtures, families):
    """Each output as `extract` reads it, by the fixture's id."""
    groups = collections.defaultdict(list)
    for fixture in fixtures:
        groups[fixture.reference_model, reasoning(fixture, families.get(fixture.family))].append(fixture)
    results = {}
    for (model, mode), group in groups.items():
        lines = (
            {
                "id": f.id,
                "text": f.raw_output,
                "finish_reason": "length" if f.truncated else "stop",
                **({"tools": tools(f)} if f.tools else {}),
            }
            for f in group
        )
        stdin = "".join(json.dumps(line) + "\n" for line in lines).encode("utf-8", "surrogatepass")
        command = [binary, "extract", "--profile", model, "--set", f"reasoning={mode}"]
        done = subprocess.run(command, input=stdin, capture_output=True, check=True)
        for line in done.stdout.decode().splitlines():
            answer = json.loads(line)
            results[answer["id"]] = answer
    return results


def parsed(answer):
    calls = tuple(ParsedToolCall(c["tool"], json.dumps(c["arguments"])) for c in answer["calls"])
    return ParseResult(content=answer["content"] or None, reasoning_content=answer["reasoning"] or None, tool_calls=calls)


def exact(fixture, answer):
    """Whether the calls are those that are expected and no other, in order."""
    want = [(c.name, canonical_arguments(json.dumps(c.arguments))) for c in fixture.expected.tool_calls]
    return want == [(c["tool"], canonical_arguments(json.dumps(c["arguments"]))) for c in answer["calls"]]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("toolgraft")
    options.add_argument("--least-passed", type=int, default=0)
    options.add_argument("--least-exact", type=int, default=0)
    options.add_argument("--show", action="store_true")
    options = options.parse_args()

    fixtures, families = list(load_fixtures()), load_families()
    answers = extracted(options.toolgraft, fixtures, families)
    counts, read, right = collections.Counter(), 0, 0
    by_family = collections.defaultdict(collections.Counter)
    for fixture in fixtures:
        answer = answers[fixture.id]
        rows = run_checks(fixture, families.get(fixture.family), Observation(parsed(answer), {}))
        status = case_status(rows)
        counts[status] += 1
        by_family[fixture.family][status] += 1
        if fixture.expected:
            read += 1
            right += exact(fixture, answer)
        if options.show and status not in (Status.PASS, Status.SOFT_PASS):
            why = next(r for r in rows if r.status == status)
            print(f"{status.value} {fixture.id} {why.check}: {why.detail}")
            print("   ", json.dumps(fixture.raw_output, ensure_ascii=False)[:600])
            print("   ", json.dumps({k: answer[k] for k in ("content", "reasoning", "calls", "rejected")}, ensure_ascii=False)[:900])
    for family, counted in sorted(by_family.items()):
        print(f"{family:14}", ", ".join(f"{n} {status.value}" for status, n in sorted(counted.items(), key=str)))
    passed = counts[Status.PASS] + counts[Status.SOFT_PASS]
    print(f"{passed} of {len(fixtures)} pass or nearly ({counts[Status.SOFT_PASS]} nearly), the calls of {right} of {read} exact")
    if passed < options.least_passed or right < options.least_exact:
        raise SystemExit(f"at least {options.least_passed} and {options.least_exact} are expected")


if __name__ == "__main__":
    main()
