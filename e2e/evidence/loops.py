#!/usr/bin/env python3
"""Whole loops of a client with tools of its own behind `toolgraft serve`, with a real model:

    loops.py BASE_URL_OF_SERVE [JOB …] [--write FILE]

34 jobs with five sets of tools in memory (a calendar, the weather, a warehouse, a house, a library), six of them in
Chinese: ten take one call, four take two, fourteen take calls that depend on one another, six take none. Unlike the
jobs of `toolgraft probe --jobs` the tools answer with lines of text, as most servers do, have no annotations, and
belong to the client, whose every request holds its whole history. A job is done if each wanted call was made, nothing
else was changed, and the answer has the words that only the results tell. Rules of the turn were found on them.
"""

import argparse
import copy
import json
import time
import urllib.error
import urllib.request

MOST_REQUESTS = 9


class Failed(Exception):
    """What a tool says of a call that it cannot do."""


class World:
    """The tools, and the state that they read and change."""

    def __init__(self):
        self.changes = []
        self.events = copy.deepcopy(EVENTS)
        self.articles = copy.deepcopy(ARTICLES)
        self.devices = copy.deepcopy(DEVICES)

    def change(self, tool, arguments, text):
        self.changes.append((tool, arguments))
        return text


EVENTS = {
    "ev-31": {"title": "Dentist", "date": "2026-12-02", "time": "10:00-10:45", "more": "Hafenstraße 9; Kim"},
    "ev-32": {"title": "Budget review", "date": "2026-12-02", "time": "14:00-15:30", "more": "Room Kestrel; Ana Ruiz"},
    "ev-33": {"title": "Team lunch", "date": "2026-12-04", "time": "12:00-13:00", "more": "Café Linde; all"},
}
PLACES = {
    "L-2201": ("oslo", "奥斯陆", "-4 °C, snow, wind 12 km/h", "Mon -6 °C snow\nTue -9 °C clear\nWed -2 °C sleet"),
    "L-8841": ("chengdu", "成都", "11 °C, cloudy, wind 5 km/h", "Mon 12 °C rain\nTue 14 °C fog\nWed 10 °C rain"),
    "L-1007": ("lisbon", "里斯本", "17 °C, sunny, wind 22 km/h", "Mon 18 °C sunny\nTue 15 °C storm\nWed 16 °C sunny"),
}
ARTICLES = {
    "A-310": {"name": "ceramic mug blue", "stock": 42, "shelf": "C4", "price": "6.80", "supplier": "S-7"},
    "A-311": {"name": "ceramic mug red", "stock": 0, "shelf": "C5", "price": "6.80", "supplier": "S-7"},
    "A-520": {"name": "desk lamp", "stock": 7, "shelf": "F1", "price": "39.00", "supplier": "S-2"},
    "A-777": {"name": "紫砂茶壶", "stock": 13, "shelf": "B2", "price": "88.00", "supplier": "S-9"},
}
SUPPLIERS = {
    "S-7": "Keramik Huber, orders@huber.example, delivery 9 days",
    "S-2": "Lumen Ltd, sales@lumen.example, delivery 3 days",
    "S-9": "宜兴陶艺, yixing@tea.example, delivery 21 days",
}
DEVICES = {
    "d1": ["ceiling lamp", "Kitchen", "on"],
    "d2": ["coffee machine", "Kitchen", "off"],
    "d3": ["fan", "Bedroom", "on"],
    "d4": ["reading lamp", "Bedroom", "off"],
}
SENSORS = {
    "living_room_temperature": "21.4 °C",
    "bedroom_temperature": "17.9 °C",
    "outdoor_humidity": "83 %",
    "power_meter": "412 W",
}
BOOKS = {
    "B-15": ("The Sea Wolf, Jack London", "on the shelf, room 3"),
    "B-16": ("White Fang, Jack London", "lent, due back 2026-12-14"),
    "B-90": ("活着, 余华", "lent, due back 2026-12-02"),
    "B-44": ("Middlemarch, George Eliot", "on the shelf, room 1"),
}
READERS = {"ada moreau": "R-204, open fees 3.20 EUR", "li wei": "R-118, open fees 0.00 EUR"}

SETS = {}


