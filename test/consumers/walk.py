"""Walks a table and filters it by the client that was generated from OpenAPI into the folder `client` beside it."""

import json
import sys

sys.path.insert(0, ".")

from client import Client
from client.api.covid19caso import rows
from client.models import Row

client = Client(base_url=sys.argv[1])
walked = wrong = 0
first = None
page = 1
while page is not None:
    found = rows.sync(client=client, page=page, page_size=7)
    for row in found.results:
        first = first or row
        walked += 1
        if not isinstance(row, Row) or not isinstance(row.is_last, bool) or not isinstance(row.confirmed, int):
            wrong += 1
    page = None if found.next_ is None else page + 1

found = rows.sync(client=client, state_in=[first.state], place_type=first.place_type, order_for_place_gte=1)
filtered = len(found.results) > 0 and all(
    row.place_type == first.place_type and row.state == first.state for row in found.results
)
print(json.dumps({"walked": walked, "wrong": wrong, "filtered": filtered}))
