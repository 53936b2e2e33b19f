"""What OpenAPI cannot say of the service, for schemathesis: each rule stands in the descriptions of the operations."""

import re
import unicodedata

import schemathesis
from hypothesis import strategies

# Formats of the OpenAPI registry that the tool has no values for.
DATE_TIME_LOCAL = strategies.datetimes(
    min_value=__import__("datetime").datetime(1, 1, 1),
).map(lambda moment: moment.isoformat(timespec="seconds"))
schemathesis.openapi.format("date-time-local", DATE_TIME_LOCAL)

CONDITIONS_MAX = 30


def texts(name, value):
    """The values of a parameter; the tool may have put commas between those of a list already."""
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return str(value).split(",") if name in LISTS or re.search(r"__(in|range)$", name) else [str(value)]


LISTS = ("ordering", "order-by", "fields", "group", "measure")


def only_marks(text):
    return all(unicodedata.category(character).startswith("M") for character in unicodedata.normalize("NFD", text))


@schemathesis.hook
def filter_case(context, case):
    """Whether a query is one that the schema alone can judge."""
    query = case.query
    # Searches of CKAN have a language of their own.
    asked = case.body if isinstance(case.body, dict) else query or {}
    if case.path.endswith("/package_search"):
        return all(re.fullmatch(r"\w*", str(asked.get(name, ""))) for name in ("q", "fq"))
    if not query:
        return True
    names = set(query)
    conditions = [name for name in names if "__" in name or f"{name}__eq" in names]
    # A field and its __eq are the same condition, and so are the two words for an order.
    if any(f"{name}__eq" in names for name in names) or {"ordering", "order-by"} <= names:
        return False
    if len(conditions) > CONDITIONS_MAX or len(names) > CONDITIONS_MAX:
        return False
    for name, value in query.items():
        # Objects are written in a way of the tool's own, some of them as nothing.
        if isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(one, (str, int, float, bool)) for one in value)):
            return False
        all_texts = texts(name, value)
        # An empty value asks for nothing, whatever the parameter.
        if not all_texts or any(text == "" for text in all_texts):
            return False
        # The ancestor's word for null.
        if all_texts == ["None"]:
            return False
        # A field may stand in an order once, whatever its direction.
        if name in ("ordering", "order-by") and len({text.lstrip("-") for text in all_texts}) < len(all_texts):
            return False
        # Commas and quotes stand between values of a list, so that one value may read as several.
        if re.search(r"__(in|range)$", name) and any(re.search(r'[,"]', text) for text in all_texts):
            return False
        if name.endswith("__range") and isinstance(value, str) and len(all_texts) != 2:
            return False
        # What is left of a text without its accents is what is looked for.
        if re.search(r"__(contains|startswith)$", name) or name == "search":
            if any(only_marks(word) for text in all_texts for word in (text.split() if name == "search" else [text])):
                return False
            if name == "search" and (len(all_texts[0].split()) > 10 or not all_texts[0].split()):
                return False
    # Conditions and orders of groups name what the answer has.
    if case.path.endswith("/aggregate/"):
        keys = [text for name in ("group", "measure") for text in texts(name, query.get(name, []))]
        if "measure" not in names:
            keys.append("rows")
        if any(name.startswith("rows") for name in names) and "rows" not in keys:
            return False
        if any(text.lstrip("-") not in keys for text in texts("ordering", query.get("ordering", []))):
            return False
    # Parquet is only for all rows and fields.
    if query.get("format") == "parquet" and names != {"format"}:
        return False
    return True
