"""Opens a DuckLake as analysts do, and prints what is in each of its versions as JSON.

usage: lake.py LAKE TABLE [DATA_PATH]    TABLE: schema.table; DATA_PATH: where its files lie, if not where it says
"""

import glob
import json
import os
import sys

import duckdb
import duckdb_extension_ducklake
import duckdb_extension_httpfs

LAKE, TABLE = sys.argv[1:3]
OPTIONS = f" (data_path '{sys.argv[3]}', override_data_path true)" if len(sys.argv) > 3 else ""

for package in (duckdb_extension_httpfs, duckdb_extension_ducklake):
    [file] = glob.glob(os.path.join(os.path.dirname(package.__file__), "extensions", "*", "*.duckdb_extension"))
    duckdb.execute(f"load '{file}'")
duckdb.execute("set TimeZone = 'UTC'")
duckdb.execute(f"attach 'ducklake:{LAKE}' as lake{OPTIONS}")


def rows(of, where="", arguments=()):
    found = duckdb.execute(f"select columns(*)::varchar from lake.{TABLE} {of} {where} order by n", arguments)
    return [list(row) for row in found.fetchall()]


def refused(statement):
    try:
        duckdb.execute(statement)
    except duckdb.Error as error:
        return type(error).__name__
    return "done"


versions = duckdb.execute(
    "select snapshot_id, snapshot_time::varchar, commit_message from lake.snapshots() order by snapshot_id"
).fetchall()


def files_read(of, where):
    plan = duckdb.execute(f"explain analyze select * from lake.{TABLE} {of} {where}").fetchall()[0][1]
    return [int(line.split(":")[1].strip("│ ")) for line in plan.split("\n") if "Total Files Read" in line]


widest = max((len(rows(f"at (version => {version})")), version) for version, _, message in versions if message)[1]
schema, name = TABLE.split(".")
print(
    json.dumps(
        {
            "client": duckdb.__version__,
            "versions": [list(version) for version in versions],
            "rows": {message: rows(f"at (version => {version})") for version, _, message in versions if message},
            "times": {
                message: len(rows(f"at (timestamp => timestamptz '{time}')"))
                for _, time, message in versions
                if message
            },
            "now": rows(""),
            "comments": duckdb.execute(
                "select comment from duckdb_tables() where table_name = $1 union all "
                "select comment from (from duckdb_columns() where table_name = $1 and comment is not null order by column_index)",
                [name],
            ).fetchall(),
            "files_read": [files_read(f"at (version => {widest})", where) for where in ("", "where n = 6")],
            "refused": [refused(f"delete from lake.{TABLE}"), refused(f"drop table lake.{TABLE}")],
        }
    )
)