def tool(of, description, optional=(), **parameters):
    """Adds a function to a set of tools. A parameter is a description, or a schema."""

    def add(function):
        described = {
            name: schema if isinstance(schema, dict) else {"type": "string", "description": schema}
            for name, schema in parameters.items()
        }
        required = [name for name in parameters if name not in optional]
        schema = {"type": "object", "properties": described, "required": required}
        about = {"name": function.__name__, "description": description, "parameters": schema}
        SETS.setdefault(of, {})[function.__name__] = (function, about)
        return function

    return add


def known(things, key, kind):
    if key not in things:
        raise Failed(f"There is no {kind} {key}.")
    return things[key]


DAY = "Day in the form YYYY-MM-DD"


@tool("calendar", "List the events of the calendar for one day: id, title, start and end of each.", date=DAY)
def list_events(world, date):
    lines = [f"{key}: {event['title']} {event['time']}" for key, event in world.events.items() if event["date"] == date]
    return "\n".join(lines) or "No events on this day."


@tool(
    "calendar",
    "Create a new event in the calendar.",
    optional=("end", "location"),
    title="Title of the event",
    date=DAY,
    start="Start time, HH:MM (24 hours)",
    end="End time, HH:MM; one hour after the start if left out",
    location="Where it takes place",
)
def create_event(world, **event):
    return world.change("create_event", event, "Created event ev-44.")


@tool("calendar", "Get all details of an event: location, attendees and notes.", event_id="Id of the event")
def get_event(world, event_id):
    event = known(world.events, event_id, "event")
    return f"{event_id}: {event['title']}\nDate: {event['date']} {event['time']}\nLocation; attendees: {event['more']}"


@tool("calendar", "Permanently remove an event from the calendar.", event_id="Id of the event")
def delete_event(world, event_id):
    known(world.events, event_id, "event")
    del world.events[event_id]
    return world.change("delete_event", {"event_id": event_id}, "Deleted.")


@tool(
    "calendar",
    "Find the first free slot of a given length on a day, between 09:00 and 18:00.",
    date=DAY,
    minutes={"type": "integer", "description": "Length in minutes"},
)
def find_free_slot(world, date, minutes):
    return "First free slot: 13:30-14:30" if date == "2026-12-03" else "First free slot: 09:00-10:00"


@tool("weather", "Search a place by its name and return its location key.", query="Name of the city or place")
def search_location(world, query):
    for key, (name, chinese, _, _) in PLACES.items():
        if name in query.lower() or chinese in query:
            return f"{name.title()}: location key {key}"
    return "No location found."


KEY = "Key of the location, from search_location"


@tool(
    "weather",
    "Current weather of a location: temperature, wind and sky.",
    optional=("units",),
    location_key=KEY,
    units={"type": "string", "enum": ["metric", "imperial"], "description": "Units of the answer"},
)
def current_conditions(world, location_key, units=None):
    return known(PLACES, location_key, "location with the key")[2]


@tool(
    "weather",
    "Forecast for the next days of a location.",
    optional=("days",),
    location_key=KEY,
    days={"type": "integer", "description": "Number of days, 1 to 5 (default 3)"},
)
def forecast(world, location_key, days=3):
    return known(PLACES, location_key, "location with the key")[3]


@tool("warehouse", "Search articles by words of their name. Returns article numbers and names.", text="Words to look for")
def search_articles(world, text):
    words = [word.rstrip("s") for word in text.lower().split()]
    lines = [f"{key}: {own['name']}" for key, own in world.articles.items() if any(word in own["name"] for word in words)]
    return "\n".join(lines) or "Nothing found."


NUMBER = "Number of the article, such as A-100"


@tool("warehouse", "Stock, shelf, price and supplier id of an article.", article_no=NUMBER)
def get_article(world, article_no):
    own = known(world.articles, article_no, "article")
    return (
        f"{article_no} {own['name']}: stock {own['stock']}, shelf {own['shelf']}, price {own['price']} EUR, "
        f"supplier {own['supplier']}"
    )


@tool("warehouse", "Name, mail address and delivery time of a supplier.", supplier_id="Id of the supplier, such as S-1")
def get_supplier(world, supplier_id):
    return known(SUPPLIERS, supplier_id, "supplier")


