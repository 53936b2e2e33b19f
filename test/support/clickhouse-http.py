"""The HTTP interface of ClickHouse, as far as its own client for Node asks it, before the engine itself (chdb is ClickHouse in a
process): statements with parameters and settings, and Parquet that is sent. One statement at a time.

    clickhouse-http.py PORT FOLDER
"""

import os
import re
import sys
import tempfile
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

port, folder = int(sys.argv[1]), sys.argv[2]
engine = session.Session(os.path.join(folder, "data"))
engine.query("create database if not exists acervo")
engine.query("use acervo")
lock = threading.Lock()
own = {"query", "database", "default_format", "session_id", "query_id", "wait_end_of_query", "compress", "decompress",
       "enable_http_compression", "user", "password", "role"}


def answer(query, parameters, body):
    names = {name[6:]: value for name, value in parameters if name.startswith("param_")}
    settings = {name: value for name, value in parameters if name not in own and not name.startswith("param_")}
    insert = re.match(r"(?is)\s*insert\s+into\s+(.+?)\s+format\s+Parquet\s*$", query)
    with lock:
        if insert:
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".parquet") as file:
                file.write(body)
                file.flush()
                target, columns = re.match(r"(?s)(`(?:[^`\\]|\\.)*`)\s*\((.*)\)$", insert.group(1)).groups()
                engine.query(f"insert into {target} ({columns}) select {columns} from file('{file.name}', Parquet)")
            return b""
        # What only the HTTP interface knows is none of the engine's.
        for name in ("cancel_http_readonly_queries_on_client_close", "send_progress_in_http_headers", "http_headers_progress_interval_ms"):
            settings.pop(name, None)
        shape = re.search(r"(?is)\s+format\s+(\w+)\s*$", query)
        text = query[: shape.start()] if shape else query
        if settings and re.match(r"(?is)\s*select", text):
            text += " settings " + ", ".join(f"{name} = '{value}'" for name, value in settings.items())
        result = engine.query(text, shape.group(1) if shape else "TabSeparated", params=names or None)
        return bytes(result.bytes() or b"")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(200, b"Ok.\n")

    def do_POST(self):
        parameters = parse_qsl(urlsplit(self.path).query, keep_blank_values=True)
        body = self.body()
        named = dict(parameters).get("query")
        query, data = (named, body) if named is not None else (body.decode(), b"")
        if named is None:
            # The statement comes first, and what it inserts after its line.
            head = re.match(rb"(?is)(\s*insert\s+into\s+.+?\s+format\s+Parquet)\s*\n", body)
            if head:
                query, data = head.group(1).decode(), body[head.end():]
        try:
            self.reply(200, answer(query, parameters, data))
        except Exception as error:  # what the engine says goes to the client as ClickHouse says it
            said = str(error)
            code = re.search(r"Code: (\d+)", said)
            self.reply(500, said.encode(), {"X-ClickHouse-Exception-Code": code.group(1) if code else "1"})

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                chunk = self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
                chunks.append(chunk)
            body = b"".join(chunks)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return zlib.decompress(body, 31) if self.headers.get("Content-Encoding") == "gzip" else body

    def reply(self, status, body, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
