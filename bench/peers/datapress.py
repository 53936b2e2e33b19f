"""Serves a Parquet file with DataPress as it is fastest: rows in memory, indexes of values, nothing else."""

import asyncio
import sys

from datap_rs.datapress import DataPress, DataPressConfig, DatasetConfig


async def main() -> None:
    config = DataPressConfig(
        backend="datafusion",
        port=int(sys.argv[2]),
        workers=1,
        compress=False,
        swagger_enabled=False,
        explorer_enabled=False,
    )
    await DataPress(config, datasets=[DatasetConfig(name="caso_full", source=sys.argv[1])]).run()


asyncio.run(main())
