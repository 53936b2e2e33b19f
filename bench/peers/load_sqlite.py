"""Loads a CSV into SQLite as Datasette serves it best: typed columns, and an index on all that is asked."""

import csv
import gzip
import json
import sqlite3
import sys

source, target, fields = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
types = {"integer": "INTEGER", "float": "REAL", "bool": "INTEGER"}
booleans = {"True": 1, "true": 1, "False": 0, "false": 0}
casts = {"integer": int, "float": float, "bool": booleans.__getitem__}

database = sqlite3.connect(target)
columns = ", ".join(f'"{name}" {types.get(kind, "TEXT")}' for name, kind in fields)
database.execute(f"CREATE TABLE caso_full (id INTEGER PRIMARY KEY, {columns})")
with gzip.open(source, "rt", encoding="utf-8", newline="") as file:
    rows = (
        [None if row[name] == "" else casts.get(kind, str)(row[name]) for name, kind in fields]
        for row in csv.DictReader(file)
    )
    names = ", ".join(f'"{name}"' for name, _ in fields)
    marks = ", ".join("?" for _ in fields)
    database.executemany(f"INSERT INTO caso_full ({names}) VALUES ({marks})", rows)
for index in ("state", "city", "state, order_for_place"):
    database.execute(f"CREATE INDEX \"by {index}\" ON caso_full ({index})")
database.execute("ANALYZE")
database.commit()
