"""Loads every metadata document of a service by the code of those who harvest it, and prints what came of it as JSON.

usage: metadata.py BASE [SHAPES]    SHAPES: the SHACL shapes of DCAT-AP
"""

import contextlib
import hashlib
import io
import json
import sys
import urllib.request
import warnings

warnings.filterwarnings("ignore")

import frictionless
import mlcroissant
import rdflib
from csvw import CSVW
from rdflib.compare import isomorphic
from rdflib.namespace import DCAT, DCTERMS

BASE = sys.argv[1]
SHAPES = sys.argv[2] if len(sys.argv) > 2 else None
SPDX = rdflib.Namespace("http://spdx.org/rdf/terms#")
HYDRA = rdflib.Namespace("http://www.w3.org/ns/hydra/core#")
SH = rdflib.Namespace("http://www.w3.org/ns/shacl#")


def fetch(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read()


def dcat(ending, form):
    """All pages of the catalog, as harvesters follow them."""
    graph, address, pages = rdflib.Graph(), f"{BASE}/catalog.{ending}", 0
    while address is not None:
        page = rdflib.Graph().parse(data=fetch(address), format=form)
        following = [str(one) for one in page.objects(None, HYDRA.nextPage)]
        graph += page
        address = following[0] if following else None
        pages += 1
    return graph, pages


def conforms(graph):
    import pyshacl

    shapes = rdflib.Graph().parse(SHAPES)
    # Two shapes of data services are named in the published file, and not there.
    for subject, _, shape in list(shapes.triples((None, SH.property, None))):
        if (shape, SH.path, None) not in shapes:
            shapes.remove((subject, SH.property, shape))
    valid, _, text = pyshacl.validate(graph, shacl_graph=shapes)
    return [] if valid else [text]


def same(slug):
    """Whether both forms of a dataset say the same."""
    forms = [
        rdflib.Graph().parse(data=fetch(f"{BASE}/metadata/{slug}/dcat.{ending}"), format=form)
        for ending, form in (("ttl", "turtle"), ("jsonld", "json-ld"))
    ]
    return isomorphic(*forms)


def distributions(graph):
    """Each file that a distribution tells, fetched, and its hash and size compared."""
    wrong, count = [], 0
    for distribution in set(graph.subjects(rdflib.RDF.type, DCAT.Distribution)):
        address = str(graph.value(distribution, DCAT.downloadURL))
        content = fetch(address)
        checksum = graph.value(distribution, SPDX.checksum)
        declared = str(graph.value(checksum, SPDX.checksumValue)).lower()
        size = int(graph.value(distribution, DCAT.byteSize))
        if hashlib.sha256(content).hexdigest() != declared or len(content) != size:
            wrong.append(address)
        count += 1
    return wrong, count


def package(slug):
    with frictionless.system.use_context(trusted=True):
        report = frictionless.validate(f"{BASE}/metadata/{slug}/datapackage.json")
    errors = [str(error.message) for error in report.errors]
    errors += [str(error.message) for task in report.tasks for error in task.errors]
    return {"errors": errors, "rows": {task.name: task.stats.get("rows") for task in report.tasks}}


def croissant(slug):
    dataset = mlcroissant.Dataset(f"{BASE}/metadata/{slug}/croissant.json")
    issues = dataset.metadata.ctx.issues
    rows = {one.uuid: sum(1 for _ in dataset.records(one.uuid)) for one in dataset.metadata.record_sets}
    return {"errors": sorted(issues.errors) + sorted(issues.warnings), "rows": rows}


def csvw(slug, table):
    read = CSVW(f"{BASE}/metadata/{slug}/{table}/csv-metadata.json", validate=True)
    rows = sum(1 for one in read.tables for _ in one)
    errors = [str(warning.message) for warning in read.warnings]
    return {"errors": errors + ([] if read.is_valid else ["not valid"]), "rows": {table: rows}}


def schema_org(slug):
    document = json.loads(fetch(f"{BASE}/metadata/{slug}/schema-org.jsonld"))
    # Its context is fetched from schema.org; what it says of names is this.
    document["@context"] = {"@vocab": "https://schema.org/"}
    graph = rdflib.Graph().parse(data=json.dumps(document), format="json-ld")
    schema = rdflib.Namespace("https://schema.org/")
    [dataset] = set(graph.subjects(rdflib.RDF.type, schema.Dataset))
    needed = ["name", "description", "license", "creator", "url", "distribution"]
    missing = [name for name in needed if graph.value(dataset, schema[name]) is None]
    length = len(str(graph.value(dataset, schema.description)))
    return {"errors": missing + ([] if 50 <= length <= 5000 else [f"a description of {length} characters"])}


def main():
    result = {}
    turtle, pages = dcat("ttl", "turtle")
    json_ld, _ = dcat("jsonld", "json-ld")
    slugs = sorted(str(one) for one in turtle.objects(None, DCTERMS.identifier))
    wrong, files = distributions(turtle)
    result["dcat"] = {
        "pages": pages,
        "slugs": slugs,
        "files": files,
        "wrong": wrong,
        "unlike": [slug for slug in slugs if not same(slug)],
        "datasets": [len(set(g.subjects(rdflib.RDF.type, DCAT.Dataset))) for g in (turtle, json_ld)],
        "violations": None if SHAPES is None else conforms(turtle) + conforms(json_ld),
    }
    for slug in slugs:
        packaged = package(slug)
        tables = list(packaged["rows"])
        result[slug] = {
            "package": packaged,
            "croissant": croissant(slug),
            "csvw": [csvw(slug, table) for table in tables],
            "schema_org": schema_org(slug),
        }
    return result


if __name__ == "__main__":
    # The loaders print what they do.
    with contextlib.redirect_stdout(io.StringIO()):
        found = main()
    print(json.dumps(found))
