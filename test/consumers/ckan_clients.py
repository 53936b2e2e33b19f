"""Reads a service as CKAN's own client does, and as the harvester of CKAN does, and prints what they got as JSON.

usage: ckan_clients.py BASE
"""

import json
import sys
import urllib.request
from urllib.parse import urlencode

import ckanapi

BASE = sys.argv[1]


def refused(ask):
    try:
        ask()
    except (ckanapi.NotFound, ckanapi.ValidationError, ckanapi.SearchQueryError) as error:
        return type(error).__name__
    return "answered"


def client(get_only):
    action = ckanapi.RemoteCKAN(BASE, get_only=get_only).action
    names = action.package_list()
    searches = ["covid", "title:COVID-19", "groups:heal", "res_format:Parquet", "name:socios*", "praias OR empresas",
                "-praias", "+type:dataset +covid", "*:*", "tags:saude"]
    return {
        "names": names,
        "page": action.package_list(limit=2, offset=1),
        "shown": [action.package_show(id=name)["name"] for name in names],
        "by_id": action.package_show(id=action.package_show(id=names[0])["id"])["name"],
        "searches": {query: action.package_search(q=query, rows=100)["count"] for query in searches},
        "status": sorted(action.status_show()),
        "refused": [
            refused(lambda: action.package_show(id="none")),
            refused(lambda: action.package_show()),
            refused(lambda: action.package_search(fq="nonsense:1")),
        ],
    }


def harvested(terms=None):
    """The pages of a search, asked for until one is empty, as the harvester gathers."""
    found, start = [], 0
    while True:
        asked = {"rows": "4", "start": str(start), "sort": "id asc"}
        if terms is not None:
            asked["fq"] = terms
        with urllib.request.urlopen(f"{BASE}/api/3/action/package_search?{urlencode(asked)}") as answer:
            page = json.load(answer)["result"]["results"]
        if not page:
            return found
        found += page
        start += 4


def main():
    packages = harvested()
    moments = sorted({one["metadata_modified"] for one in packages})
    return {
        "post": client(False),
        "get": client(True),
        "harvested": sorted(one["name"] for one in packages),
        "ids": len({one["id"] for one in packages}),
        "moments": moments,
        # What changed since the last harvest, and from the last moment that there is on.
        "since": {
            "the start": len(harvested("metadata_modified:[1970-01-01T00:00:00Z TO *]")),
            "the last": sorted(one["name"] for one in harvested(f"metadata_modified:[{moments[-1]}Z TO *]")),
            "after": len(harvested("metadata_modified:[2999-01-01T00:00:00Z TO *]")),
        },
        "resources": [resource["url"] for one in packages for resource in one["resources"]],
    }


print(json.dumps(main()))
