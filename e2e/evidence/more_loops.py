#!/usr/bin/env python3
"""38 further jobs for loops.py, with six more sets of tools: mail, a database, a cluster, a clinic, notes and a shop.

    more_loops.py BASE_URL_OF_SERVE [JOB …] [--write FILE]

Seven of them are in Chinese, and so are the tools of the clinic. Twelve take one call, four take two, sixteen take calls that
depend on one another, six take none. Most tools need several values, of which an earlier call had some. Rules of the turn
were found on them.
"""

import copy
import sqlite3

import loops
from loops import Failed, integer, known, tool, written

MAILS = {
    4021: {
        "uid": 4021,
        "from": "billing@nordstrom-hosting.example",
        "subject": "Invoice 2291 is overdue",
        "folder": "INBOX",
        "body": "Please pay 61.40 EUR by 4 December.",
    },
    4022: {
        "uid": 4022,
        "from": "petra.lund@example.org",
        "subject": "Keys for the cabin",
        "folder": "INBOX",
        "body": "The keys are under the third flower pot. Code of the gate: 7731.",
    },
    4023: {
        "uid": 4023,
        "from": "newsletter@gardenworld.example",
        "subject": "Winter bulbs",
        "folder": "INBOX",
        "body": "20% off.",
    },
    3877: {
        "uid": 3877,
        "from": "petra.lund@example.org",
        "subject": "Photos of the hike",
        "folder": "Archive",
        "body": "See the album.",
    },
}
DEPLOYMENTS = {"checkout": [2, "shop"], "catalog": [3, "shop"], "grafana": [1, "monitoring"]}
PODS = {
    "checkout-7d9f-x2k": ("shop", "CrashLoopBackOff", 14),
    "checkout-7d9f-p8m": ("shop", "Running", 0),
    "catalog-55c-aa1": ("shop", "Running", 1),
    "grafana-0": ("monitoring", "Running", 0),
}
LOGS = {
    "checkout-7d9f-x2k": "panic: missing env PAYMENT_URL\nexit status 2",
    "grafana-0": "HTTP server listen on :3000",
}
PATIENTS = {"P-0415": ("王芳", "1987-03-22", "138-0000-4471"), "P-0416": ("李强", "1990-11-02", "139-0000-1182")}
VISITS = {
    "V-91": ("P-0415", "2026-12-03 09:30", "眼科", "赵医生"),
    "V-92": ("P-0416", "2026-12-03 11:00", "牙科", "孙医生"),
}
NOTES = {
    "Recipes/Pumpkin soup.md": "Serves 4. 800 g pumpkin, 2 onions, 300 ml coconut milk. Simmer 25 minutes.",
    "Recipes/Plum cake.md": "1 kg plums, 250 g flour. Bake 40 minutes at 190 degrees.",
    "Travel/Japan 2027.md": "Flight on 3 April. Hotel in Kanazawa: Sakura Inn, booking 88213.",
    "Ideas.md": "A bird feeder with a camera.",
}
CUSTOMERS = {"cus_9f2": ("Lena Vogt", "lena.vogt@example.com"), "cus_9f3": ("Omar Haddad", "omar.h@example.com")}
ORDERS = {
    "ord_5501": {
        "customer": "cus_9f2",
        "total": 129.9,
        "status": "shipped",
        "tracking_number": "TRK77120",
        "items": ["Rain jacket"],
    },
    "ord_5502": {
        "customer": "cus_9f2",
        "total": 24.5,
        "status": "delivered",
        "tracking_number": "TRK77001",
        "items": ["Wool socks"],
    },
    "ord_5510": {
        "customer": "cus_9f3",
        "total": 310.0,
        "status": "processing",
        "tracking_number": None,
        "items": ["Tent"],
    },
}
SHIPMENTS = {
    "TRK77120": "In transit, left Hamburg on 28 November, expected 2 December",
    "TRK77001": "Delivered on 12 November",
}


def database():
    db = sqlite3.connect(":memory:")
    db.executescript(
        """create table employees(id integer primary key, name text, department text, salary integer, hired text);
    insert into employees values (1,'Anna Berg','Research',6100,'2019-04-01'),(2,'Tom Reis','Sales',4300,'2021-09-15'),
    (3,'Yuki Sato','Research',5700,'2022-02-01'),(4,'Carla Diaz','Support',3900,'2024-06-01');
    create table projects(code text primary key, title text, lead integer, budget integer);
    insert into projects values ('ORION','Solar tracker',3,84000),('VEGA','Battery lab',1,152000);"""
    )
    return db


