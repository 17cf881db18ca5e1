"""The pages of the adapters, run as they stand in front of a scripted model."""

import re
import unittest
from pathlib import Path

from scripted import Scripted, call

DOCS = Path(__file__).parents[2] / "docs"


class Pages(unittest.TestCase):
    def test_each_pages_example_runs(self) -> None:
        pages = sorted(DOCS.glob("*.md"))
        self.assertGreaterEqual(len(pages), 3)
        for page in pages:
            (example,) = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
            with self.subTest(page.name), Scripted(call("forecast", '{"city": "Ulm"}'), "It is sunny.") as model:
                exec(compile(example, str(page), "exec"), {"URL": model.url, "__name__": page.stem})
                self.assertEqual(len(model.requests), 2)


if __name__ == "__main__":
    unittest.main()