@tool(
    "warehouse",
    "Order a quantity of an article from its supplier.",
    article_no=NUMBER,
    quantity={"type": "integer", "description": "How many pieces"},
)
def place_order(world, article_no, quantity):
    known(world.articles, article_no, "article")
    made = {"article_no": article_no, "quantity": quantity}
    return world.change("place_order", made, f"Order PO-881 placed: {quantity} x {article_no}.")


@tool("warehouse", "Move an article to another shelf.", article_no=NUMBER, shelf="The new shelf")
def move_article(world, article_no, shelf):
    known(world.articles, article_no, "article")["shelf"] = shelf
    return world.change("move_article", {"article_no": article_no, "shelf": shelf}, "Moved.")


@tool(
    "home",
    "List the devices of the house with their ids and rooms.",
    optional=("room",),
    room="Only the devices of this room",
)
def list_devices(world, room=""):
    lines = [
        f"{key}: {name} ({own}) {state}"
        for key, (name, own, state) in world.devices.items()
        if room.lower() in own.lower()
    ]
    return "\n".join(lines) or "No devices there."


@tool(
    "home",
    "Switch a device on or off.",
    device_id="Id of the device",
    state={"type": "string", "enum": ["on", "off"], "description": "New state"},
)
def set_device(world, device_id, state):
    known(world.devices, device_id, "device")[2] = state
    return world.change("set_device", {"device_id": device_id, "state": state}, f"{device_id} is {state}.")


@tool(
    "home",
    "Set the target temperature of a room.",
    room="Name of the room",
    celsius={"type": "number", "description": "Target temperature in °C"},
)
def set_temperature(world, room, celsius):
    return world.change("set_temperature", {"room": room, "celsius": celsius}, f"Target of {room}: {celsius} °C.")


@tool(
    "home",
    "Read the latest value of a sensor.",
    sensor={"type": "string", "enum": list(SENSORS), "description": "Which sensor"},
)
def read_sensor(world, sensor):
    return known(SENSORS, sensor, "sensor")


@tool("library", "Search the catalogue by title or author.", query="Words of the title or author")
def search_books(world, query):
    words = query.lower().replace(",", " ").split()
    lines = [f"{key}: {title}" for key, (title, _) in BOOKS.items() if any(word in title.lower() for word in words)]
    return "\n".join(lines) or "No books found."


@tool("library", "Whether a copy is on the shelf, and when it is due back otherwise.", book_id="Id of the book")
def book_status(world, book_id):
    return known(BOOKS, book_id, "book")[1]


@tool("library", "Reserve a book for a reader.", book_id="Id of the book", reader_id="Id of the reader")
def reserve_book(world, book_id, reader_id):
    known(BOOKS, book_id, "book")
    return world.change("reserve_book", {"book_id": book_id, "reader_id": reader_id}, "Reserved.")


@tool("library", "Find a reader by name. Returns the reader id and open fees.", name="Name of the reader")
def find_reader(world, name):
    found = [f"{name}: reader {text}" for own, text in READERS.items() if own in name.lower()]
    return "\n".join(found) or "No reader of this name."


def on(day):
    return ("list_events", {"date": day})


def sensor(name):
    return ("read_sensor", {"sensor": name})


def key(tool, place):
    return (tool, {"location_key": place})


def article(number, tool="get_article", **more):
    return (tool, {"article_no": number, **more})