class MoreWorld(loops.World):
    def __init__(self):
        super().__init__()
        self.mails = copy.deepcopy(MAILS)
        self.deployments = copy.deepcopy(DEPLOYMENTS)
        self.visits = dict(VISITS)
        self.notes = dict(NOTES)
        self.orders = copy.deepcopy(ORDERS)
        self.db = database()


loops.World = MoreWorld


# mail
@tool(
    "mail",
    "Search messages in the mailbox. All criteria are optional and combined with AND. Returns uid, sender, subject and folder of each match.",
    optional=("query", "sender", "folder", "limit"),
    query="Text to look for in subject and body",
    sender="Address or part of the address of the sender",
    folder="Folder to search in, default INBOX",
    limit=integer("Maximum number of results, default 20"),
)
def search_emails(world, query="", sender="", folder="INBOX", limit=20):
    own = [
        m
        for m in world.mails.values()
        if m["folder"].lower() == folder.lower()
        and sender.lower() in m["from"].lower()
        and all(w in (m["subject"] + m["body"]).lower() for w in query.lower().split())
    ]
    return written(
        {"count": len(own), "messages": [{k: m[k] for k in ("uid", "from", "subject", "folder")} for m in own][:limit]}
    )


@tool("mail", "Fetch one message in full by its UID.", uid=integer("UID of the message"))
def read_email(world, uid):
    m = known(world.mails, uid, "message")
    return f"From: {m['from']}\nSubject: {m['subject']}\nFolder: {m['folder']}\n\n{m['body']}"


@tool(
    "mail", "Move a message to another folder.", uid=integer("UID of the message"), target_folder="Name of the folder"
)
def move_email(world, uid, target_folder):
    known(world.mails, uid, "message")["folder"] = target_folder
    return world.change("move_email", {"uid": uid, "target_folder": target_folder}, written({"moved": True}))


@tool(
    "mail",
    "Send an email.",
    optional=("cc",),
    to="Recipient's address",
    subject="Subject line",
    body="Plain text body",
    cc="Addresses in copy",
)
def send_email(world, **mail):
    return world.change("send_email", mail, written({"status": "queued"}))


@tool("mail", "List the folders of the mailbox with the number of messages in each.")
def list_folders(world):
    return "INBOX (3)\nArchive (1)\nTrash (0)"


# sql
@tool("sql", "List all tables in the SQLite database")
def list_tables(world):
    return written([r[0] for r in world.db.execute("select name from sqlite_master where type='table'")])


@tool("sql", "Get the schema information for a specific table", table_name="Name of the table to describe")
def describe_table(world, table_name):
    rows = world.db.execute(f"pragma table_info({table_name})").fetchall()
    if not rows:
        raise Failed(f"no such table: {table_name}")
    return written([{"name": r[1], "type": r[2]} for r in rows])


@tool("sql", "Execute a SELECT query on the SQLite database", query="SELECT SQL query to execute")
def read_query(world, query):
    if not query.strip().lower().startswith("select"):
        raise Failed("Only SELECT queries are allowed for read_query")
    try:
        cur = world.db.execute(query)
    except sqlite3.Error as e:
        raise Failed(f"Database error: {e}")
    return written([dict(zip([c[0] for c in cur.description], r)) for r in cur.fetchall()])


@tool("sql", "Execute an INSERT, UPDATE, or DELETE query on the SQLite database", query="SQL query to execute")
def write_query(world, query):
    try:
        cur = world.db.execute(query)
    except sqlite3.Error as e:
        raise Failed(f"Database error: {e}")
    return world.change("write_query", {"query": query}, written([{"affected_rows": cur.rowcount}]))


# kube
NS = "Kubernetes namespace"


@tool("kube", "List pods in a namespace with their status and number of restarts", namespace=NS)
def list_pods(world, namespace):
    rows = [f"{n}  {s}  restarts={r}" for n, (ns, s, r) in PODS.items() if ns == namespace]
    return "\n".join(rows) or f"No resources found in {namespace} namespace."


@tool(
    "kube",
    "Get logs from a pod",
    optional=("tail",),
    pod_name="Name of the pod",
    namespace=NS,
    tail=integer("Number of lines from the end (default 100)"),
)
def get_pod_logs(world, pod_name, namespace, tail=100):
    known(PODS, pod_name, "pod")
    return LOGS.get(pod_name, "(no output)")


