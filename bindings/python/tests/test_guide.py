"""The guide to the agent, run as it stands in front of a scripted model and a real server."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

from scripted import Scripted, call

HERE = Path(__file__).parent
GUIDE = HERE.parent / "docs" / "agent.md"


class Guide(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 10), "its types are written as since Python 3.10")
    def test_its_examples_run(self) -> None:
        examples = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreaterEqual(len(examples), 5)
        answers = (call("forecast", '{"city": "Ulm"}'), "It is sunny.")
        with Scripted(*answers, *answers) as model, tempfile.TemporaryDirectory() as folder:
            names = {"URL": model.url, "PYTHON": sys.executable}
            names |= {"SERVER": str(HERE / "mcp_server.py"), "NOTES": str(Path(folder, "notes"))}
            # One module: later examples stand on earlier ones.
            exec(compile("\n".join(examples), str(GUIDE), "exec"), {**names, "__name__": "guide"})
            self.assertEqual(len(model.requests), 4)


if __name__ == "__main__":
    unittest.main()
