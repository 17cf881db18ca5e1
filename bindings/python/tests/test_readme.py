"""The README's examples run, one after the other."""

import re
import unittest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


class Readme(unittest.TestCase):
    def test_its_examples_run(self) -> None:
        examples = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(examples), 5)
        for example in examples:
            with self.subTest(example.splitlines()[0]):
                exec(compile(example, str(README), "exec"), {})


if __name__ == "__main__":
    unittest.main()
