"""Reads the rows of a table from rows.bin, as docs/reference/format.md says: python format.py FOLDER_OF_A_TABLE"""

import json
import struct
import sys
import zlib
from pathlib import Path

import duckdb


def unpack(fmt, data, at):
    return struct.unpack_from("<" + fmt, data, at)


class Container:
    """The chunks of a .bin file, each compared with its sum."""

    def __init__(self, folder, entry, chunks):
        assert entry["container"] == 2
        self.data = (folder / entry["file"]).read_bytes()
        sections = -(-chunks // 2048) * 12
        end = len(self.data) - 4
        (total,) = unpack("I", self.data, end)
        assert total == entry["directory_sum"] == zlib.crc32(self.data[end - sections : end])
        first = end - sections - 8 * chunks
        self.entries = [unpack("II", self.data, first + 8 * chunk) for chunk in range(chunks)]
        for section in range(sections // 12):
            start, checksum = unpack("QI", self.data, end - sections + 12 * section)
            part = self.data[first + section * 16384 : min(first + (section + 1) * 16384, end - sections)]
            assert checksum == zlib.crc32(part)
            assert start == sum(length for length, _ in self.entries[: section * 2048])

    def __iter__(self):
        at = 0
        for length, checksum in self.entries:
            chunk = self.data[at : at + length]
            assert zlib.crc32(chunk) == checksum
            yield chunk
            at += length


def numbers(data, at, width, rows):
    """The numbers of some rows, and where they end."""
    end = at + -(-width * rows // 8)
    bits = int.from_bytes(data[at:end], "little")
    return [(bits >> (width * row)) & ((1 << width) - 1) for row in range(rows)], end


def decimal(integer, form):
    digits = form - (101 if form >= 101 else 1)
    if digits == 0:
        return str(integer)
    text = str(abs(integer)).rjust(digits + 1, "0")
    whole, fraction = text[:-digits], text[-digits:]
    if form < 101:
        fraction = fraction[0] + fraction[1:].rstrip("0")
    return ("-" if integer < 0 else "") + whole + "." + fraction


def column(data, at, rows, values):
    """The texts of a field in a chunk, and where it ends; values: of the dictionary, null last."""
    if values is not None:
        width, least = unpack("BH", data, at)
        codes, end = numbers(data, at + 3, width, rows)
        return [values[least + code] for code in codes], end
    form, width = unpack("BB", data, at)
    if form not in (0, 255):
        (least,) = unpack("d", data, at + 2)
        found, end = numbers(data, at + 10, width, rows)
        return [None if n == 0 else decimal(n - 1 + int(least), form) for n in found], end
    least, size = unpack("II", data, at + 2)
    lengths, first = numbers(data, at + 10, width, rows)
    stored = data[first : first + size]
    texts = zlib.decompress(stored[4:], -15) if form == 255 else stored
    found, start = [], 0
    for length in (least + n for n in lengths):
        found.append(None if length == 0 else texts[start : start + length - 1].decode())
        start += max(0, length - 1)
    return found, first + size


def dictionary(folder, entry):
    values = {field["name"]: [] for field in entry["fields"]} if entry else {}
    if entry:
        names = list(values)
        query = "select field, value from read_parquet(?, file_row_number = true) order by file_row_number"
        for field, value in duckdb.sql(query, params=[str(folder / entry["file"])]).fetchall():
            values[names[field]].append(value)
    return {name: [*found, None] for name, found in values.items()}


def rows_of(table):
    manifest = json.loads((table / "current.json").read_text())
    folder = table / manifest["snapshot"]
    values = dictionary(folder, manifest.get("dictionary"))
    count = manifest["rows"]
    for number, chunk in enumerate(Container(folder, manifest["row_store"], -(-count // 128))):
        rows, at, columns = min(128, count - 128 * number), 0, {}
        for field in manifest["fields"]:
            columns[field["name"]], at = column(chunk, at, rows, values.get(field["name"]))
        assert at == len(chunk)
        for row in range(rows):
            yield {name: found[row] for name, found in columns.items()}


if __name__ == "__main__":
    for row in rows_of(Path(sys.argv[1])):
        print(json.dumps(row, ensure_ascii=False))
