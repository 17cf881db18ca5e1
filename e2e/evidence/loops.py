#!/usr/bin/env python3
"""Whole loops of a client with tools of its own behind `toolgraft serve`, with a real model:

    loops.py BASE_URL_OF_SERVE [JOB …] [--write FILE]

70 jobs with ten sets of tools in memory, eleven of them in Chinese: 23 take one call, eight take two, 27 take calls
that depend on one another, twelve take none. Unlike the jobs of `toolgraft probe --jobs` the tools have no annotations
and belong to the client, whose every request holds its whole history. The tools of a calendar, the weather, a
warehouse, a house and a library answer with lines of text; those of a tracker, a chat, a bank, a player and an airport
mostly with JSON, whose identifiers are numbers or have other names than the parameters that take them. A job is done
if each wanted call was made, nothing else was changed, and the answer has the words that only the results tell. Rules
of the turn were found on them.
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
        self.issues = copy.deepcopy(ISSUES)
        self.playing = "Blue Harbour by Ida Kessler"

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
ISSUES = {
    101: {"number": 101, "title": "Login page crashes on Safari", "state": "open", "assignee": "mira", "labels": ["bug"]},
    102: {"number": 102, "title": "Add dark mode", "state": "open", "assignee": None, "labels": ["feature"]},
    98: {"number": 98, "title": "Upload fails over 2 GB", "state": "closed", "assignee": "tobi", "labels": ["bug"]},
}
COMMENTS = {
    101: [
        {"author": "mira", "body": "Only Safari 17.2"},
        {"author": "jo", "body": "Stack trace points to auth.js line 88"},
    ],
    102: [],
    98: [{"author": "tobi", "body": "Fixed in 4.1.3"}],
}
CHANNELS = {"C01": "general", "C02": "release", "C03": "lunch"}
MESSAGES = {
    "C01": ["ana: office closed on Friday", "leo: ok"],
    "C02": ["mira: 4.2 goes out on Thursday 9:00", "tobi: changelog is ready"],
    "C03": ["leo: ramen at 12:15?"],
}
PEOPLE = {
    "U7": ("Mira Stein", "mira@example.org", "Berlin"),
    "U8": ("Tobias Falk", "tobi@example.org", "Graz"),
    "U9": ("陈静", "chenjing@example.org", "上海"),
}
ACCOUNTS = [
    {"accountId": "acc_771", "type": "checking", "balance": 1840.25, "currency": "EUR"},
    {"accountId": "acc_772", "type": "savings", "balance": 12400.0, "currency": "EUR"},
]
PAYMENTS = {
    "acc_771": [
        {"date": "2026-11-20", "payee": "Stadtwerke", "amount": -94.1},
        {"date": "2026-11-24", "payee": "Bakery Lohmann", "amount": -7.8},
        {"date": "2026-11-25", "payee": "Salary", "amount": 2950.0},
    ],
    "acc_772": [{"date": "2026-11-01", "payee": "Interest", "amount": 12.4}],
}
RATES = {"USD": 1.1, "CHF": 0.94, "JPY": 171.0}
TRACKS = {
    "t1": ("Night Drive", "The Lanterns", "al5"),
    "t2": ("Paper Boats", "The Lanterns", "al5"),
    "t3": ("Blue Harbour", "Ida Kessler", "al9"),
}
ALBUMS = {
    "al5": {"name": "City Lights", "year": 2019, "tracks": 11},
    "al9": {"name": "Harbour Songs", "year": 2022, "tracks": 9},
}
FLIGHTS = {
    "LH442": {"flight": "LH442", "status": "delayed 35 min", "gate": "B22", "to": "Detroit"},
    "KL1001": {"flight": "KL1001", "status": "on time", "gate": "D4", "to": "London"},
    "CA938": {"flight": "CA938", "status": "boarding", "gate": "A7", "to": "北京"},
}
BOOKINGS = {
    "QX7PLM": {"reference": "QX7PLM", "passenger": "N. Okafor", "flight": "LH442", "seat": "14C"},
    "ZT2RRA": {"reference": "ZT2RRA", "passenger": "S. Lind", "flight": "KL1001", "seat": "3A"},
}

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

def written(value):
    return json.dumps(value, ensure_ascii=False)


def integer(description):
    return {"type": "integer", "description": description}


ISSUE = integer("The number of the issue")


@tool(
    "tracker",
    "List issues in the repository, optionally filtered by state or label.",
    optional=("state", "label"),
    state={"type": "string", "enum": ["open", "closed", "all"], "description": "Issue state (default: open)"},
    label="Only issues with this label",
)
def list_issues(world, state="open", label=None):
    own = [one for one in world.issues.values() if state in ("all", one["state"])]
    own = [one for one in own if not label or label in one["labels"]]
    return written([{key: one[key] for key in ("number", "title", "state", "labels")} for one in own])


@tool("tracker", "Get details of a specific issue.", issue_number=ISSUE)
def get_issue(world, issue_number):
    return written(known(world.issues, issue_number, "issue"))


@tool("tracker", "Get the comments of an issue.", issue_number=ISSUE)
def get_issue_comments(world, issue_number):
    return written(known(COMMENTS, issue_number, "issue"))


@tool(
    "tracker",
    "Create a new issue.",
    optional=("body", "labels"),
    title="Title of the issue",
    body="Text of the issue",
    labels={"type": "array", "items": {"type": "string"}, "description": "Labels to apply"},
)
def create_issue(world, **issue):
    return world.change("create_issue", issue, written({"number": 103}))


@tool(
    "tracker",
    "Update an existing issue: its state, assignee or title.",
    optional=("state", "assignee", "title"),
    issue_number=ISSUE,
    state={"type": "string", "enum": ["open", "closed"]},
    assignee="User name of the new assignee",
    title="New title",
)
def update_issue(world, issue_number, **new):
    known(world.issues, issue_number, "issue").update(new)
    return world.change("update_issue", {"issue_number": issue_number, **new}, written(world.issues[issue_number]))


@tool("chat", "Lists all channels of the workspace with their IDs.")
def chat_list_channels(world):
    return written({"ok": True, "channels": [{"id": key, "name": name} for key, name in CHANNELS.items()]})


CHANNEL = "ID of the channel"


@tool(
    "chat",
    "Gets the most recent messages of a channel.",
    optional=("limit",),
    channel_id=CHANNEL,
    limit=integer("Number of messages to return (default 10)"),
)
def chat_get_channel_history(world, channel_id, limit=10):
    return written({"ok": True, "messages": known(MESSAGES, channel_id, "channel")[-limit:]})


@tool("chat", "Post a message to a channel.", channel_id=CHANNEL, text="The message text")
def chat_post_message(world, channel_id, text):
    known(MESSAGES, channel_id, "channel")
    return world.change("chat_post_message", {"channel_id": channel_id, "text": text}, written({"ok": True}))


@tool("chat", "Find people of the workspace by their name.", name="Full name or part of it")
def chat_find_user(world, name):
    parts = name.lower().split()
    own = [(key, full) for key, (full, _, _) in PEOPLE.items() if any(part in full.lower() for part in parts)]
    return written([{"user_id": key, "name": full} for key, full in own])


@tool("chat", "Get the profile of a user: mail address and city.", user_id="ID of the user")
def chat_get_user_profile(world, user_id):
    name, email, city = known(PEOPLE, user_id, "user")
    return written({"user_id": user_id, "real_name": name, "email": email, "city": city})


@tool("bank", "Returns the accounts of the customer with type, account id and balance.")
def getAccounts(world):
    return written(ACCOUNTS)


@tool(
    "bank",
    "Returns the transactions of an account in the given period, newest last.",
    optional=("from_date", "to_date"),
    accountId="Id of the account",
    from_date="First day, YYYY-MM-DD",
    to_date="Last day, YYYY-MM-DD",
)
def getTransactions(world, accountId, from_date="", to_date="9"):
    return written([own for own in known(PAYMENTS, accountId, "account") if from_date <= own["date"] <= to_date])


@tool(
    "bank",
    "Transfers money from one own account to another own account.",
    fromAccountId="Id of the account to take the money from",
    toAccountId="Id of the account that gets it",
    amount={"type": "number", "description": "Amount in EUR"},
)
def transferMoney(world, **order):
    for key in ("fromAccountId", "toAccountId"):
        known(PAYMENTS, order[key], "account")
    return world.change("transferMoney", order, written({"status": "done"}))


@tool(
    "bank",
    "Converts an amount between currencies at today's rate.",
    amount={"type": "number"},
    source="Currency code, such as EUR",
    target="Currency code, such as USD",
)
def convertCurrency(world, amount, source, target):
    return written({"amount": round(float(amount) * RATES.get(target, 1), 2), "currency": target})


@tool("player", "Search for tracks by title or artist.", query="Search words")
def search_tracks(world, query):
    words = query.lower().split()
    rows = [(key, *own) for key, own in TRACKS.items() if any(word in " ".join(own[:2]).lower() for word in words)]
    lines = [f"- {key} | {title} | {artist} | album {album}" for key, title, artist, album in rows]
    return "\n".join(lines) or "no results"


@tool("player", "Start playback of a track.", track_id="Id of the track")
def play_track(world, track_id):
    title, artist, _ = known(TRACKS, track_id, "track")
    world.playing = f"{title} by {artist}"
    return world.change("play_track", {"track_id": track_id}, f"Now playing {world.playing}")


@tool("player", "Pause the playback.")
def pause(world):
    return world.change("pause", {}, "Paused.")


@tool("player", "What is playing right now, and how loud.")
def now_playing(world):
    return f"Playing: {world.playing}, volume 40"


@tool("player", "Set the volume.", level=integer("0 to 100"))
def set_volume(world, level):
    return world.change("set_volume", {"level": level}, f"Volume is {level}")


@tool("player", "Get name, year and number of tracks of an album.", album_id="Id of the album")
def get_album(world, album_id):
    return written(known(ALBUMS, album_id, "album"))


@tool("airport", "Status, gate and destination of a flight today.", flight_number="Flight number, e.g. BA117")
def flight_status(world, flight_number):
    return written(known(FLIGHTS, flight_number.replace(" ", ""), "flight"))


BOOKING = "Six letters and digits"


@tool("airport", "Look up a booking by its reference.", booking_reference=BOOKING)
def lookup_booking(world, booking_reference):
    return written(known(BOOKINGS, booking_reference, "booking"))


@tool("airport", "Change the seat of a booking.", booking_reference=BOOKING, seat="New seat, such as 12A")
def change_seat(world, booking_reference, seat):
    known(BOOKINGS, booking_reference, "booking")
    return world.change("change_seat", {"booking_reference": booking_reference, "seat": seat}, written({"ok": True}))


@tool(
    "airport",
    "Departures of today, sorted by time.",
    optional=("destination",),
    destination="Only flights to this city",
)
def list_departures(world, destination=""):
    own = [one for one in FLIGHTS.values() if destination.lower() in one["to"].lower()]
    return "\n".join(f"{one['flight']} to {one['to']}" for one in own) or "none"



def on(day):
    return ("list_events", {"date": day})


def sensor(name):
    return ("read_sensor", {"sensor": name})


def key(tool, place):
    return (tool, {"location_key": place})


def article(number, tool="get_article", **more):
    return (tool, {"article_no": number, **more})


def issue(tool, number, **more):
    return (tool, {"issue_number": number, **more})


def account(number):
    return ("getTransactions", {"accountId": number})


def flight(number):
    return ("flight_status", {"flight_number": number})


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
    ("t1", "one", "tracker", "Which issues are open right now?", [("list_issues", {})], ["101", "102"]),
    ("t2", "one", "tracker", "Who is assigned to issue 98?", [issue("get_issue", 98)], ["tobi"]),
    (
        "t3",
        "one",
        "tracker chat",
        'Open a new issue titled "Export to CSV is empty".',
        [("create_issue", {"title": "export to csv is empty"})],
        [],
    ),
    (
        "t4",
        "two",
        "tracker",
        "Close the issues 101 and 102.",
        [issue("update_issue", 101, state="closed"), issue("update_issue", 102, state="closed")],
        [],
    ),
    (
        "t5",
        "dependent",
        "tracker",
        "What do the comments on the Safari login bug say?",
        [("list_issues", {}), issue("get_issue_comments", 101)],
        ["88"],
    ),
    (
        "t6",
        "dependent",
        "tracker",
        "Assign the dark mode issue to jo.",
        [("list_issues", {}), issue("update_issue", 102, assignee="jo")],
        [],
    ),
    (
        "t7",
        "dependent",
        "tracker",
        "关于 2 GB 上传失败的问题是在哪个版本修复的？",
        [("list_issues", {}), issue("get_issue_comments", 98)],
        ["4.1.3"],
    ),
    ("s1", "one", "chat", "What channels are there?", [("chat_list_channels", {})], ["release", "lunch"]),
    (
        "s2",
        "dependent",
        "chat",
        "When does 4.2 go out? Look in the release channel.",
        [("chat_list_channels", {}), ("chat_get_channel_history", {"channel_id": "C02"})],
        ["thursday"],
    ),
    (
        "s3",
        "dependent",
        "chat",
        'Post "Build is green" to the general channel.',
        [("chat_list_channels", {}), ("chat_post_message", {"channel_id": "C01", "text": "build is green"})],
        [],
    ),
    (
        "s4",
        "dependent",
        "chat tracker",
        "What is Mira Stein's mail address?",
        [("chat_find_user", {"name": "mira"}), ("chat_get_user_profile", {"user_id": "U7"})],
        ["mira@example.org"],
    ),
    (
        "s5",
        "dependent",
        "chat",
        "陈静在哪个城市？",
        [("chat_find_user", {"name": "陈静"}), ("chat_get_user_profile", {"user_id": "U9"})],
        ["上海"],
    ),
    (
        "s6",
        "one",
        "chat",
        'Send the message "ramen it is" to channel C03.',
        [("chat_post_message", {"channel_id": "C03", "text": "ramen it is"})],
        [],
    ),
    ("b1", "one", "bank", "How much money is in my savings account?", [("getAccounts", {})], ["12400|12,400"]),
    (
        "b2",
        "dependent",
        "bank",
        "How much did I pay to Stadtwerke from my checking account?",
        [("getAccounts", {}), account("acc_771")],
        ["94.1"],
    ),
    (
        "b3",
        "dependent",
        "bank",
        "Transfer 200 EUR from checking to savings.",
        [
            ("getAccounts", {}),
            ("transferMoney", {"fromAccountId": "acc_771", "toAccountId": "acc_772", "amount": 200}),
        ],
        [],
    ),
    (
        "b4",
        "one",
        "bank player",
        "How many Swiss francs (CHF) are 50 EUR?",
        [("convertCurrency", {"amount": 50, "target": "CHF"})],
        ["47"],
    ),
    (
        "b5",
        "two",
        "bank",
        "把 100 欧元分别换算成美元 (USD) 和日元 (JPY)。",
        [("convertCurrency", {"target": "USD"}), ("convertCurrency", {"target": "JPY"})],
        ["110", "17100|17,100"],
    ),
    ("b6", "one", "bank", "List the transactions of account acc_772.", [account("acc_772")], ["12.4"]),
    ("m1", "one", "player", "What song is playing?", [("now_playing", {})], ["blue harbour"]),
    ("m2", "one", "player", "把音量调到 25。", [("set_volume", {"level": 25})], []),
    (
        "m3",
        "dependent",
        "player",
        "Play Paper Boats.",
        [("search_tracks", {"query": "paper boats"}), ("play_track", {"track_id": "t2"})],
        [],
    ),
    (
        "m4",
        "dependent",
        "player bank",
        "In which year did the album with the song Night Drive come out?",
        [("search_tracks", {"query": "night drive"}), ("get_album", {"album_id": "al5"})],
        ["2019"],
    ),
    ("m5", "one", "player", "Pause the music.", [("pause", {})], []),
    (
        "m6",
        "two",
        "player",
        "Set the volume to 60 and play the track t3.",
        [("set_volume", {"level": 60}), ("play_track", {"track_id": "t3"})],
        [],
    ),
    ("f1", "one", "airport", "Is flight KL1001 on time?", [flight("KL1001")], ["on time"]),
    (
        "f2",
        "dependent",
        "airport",
        "From which gate does the flight of booking QX7PLM leave?",
        [("lookup_booking", {"booking_reference": "QX7PLM"}), flight("LH442")],
        ["b22"],
    ),
    (
        "f3",
        "one",
        "airport chat",
        "Change the seat of booking ZT2RRA to 5F.",
        [("change_seat", {"booking_reference": "ZT2RRA", "seat": "5F"})],
        [],
    ),
    ("f4", "two", "airport", "What are the gates of LH442 and CA938?", [flight("LH442"), flight("CA938")], ["b22", "a7"]),
    (
        "f5",
        "dependent",
        "airport",
        "Which flight goes to Detroit, and is it delayed?",
        [("list_departures", {}), flight("LH442")],
        ["35"],
    ),
    ("n7", "none", "tracker", "What does the abbreviation CSV stand for?", [], ["comma"]),
    ("n8", "none", "bank", "What is 15 percent of 240?", [], ["36"]),
    ("n9", "none", "player", "为什么音乐能让人放松？用一句话回答。", [], []),
    ("n10", "none", "chat", 'Translate "good morning" into Spanish.', [], []),
    ("n11", "none", "airport", "Why do planes leave white trails in the sky? One sentence.", [], []),
    ("n12", "none", "tracker bank", "Thanks, that was all.", [], []),
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
        told = answer.lower()
        # Words with a bar between them are forms of one.
        is_told = bool(answer) and all(any(form.lower() in told for form in word.split("|")) for word in words)
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
