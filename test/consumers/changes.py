"""Applies a file of changes to the earlier rows: python changes.py OLD.parquet CHANGES.parquet NEW.parquet CHANGES.csv"""

import json
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet

old, changes, new, csv = sys.argv[1:]
frame = pandas.read_parquet(changes)
counts = frame["_change"].value_counts().to_dict()
assert polars.read_parquet(changes).height == len(frame)
assert pyarrow.parquet.read_table(changes).num_rows == len(frame)
assert len(pandas.read_csv(csv)) == len(frame)
(rows,) = duckdb.sql(f"select count(*) from '{changes}'").fetchone()
assert rows == len(frame)


def plain(value):
    return None if pandas.isna(value) else str(value)


columns = [name for name in pandas.read_parquet(old).columns]
state = {}
for row in pandas.read_parquet(old).to_dict("records"):
    state[row["id"]] = {name: plain(row[name]) for name in columns}
for row in frame.to_dict("records"):
    if row["_change"] == "removed":
        del state[row["id"]]
    elif row["_change"] == "added":
        assert row["id"] not in state
        state[row["id"]] = {name: plain(row[name]) for name in columns}
    else:
        for name in json.loads(row["_changed"]):
            assert state[row["id"]][name] == plain(row[f"_old_{name}"])
            state[row["id"]][name] = plain(row[name])
expected = pandas.read_parquet(new).to_dict("records")
assert list(sorted(state)) == sorted(row["id"] for row in expected)
for row in expected:
    assert state[row["id"]] == {name: plain(row[name]) for name in columns}, row
print(json.dumps(counts))
