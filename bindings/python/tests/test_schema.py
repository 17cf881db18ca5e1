"""Functions as tools: schemas of type hints, and arguments as their types."""

from __future__ import annotations

import enum
import sys
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Callable, Dict, List, Literal, Optional, Tuple, TypedDict, Union

from toolgraft import ToolError, tool_from_function
from toolgraft._schema import Parameters, plain  # pyright: ignore[reportPrivateUsage]


class Sky(enum.Enum):
    SUNNY = "sunny"
    GREY = "grey"


@dataclass
class Place:
    city: Annotated[str, "In English."]
    country: Optional[str] = None
    tags: List[str] = field(default_factory=lambda: list[str]())


class First(TypedDict):
    first: int


class Span(First, total=False):
    last: int


class Chain:
    """A class that is no record."""


def schema(hint: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": hint}
    return Parameters(function).schema["properties"]["value"]


def converted(hint: Any, value: Any) -> Any:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": hint}
    return Parameters(function).convert({"value": value})["value"]


STRING: dict[str, Any] = {"type": "string"}
PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "In English."},
        "country": {"anyOf": [STRING, {"type": "null"}]},
        "tags": {"type": "array", "items": STRING},
    },
    "additionalProperties": False,
    "required": ["city"],
}
SPAN: dict[str, Any] = {
    "type": "object",
    "properties": {"first": {"type": "integer"}, "last": {"type": "integer"}},
    "additionalProperties": False,
    "required": ["first"],
}


class Schemas(unittest.TestCase):
    def test_each_kind_of_hint(self) -> None:
        cases: list[tuple[Any, Any]] = [
            (str, STRING),
            (float, {"type": "number"}),
            (Any, {}),
            (None, {"type": "null"}),
            (list, {"type": "array"}),
            (List[int], {"type": "array", "items": {"type": "integer"}}),
            (set[str], {"type": "array", "items": STRING, "uniqueItems": True}),
            (Tuple[str, ...], {"type": "array", "items": STRING}),
            (tuple[str, bool], {"type": "array", "prefixItems": [STRING, {"type": "boolean"}], "minItems": 2, "maxItems": 2}),
            (Dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (dict, {"type": "object"}),
            (Literal["a", 1], {"enum": ["a", 1]}),
            (Union[int, str], {"anyOf": [{"type": "integer"}, STRING]}),
            (Sky, {"enum": ["sunny", "grey"]}),
            (Place, PLACE),
            (Span, SPAN),
            (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        ]
        for hint, expected in cases:
            with self.subTest(hint):
                self.assertEqual(schema(hint), expected)

    @unittest.skipIf(sys.version_info < (3, 11), "the mark is there since Python 3.11")
    def test_a_field_that_is_marked_as_not_required(self) -> None:
        if sys.version_info >= (3, 11):
            from typing import NotRequired

            marked: Any = TypedDict("marked", {"first": int, "last": NotRequired[int]})
            self.assertEqual(schema(marked), SPAN)
            text: Any = TypedDict("text", {"first": int, "last": "NotRequired[int]"})
            text.__module__ = "typing"
            self.assertEqual(schema(text), SPAN)

    def test_a_function_gives_a_tool(self) -> None:
        def forecast(city: str, days: int = 1, *, sky=None) -> str:  # type: ignore[no-untyped-def]  # pyright: ignore
            """The weather
            of the coming days.

            And more that a model need not read.
            """
            return ""

        function: Any = forecast  # pyright: ignore
        tool = tool_from_function(function)
        self.assertEqual((tool.name, tool.description), ("forecast", "The weather of the coming days."))
        self.assertEqual(tool.input_schema["required"], ["city"])
        self.assertEqual(list(tool.input_schema["properties"]), ["city", "days", "sky"])
        self.assertEqual(tool_from_function(function, name="f", description="d").description, "d")

    def test_a_docstring_describes_parameters(self) -> None:
        google = """The weather.

        Args:
            city: The city's name,
                as its mayor writes it.
            days (int, optional): How many: 1 to 7.

        Returns:
            sky: Not a parameter.
        """
        numpy = """The weather.

        Parameters
        ----------
        city : str
            The city's name,
            as its mayor writes it.
        days
            How many: 1 to 7.

        Returns
        -------
        sky
            Not a parameter.
        """
        sphinx = """The weather.

        :param city: The city's name,
            as its mayor writes it.
        :param int days: How many: 1 to 7.
        :returns: Nothing.
        """
        for doc in (google, numpy, sphinx):

            def forecast(city: str, days: int = 1, sky: Annotated[str, "Its colour."] = "") -> str:
                return city + sky + str(days)

            forecast.__doc__ = doc
            described = tool_from_function(forecast).input_schema["properties"]
            said = ["The city's name, as its mayor writes it.", "How many: 1 to 7.", "Its colour."]
            self.assertEqual([each.get("description") for each in described.values()], said, doc)
        sphinx_of_sky = ":param sky: Another."
        forecast.__doc__ = sphinx_of_sky
        self.assertEqual(tool_from_function(forecast).input_schema["properties"]["sky"]["description"], "Its colour.")

    def test_a_callable_object_and_a_method(self) -> None:
        class Weather:
            def __call__(self, city: str) -> str:
                return city

            def forecast(self, city: str) -> str:
                """The weather."""
                return city

        self.assertEqual(tool_from_function(Weather()).name, "Weather")
        self.assertEqual(tool_from_function(Weather().forecast).input_schema, tool_from_function(Weather()).input_schema)

    def test_what_has_no_schema_is_named(self) -> None:
        function_of: Any = Callable[[], None]
        for hint in (Chain, List[Chain], Dict[int, str], function_of):
            with self.subTest(hint), self.assertRaisesRegex(ToolError, "function: the parameter value: .*pair"):
                schema(hint)

    def test_arguments_become_what_the_hints_say(self) -> None:
        cases: list[tuple[Any, Any, Any]] = [
            (Sky, "grey", Sky.GREY),
            (float, 3, 3.0),
            (Place, {"city": "Ulm"}, Place("Ulm")),
            (Optional[Place], None, None),
            (Optional[Place], {"city": "Ulm"}, Place("Ulm")),
            (Union[Sky, int], 3, 3),
            (Union[Sky, str], "grey", Sky.GREY),
            (Union[Literal["x"], Sky], "sunny", Sky.SUNNY),
            (List[Place], [{"city": "Ulm"}], [Place("Ulm")]),
            (Dict[str, Sky], {"a": "grey"}, {"a": Sky.GREY}),
            (Tuple[Sky, int], ["grey", 1], (Sky.GREY, 1)),
            (Tuple[int, ...], [1, 2], (1, 2)),
            (set[int], [1], {1}),
            (Span, {"first": 1}, {"first": 1}),
            (Any, {"a": [1]}, {"a": [1]}),
        ]
        for hint, value, expected in cases:
            with self.subTest(hint):
                made = converted(hint, value)
                self.assertEqual((made, type(made)), (expected, type(expected)))

    def test_results_become_json(self) -> None:
        given = {"place": Place("Ulm", tags=["a"]), "sky": Sky.GREY, "spans": ({"first": 1},)}
        self.assertEqual(
            plain(given),
            {"place": {"city": "Ulm", "country": None, "tags": ["a"]}, "sky": "grey", "spans": [{"first": 1}]},
        )


if __name__ == "__main__":
    unittest.main()
