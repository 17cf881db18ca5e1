"""The pages of the adapters, run as they stand in front of a scripted model.

Which of them have their packages here depends on the environment: two of `openai` exclude each other.
"""

import importlib.util
import re
import unittest
from pathlib import Path

from scripted import Scripted, call

DOCS = Path(__file__).parents[2] / "docs"
NEEDS = {"langchain": "langchain_openai"}


class Pages(unittest.TestCase):
    def test_each_pages_example_runs(self) -> None:
        pages = [page for page in sorted(DOCS.glob("*.md")) if page.stem != "agent"]
        self.assertGreaterEqual(len(pages), 6)
        installed = [page for page in pages if importlib.util.find_spec(NEEDS.get(page.stem, page.stem))]
        self.assertGreaterEqual(len(installed), 3)
        for page in installed:
            (example,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
            with self.subTest(page.name), Scripted(call("forecast", '{"city": "Ulm"}'), "It is sunny.") as model:
                exec(compile(example, str(page), "exec"), {"URL": model.url, "__name__": page.stem})
                self.assertEqual(len(model.requests), 1 if page.stem == "dspy" else 2)


if __name__ == "__main__":
    unittest.main()
