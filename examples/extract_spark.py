#!/usr/bin/env python3
"""`toolgraft extract` over more records than one machine holds, by Spark.

    spark-submit extract_spark.py INPUT OUTPUT [OPTION OF EXTRACT…]

INPUT and OUTPUT are what Spark reads and writes (`hdfs://…`, `s3a://…`, folders), with one record
a line, as docs/extract.md has them. The program `toolgraft` must be on every machine, on the PATH
or at TOOLGRAFT. Each partition is one run of it; the files of OUTPUT sort as the records did.
Files of INPUT come in the order of their names where it is a pattern (`in/*`); those of a bare
folder come as its file system lists them.

A line that is no record becomes one with an `error`, whose line number is that within its partition.
"""

import os
import shlex
import sys

from pyspark.sql import SparkSession


def main(source, folder, *options):
    program = os.environ.get("TOOLGRAFT", "toolgraft")
    # One job: Spark gives each partition a processor.
    # 1 says that a line was no record; any other failure must fail the partition, which Spark
    # then runs again.
    command = shlex.join(["sh", "-c", '"$0" extract --threads 1 "$@" || [ $? = 1 ]', program, *options])
    spark = SparkSession.builder.appName("toolgraft extract").getOrCreate()
    spark.sparkContext.textFile(source).pipe(command, checkCode=True).saveAsTextFile(folder)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