# Id, kind, sets of tools, question, wanted calls with texts that their arguments have, and texts of the answer.
JOBS = [
    ("c1", "one", "calendar", "What do I have on 2026-12-04?", [on("2026-12-04")], ["lunch"]),
    (
        "c2",
        "one",
        "calendar weather",
        'Add an event "Piano lesson" on 2026-12-09 at 17:15.',
        [("create_event", {"title": "piano lesson", "date": "2026-12-09", "start": "17:15"})],
        [],
    ),
    (
        "c3",
        "two",
        "calendar",
        "What is on my calendar on 2026-12-02 and on 2026-12-04?",
        [on("2026-12-02"), on("2026-12-04")],
        ["dentist", "lunch"],
    ),
    (
        "c4",
        "dependent",
        "calendar",
        "Where does the budget review on 2026-12-02 take place?",
        [on("2026-12-02"), ("get_event", {"event_id": "ev-32"})],
        ["kestrel"],
    ),
    (
        "c5",
        "dependent",
        "calendar",
        "请取消我 2026-12-02 的牙医预约 (Dentist)。",
        [on("2026-12-02"), ("delete_event", {"event_id": "ev-31"})],
        [],
    ),
    (
        "c6",
        "dependent",
        "calendar",
        'Find a free slot of 60 minutes on 2026-12-03 and create an event "Interview" at its start.',
        [
            ("find_free_slot", {"date": "2026-12-03", "minutes": 60}),
            ("create_event", {"title": "interview", "start": "13:30"}),
        ],
        [],
    ),
    (
        "w1",
        "dependent",
        "weather calendar",
        "What is the weather in Oslo right now?",
        [("search_location", {"query": "oslo"}), key("current_conditions", "L-2201")],
        ["-4"],
    ),
    ("w2", "dependent", "weather", "成都现在天气怎么样？", [("search_location", {}), key("current_conditions", "L-8841")], ["11"]),
    (
        "w3",
        "one",
        "weather",
        "Give me the forecast for the location key L-1007.",
        [key("forecast", "L-1007")],
        ["storm"],
    ),
    (
        "w4",
        "two",
        "weather",
        "Compare the current conditions at the location keys L-2201 and L-8841.",
        [key("current_conditions", "L-2201"), key("current_conditions", "L-8841")],
        ["-4", "11"],
    ),
    (
        "w5",
        "dependent",
        "weather home",
        "Which day will have a storm in Lisbon?",
        [("search_location", {"query": "lisbon"}), key("forecast", "L-1007")],
        ["tue"],
    ),
    ("a1", "one", "warehouse", "On which shelf is article A-520?", [article("A-520")], ["F1"]),
    (
        "a2",
        "dependent",
        "warehouse",
        "How many desk lamps do we have in stock?",
        [("search_articles", {"text": "lamp"}), article("A-520")],
        ["7"],
    ),
    (
        "a3",
        "dependent",
        "warehouse",
        "What is the mail address of the supplier of article A-311?",
        [article("A-311"), ("get_supplier", {"supplier_id": "S-7"})],
        ["orders@huber.example"],
    ),
    (
        "a4",
        "one",
        "warehouse home",
        "Order 25 pieces of article A-311.",
        [article("A-311", "place_order", quantity=25)],
        [],
    ),
    ("a5", "dependent", "warehouse", "查一下紫砂茶壶的库存是多少。", [("search_articles", {"text": "紫砂"}), article("A-777")], ["13"]),
    (
        "a6",
        "two",
        "warehouse",
        "Move A-310 to shelf D1 and A-311 to shelf D2.",
        [article("A-310", "move_article", shelf="D1"), article("A-311", "move_article", shelf="D2")],
        [],
    ),
    (
        "a7",
        "dependent",
        "warehouse",
        "Find the red ceramic mug and order 10 of it.",
        [("search_articles", {"text": "mug"}), article("A-311", "place_order", quantity=10)],
        [],
    ),
    ("h1", "one", "home", "What is the outdoor humidity?", [sensor("outdoor_humidity")], ["83"]),
    ("h2", "one", "home library", "把卧室的温度设为 19 度。", [("set_temperature", {"celsius": 19})], []),
    (
        "h3",
        "dependent",
        "home",
        "Turn off the fan in the bedroom.",
        [("list_devices", {}), ("set_device", {"device_id": "d3", "state": "off"})],
        [],
    ),
    (
        "h4",
        "two",
        "home",
        "How warm is it in the living room and in the bedroom?",
        [sensor("living_room_temperature"), sensor("bedroom_temperature")],
        ["21.4", "17.9"],
    ),
    ("h5", "one", "home", "Which devices are in the kitchen?", [("list_devices", {})], ["coffee"]),
    (
        "l1",
        "one",
        "library",
        "Which books by Jack London do you have?",
        [("search_books", {"query": "london"})],
        ["white fang"],
    ),
    (
        "l2",
        "dependent",
        "library",
        "When is White Fang due back?",
        [("search_books", {"query": "white fang"}), ("book_status", {"book_id": "B-16"})],
        ["14"],
    ),
    ("l3", "one", "library", "Does Ada Moreau have open fees?", [("find_reader", {"name": "ada moreau"})], ["3.20"]),
    (
        "l4",
        "dependent",
        "library",
        "Reserve the book B-44 for the reader Ada Moreau.",
        [("find_reader", {"name": "ada moreau"}), ("reserve_book", {"book_id": "B-44", "reader_id": "R-204"})],
        [],
    ),
    (
        "l5",
        "dependent",
        "library",
        "图书馆里有《活着》吗？现在可以借吗？",
        [("search_books", {"query": "活着"}), ("book_status", {"book_id": "B-90"})],
        [],
    ),
    ("n1", "none", "calendar weather", "What is the capital of Portugal?", [], ["lisbon"]),
    ("n2", "none", "warehouse", "Write one sentence that praises a blue mug.", [], ["mug"]),
    ("n3", "none", "home", "用一句话解释什么是湿度。", [], ["湿"]),
    ("n4", "none", "library", 'How do you spell the plural of "library"?', [], ["libraries"]),
    ("n5", "none", "weather", "Why is the sky blue? One sentence.", [], []),
    ("n6", "none", "calendar", "How many days does a leap year have?", [], ["366"]),
]


