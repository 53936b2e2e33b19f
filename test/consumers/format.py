"""Reads the rows of a table from its row stores, as docs/reference/format.md says: python format.py FOLDER_OF_A_TABLE"""

import json
import struct
import sys
import zlib
from pathlib import Path


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


def rows_of(table):
    manifest = json.loads((table / "current.json").read_text())
    folder = table / manifest["snapshot"]
    for part, entry in zip(manifest["parts"], manifest["row_stores"], strict=True):
        size = entry["chunk_rows"]
        texts = -(-part["rows"] // size)
        chunks = list(Container(folder, entry, texts + -(-texts // 64)))
        for first in range(0, texts, 64):
            count = min(64, texts - first)
            rows = min(64 * size, part["rows"] - size * first)
            index = unpack(f"{count + rows}I", chunks[texts + first // 64], 0)
            for number in range(count):
                text, start = zlib.decompressobj(-15).decompress(chunks[first + number]), 0
                assert zlib.crc32(text[:-1]) == index[number]
                assert chunks[first + number].endswith(b"\x00\x01\x00\xfe\xff,")
                for end in index[count + size * number : count + size * (number + 1)]:
                    assert text[end - 1 : end] == b","
                    yield text[start : end - 1].decode()
                    start = end
                assert start == len(text)


if __name__ == "__main__":
    for row in rows_of(Path(sys.argv[1])):
        print(row)