@tool("kube", "List deployments and their replicas in a namespace", namespace=NS)
def list_deployments(world, namespace):
    return written(
        {
            "items": [
                {"metadata": {"name": n}, "spec": {"replicas": r}}
                for n, (r, ns) in world.deployments.items()
                if ns == namespace
            ]
        }
    )


@tool(
    "kube",
    "Scale a deployment to a number of replicas",
    name="Name of the deployment",
    namespace=NS,
    replicas=integer("Desired number of replicas"),
)
def scale_deployment(world, name, namespace, replicas):
    known(world.deployments, name, "deployment")[0] = replicas
    return world.change("scale_deployment", {"name": name, "replicas": replicas}, f"deployment.apps/{name} scaled")


@tool("kube", "Delete a pod; its deployment starts a new one", pod_name="Name of the pod", namespace=NS)
def delete_pod(world, pod_name, namespace):
    known(PODS, pod_name, "pod")
    return world.change("delete_pod", {"pod_name": pod_name}, f'pod "{pod_name}" deleted')


@tool("kube", "List all namespaces of the cluster")
def list_namespaces(world):
    return "default\nmonitoring\nshop"


# clinic, in Chinese
@tool("clinic", "按姓名或电话查找患者，返回患者编号、姓名和出生日期。", keyword="姓名或电话")
def search_patients(world, keyword):
    rows = [
        {"patient_id": k, "name": n, "birthday": b}
        for k, (n, b, t) in PATIENTS.items()
        if keyword in n or keyword in t or n in keyword
    ]
    return written(rows)


@tool("clinic", "查询某位患者的预约列表。", patient_id="患者编号")
def list_appointments(world, patient_id):
    known(PATIENTS, patient_id, "患者")
    return written(
        [
            {"appointment_id": k, "time": t, "department": d, "doctor": doc}
            for k, (p, t, d, doc) in world.visits.items()
            if p == patient_id
        ]
    )


@tool("clinic", "取消一个预约。", appointment_id="预约编号")
def cancel_appointment(world, appointment_id):
    known(world.visits, appointment_id, "预约")
    world.visits.pop(appointment_id)
    return world.change("cancel_appointment", {"appointment_id": appointment_id}, "已取消")


@tool("clinic", "查询某科室某天的空闲时间。", department="科室名称", date="日期，格式 YYYY-MM-DD")
def free_times(world, department, date):
    return "09:00, 10:30, 15:00" if department.startswith("牙") else "08:30, 14:00"


@tool(
    "clinic",
    "为患者预约门诊。",
    patient_id="患者编号",
    department="科室名称",
    date="日期，格式 YYYY-MM-DD",
    time="时间，格式 HH:MM",
)
def book_appointment(world, **made):
    known(PATIENTS, made["patient_id"], "患者")
    return world.change("book_appointment", made, "预约成功，编号 V-93")


# notes
@tool(
    "notes",
    "List all notes in a folder of the vault.",
    optional=("folder",),
    folder="Folder relative to the vault root; empty for all",
)
def list_notes(world, folder=""):
    return "\n".join(p for p in world.notes if p.lower().startswith(folder.strip("/").lower())) or "(empty)"


@tool(
    "notes", "Full-text search in the vault. Returns the paths of matching notes with a snippet.", query="Search terms"
)
def search_notes(world, query):
    own = {p: t for p, t in world.notes.items() if any(w in (p + t).lower() for w in query.lower().split())}
    return "\n".join(f"{p}: {t[:30]}..." for p, t in own.items()) or "No matches."


@tool("notes", "Read the content of a note.", path="Path of the note, e.g. Folder/Name.md")
def read_note(world, path):
    return known(world.notes, path, "note at")


@tool("notes", "Append text to the end of an existing note.", path="Path of the note", content="Text to append")
def append_note(world, path, content):
    known(world.notes, path, "note at")
    world.notes[path] += "\n" + content
    return world.change("append_note", {"path": path, "content": content}, "OK")


@tool("notes", "Create a new note. Fails if it exists.", path="Path of the note", content="Content in Markdown")
def create_note(world, path, content):
    if path in world.notes:
        raise Failed("exists")
    world.notes[path] = content
    return world.change("create_note", {"path": path, "content": content}, "Created " + path)


# shop
@tool("shop", "Find a customer by email address or name.", query="Email address or name")
def find_customer(world, query):
    q = query.lower()
    return written(
        {
            "data": [
                {"id": k, "object": "customer", "name": n, "email": e}
                for k, (n, e) in CUSTOMERS.items()
                if q in n.lower() or q in e or n.lower() in q
            ]
        }
    )