def says(own, wanted):
    return str(wanted).lower() in str(own).strip().lower()


def is_wanted(call, wanted):
    """Whether a call, made as tool and arguments, is one of the wanted ones."""
    made, arguments = call
    return any(made == name and all(says(arguments.get(key, ""), text) for key, text in texts.items()) for name, texts in wanted)


class Loop:
    """One job, from the question to the answer."""

    def __init__(self, url, sets):
        self.url, self.world = url, World()
        self.tools = {name: tool for own in sets.split() for name, tool in SETS[own].items()}
        self.made, self.repeats, self.requests = [], 0, 0
        # The number of changes at the last time of each call: after a change a call may be made again.
        self.last = {}

    def ask(self, messages):
        self.requests += 1
        tools = [{"type": "function", "function": about} for _, about in self.tools.values()]
        body = {"model": "any", "messages": messages, "tools": tools, "max_tokens": 160, "temperature": 0}
        request = urllib.request.Request(
            f"{self.url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)["choices"][0]["message"]

    def call(self, name, arguments):
        same = (name, json.dumps(arguments, sort_keys=True))
        self.repeats += self.last.get(same) == len(self.world.changes)
        self.last[same] = len(self.world.changes)
        self.made.append((name, arguments))
        try:
            return self.tools[name][0](self.world, **arguments)
        except (Failed, TypeError, KeyError) as failure:
            return f"Error: {failure}"

    def run(self, question):
        """Returns the answer; empty if none came."""
        messages = [{"role": "user", "content": question}]
        while self.requests < MOST_REQUESTS:
            message = self.ask(messages)
            messages.append({key: message[key] for key in ("role", "content", "tool_calls") if key in message})
            if not message.get("tool_calls"):
                return message.get("content") or ""
            for call in message["tool_calls"]:
                made = call["function"]
                text = self.call(made["name"], json.loads(made["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args()
    rows = []
    for job, kind, sets, question, wanted, words in JOBS:
        if args.jobs and job not in args.jobs:
            continue
        loop, begun = Loop(args.url, sets), time.monotonic()
        try:
            answer = loop.run(question)
        except (urllib.error.URLError, OSError) as failure:
            answer = f"no answer: {failure}"
        right = sum(any(is_wanted(call, [one]) for call in loop.made) for one in wanted)
        is_clean = all(is_wanted(change, wanted) for change in loop.world.changes) and (wanted or not loop.made)
        is_told = bool(answer) and all(word.lower() in answer.lower() for word in words)
        done = bool(right == len(wanted) and is_clean and is_told)
        row = {"job": job, "kind": kind, "done": done, "right": right, "wanted": len(wanted), "repeats": loop.repeats}
        rows.append({**row, "made": loop.made, "answer": answer, "seconds": round(time.monotonic() - begun)})
        print("done  " if done else "failed", job, kind, f"{right}/{len(wanted)}", question, flush=True)
        if not done:
            print(f"       made {loop.made}\n       answer {answer[:200]!r}", flush=True)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        print(f"{kind}: {sum(row['done'] for row in own)} of {len(own)}, {sum(row['repeats'] for row in own)} repeated")
    if args.write:
        with open(args.write, "w", encoding="utf-8") as file:
            json.dump(rows, file, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
