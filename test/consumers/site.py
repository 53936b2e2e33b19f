"""Reads what a site tells crawlers, readers of feeds and agents by parsers of others, and prints what they found as JSON.

usage: site.py BASE
"""

import json
import re
import sys
import urllib.request
import xml.etree.ElementTree as xml

import feedparser
from protego import Protego

BASE = sys.argv[1]
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


def fetch(path):
    with urllib.request.urlopen(path if path.startswith("http") else BASE + path) as answer:
        return answer.read(), answer.headers


def text(path):
    return fetch(path)[0].decode()


def robots():
    rules = Protego.parse(text("/robots.txt"))
    asked = [
        "/api/v1/dataset/covid19/caso/data/",
        "/api/dataset/covid19/caso/export?format=csv",
        "/pt/dataset/covid19/caso/row/3/",
        "/en/dataset/covid19/caso/?state=SP",
        "/pt/dataset/covid19/",
        "/en/dataset/covid19/caso/",
        "/files/covid19/caso.csv.gz",
        "/metadata/covid19/croissant.json",
        "/api/v1/openapi.json",
        "/sitemap.xml",
    ]
    return {
        "allowed": [path for path in asked if rules.can_fetch(BASE + path, "AnyBot")],
        "delay": rules.crawl_delay("AnyBot"),
        "sitemaps": list(rules.sitemaps),
    }


def sitemap():
    root = xml.fromstring(text("/sitemap.xml"))
    if root.tag == f"{SITEMAP}sitemapindex":
        files = [xml.fromstring(text(one.text)) for one in root.iter(f"{SITEMAP}loc")]
    else:
        files = [root]
    urls = [url for file in files for url in file.iter(f"{SITEMAP}url")]
    return {
        "addresses": [url.findtext(f"{SITEMAP}loc") for url in urls],
        "moments": sorted({url.findtext(f"{SITEMAP}lastmod") or "" for url in urls}),
        "most": max(len(list(file)) for file in files),
    }


def feed(path):
    parsed = feedparser.parse(BASE + path)
    return {
        "fault": str(parsed.get("bozo_exception", "")),
        "version": parsed.version,
        "ids": [entry.id for entry in parsed.entries],
        "titles": [entry.title for entry in parsed.entries],
        "contents": [re.sub(r"<[^>]*>", " ", entry.content[0].value) for entry in parsed.entries],
        "links": [link.href for entry in parsed.entries for link in entry.links],
    }


def opensearch():
    root = xml.fromstring(text("/opensearch.xml"))
    templates = [one.get("template") for one in root.iter(f"{OPENSEARCH}Url")]
    short = root.findtext(f"{OPENSEARCH}ShortName") or ""
    return {"short": short, "templates": templates}


def llms():
    document = text("/llms.txt")
    lines = document.split("\n")
    return {
        "title": lines[0],
        "quote": [line for line in lines if line.startswith("> ")],
        "sections": [line for line in lines if line.startswith("## ")],
        "links": re.findall(r"\]\((http[^)]*)\)", document),
    }


def api_catalog():
    body, headers = fetch("/.well-known/api-catalog")
    sets = json.loads(body)["linkset"]
    relations = ["service-desc", "service-doc", "service-meta", "status", "item"]
    return {
        "type": headers["content-type"],
        "links": [one["href"] for each in sets for relation in relations for one in each.get(relation, [])],
        "described": [one["href"] for each in sets for one in each.get("service-desc", [])],
    }


print(
    json.dumps(
        {
            "robots": robots(),
            "sitemap": sitemap(),
            "feeds": {path: feed(path) for path in ("/feeds/atom.xml", "/feeds/covid19/atom.xml", "/feeds/covid19/caso/atom.xml")},
            "opensearch": opensearch(),
            "llms": llms(),
            "api_catalog": api_catalog(),
        }
    )
)