@tool("shop", "List orders of a customer, newest first.", customer="Customer id")
def list_orders(world, customer):
    known(CUSTOMERS, customer, "customer")
    return written(
        {
            "data": [
                {"id": k, "total": o["total"], "status": o["status"], "items": o["items"]}
                for k, o in world.orders.items()
                if o["customer"] == customer
            ]
        }
    )


@tool("shop", "Retrieve one order.", order_id="Order id")
def retrieve_order(world, order_id):
    return written({"id": order_id, **known(world.orders, order_id, "order")})


@tool(
    "shop",
    "Refund an order, in full or in part.",
    optional=("amount",),
    order_id="Order id",
    amount={"type": "number", "description": "Amount to refund; the whole order if left out"},
)
def refund_order(world, order_id, amount=None):
    known(world.orders, order_id, "order")
    return world.change(
        "refund_order", {"order_id": order_id, "amount": amount}, written({"id": "re_1", "status": "succeeded"})
    )


@tool("shop", "Track a shipment by its tracking number.", tracking_number="Tracking number of the carrier")
def track_shipment(world, tracking_number):
    return known(SHIPMENTS, tracking_number, "shipment")


mail = lambda uid, t="read_email", **m: (t, {"uid": uid, **m})
loops.JOBS[:] = [
    (
        "e1",
        "one",
        "mail",
        "Which mails did petra.lund@example.org send me?",
        [("search_emails", {"sender": "petra"})],
        ["cabin"],
    ),
    (
        "e2",
        "dependent",
        "mail sql",
        "What is the code of the gate that Petra Lund sent me?",
        [("search_emails", {}), mail(4022)],
        ["7731"],
    ),
    (
        "e3",
        "dependent",
        "mail",
        "Move the mail about winter bulbs to Trash.",
        [("search_emails", {}), mail(4023, "move_email", target_folder="trash")],
        [],
    ),
    (
        "e4",
        "one",
        "mail",
        'Send a mail to tom@example.net with the subject "Lunch" and the text "At noon?".',
        [("send_email", {"to": "tom@example.net", "subject": "lunch", "body": "noon"})],
        [],
    ),
    (
        "e5",
        "dependent",
        "mail",
        "How much do I have to pay for the overdue invoice?",
        [("search_emails", {}), mail(4021)],
        ["61.40"],
    ),
    (
        "e6",
        "two",
        "mail",
        "Move the messages 4022 and 4023 to the Archive folder.",
        [mail(4022, "move_email", target_folder="archive"), mail(4023, "move_email", target_folder="archive")],
        [],
    ),
    ("q1", "one", "sql", "Which tables does the database have?", [("list_tables", {})], ["projects"]),
    (
        "q2",
        "one",
        "sql notes",
        "What columns does the table employees have?",
        [("describe_table", {"table_name": "employees"})],
        ["salary"],
    ),
    (
        "q3",
        "one",
        "sql",
        "Run the query SELECT title FROM projects WHERE code = 'VEGA'.",
        [("read_query", {"query": "vega"})],
        ["battery"],
    ),
    (
        "q4",
        "dependent",
        "sql",
        "How many people work in the Research department?",
        [("read_query", {"query": "research"})],
        ["2|two"],
    ),
    ("q5", "dependent", "sql", "Who has the highest salary?", [("read_query", {"query": "salary"})], ["anna"]),
    ("q6", "dependent", "sql", "把项目 ORION 的预算改成 90000。", [("write_query", {"query": "90000"})], []),
    (
        "k1",
        "one",
        "kube",
        "Which pods run in the namespace monitoring?",
        [("list_pods", {"namespace": "monitoring"})],
        ["grafana-0"],
    ),
    (
        "k2",
        "dependent",
        "kube",
        "Why does a pod in the namespace shop crash? Look in its logs.",
        [("list_pods", {"namespace": "shop"}), ("get_pod_logs", {"pod_name": "checkout-7d9f-x2k"})],
        ["payment_url"],
    ),
    (
        "k3",
        "one",
        "kube mail",
        "Scale the deployment catalog in the namespace shop to 5 replicas.",
        [("scale_deployment", {"name": "catalog", "replicas": 5})],
        [],
    ),
    (
        "k4",
        "two",
        "kube",
        "How many replicas do the deployments in the namespaces shop and monitoring have?",
        [("list_deployments", {"namespace": "shop"}), ("list_deployments", {"namespace": "monitoring"})],
        ["3", "1"],
    ),
    (
        "k5",
        "dependent",
        "kube",
        "Delete the pod in the namespace shop that is crashing.",
        [("list_pods", {"namespace": "shop"}), ("delete_pod", {"pod_name": "checkout-7d9f-x2k"})],
        [],
    ),
    ("p1", "one", "clinic", "患者 P-0415 有哪些预约？", [("list_appointments", {"patient_id": "P-0415"})], ["眼科"]),
    (
        "p2",
        "dependent",
        "clinic",
        "李强的预约是什么时候？",
        [("search_patients", {"keyword": "李强"}), ("list_appointments", {"patient_id": "P-0416"})],
        ["11:00|11点"],
    ),
    (
        "p3",
        "dependent",
        "clinic",
        "取消王芳的眼科预约。",
        [
            ("search_patients", {"keyword": "王芳"}),
            ("list_appointments", {"patient_id": "P-0415"}),
            ("cancel_appointment", {"appointment_id": "V-91"}),
        ],
        [],
    ),
    (
        "p4",
        "one",
        "clinic notes",
        "2026-12-05 牙科有哪些空闲时间？",
        [("free_times", {"department": "牙", "date": "2026-12-05"})],
        ["10:30"],
    ),
    (
        "p5",
        "dependent",
        "clinic",
        "给李强预约 2026-12-07 14:00 的眼科门诊。",
        [
            ("search_patients", {"keyword": "李强"}),
            ("book_appointment", {"patient_id": "P-0416", "department": "眼科", "date": "2026-12-07", "time": "14:00"}),
        ],
        [],
    ),
    ("o1", "one", "notes", "Which notes are in the folder Recipes?", [("list_notes", {"folder": "recipes"})], ["plum"]),
    (
        "o2",
        "dependent",
        "notes",
        "How long does the pumpkin soup have to simmer?",
        [("read_note", {"path": "Pumpkin soup"})],
        ["25"],
    ),
    (
        "o3",
        "dependent",
        "notes",
        "Which hotel did I book in Kanazawa?",
        [("search_notes", {}), ("read_note", {"path": "Japan"})],
        ["sakura"],
    ),
    (
        "o4",
        "one",
        "notes",
        'Append the line "Solar powered" to the note Ideas.md.',
        [("append_note", {"path": "ideas.md", "content": "solar powered"})],
        [],
    ),
    (
        "o5",
        "two",
        "notes",
        "Compare the baking or cooking times in Recipes/Plum cake.md and Recipes/Pumpkin soup.md.",
        [("read_note", {"path": "plum"}), ("read_note", {"path": "pumpkin"})],
        ["40", "25"],
    ),
    (
        "r1",
        "dependent",
        "shop",
        "Which orders does Omar Haddad have?",
        [("find_customer", {"query": "omar"}), ("list_orders", {"customer": "cus_9f3"})],
        ["tent"],
    ),
    (
        "r2",
        "dependent",
        "shop",
        "When will the rain jacket of lena.vogt@example.com arrive?",
        [
            ("find_customer", {"query": "lena"}),
            ("list_orders", {"customer": "cus_9f2"}),
            ("retrieve_order", {"order_id": "ord_5501"}),
            ("track_shipment", {"tracking_number": "TRK77120"}),
        ],
        ["2 dec"],
    ),
    (
        "r3",
        "one",
        "shop",
        "Refund 10 of the order ord_5502.",
        [("refund_order", {"order_id": "ord_5502", "amount": "10"})],
        [],
    ),
    (
        "r4",
        "two",
        "shop",
        "What is the status of the orders ord_5501 and ord_5510?",
        [("retrieve_order", {"order_id": "ord_5501"}), ("retrieve_order", {"order_id": "ord_5510"})],
        ["shipped", "processing"],
    ),
    (
        "r5",
        "dependent",
        "shop",
        "查一下订单 ord_5501 的包裹现在在哪里。",
        [("retrieve_order", {"order_id": "ord_5501"}), ("track_shipment", {"tracking_number": "TRK77120"})],
        ["hamburg|汉堡"],
    ),
    ("z1", "none", "mail", "How do you write a polite ending for a letter?", [], []),
    ("z2", "none", "sql", "What does SQL stand for?", [], ["structured"]),
    ("z3", "none", "clinic", "感冒了应该多喝水吗？用一句话回答。", [], []),
    ("z4", "none", "notes", "What rhymes with cake?", [], []),
    ("z5", "none", "kube", "Is a pod bigger or smaller than a cluster?", [], []),
    ("z6", "none", "shop", "Write a slogan for wool socks.", [], []),
]
if __name__ == "__main__":
    loops.main()
