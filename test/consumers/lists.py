"""Asks for lists of names by the client that was generated from OpenAPI into the folder `client` beside it."""

import json
import sys

sys.path.insert(0, ".")

from client import Client
from client.api.dt import rows

client = Client(base_url=sys.argv[1])
print(json.dumps([rows.sync(client=client, name_in=names).count for names in json.loads(sys.argv[2])]))
