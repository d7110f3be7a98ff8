"""A table of a Sluice server as a folder of Parquet files, through Spark.

    PYTHONPATH=examples/python:examples/spark python examples/spark/to_parquet.py --output /tmp/orders

or, on a cluster,

    spark-submit --py-files examples/python/sluice.py,examples/spark/sluice_datasource.py examples/spark/to_parquet.py --output s3a://...
"""
import argparse

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import sluice
from sluice_datasource import SluiceDataSource

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
parser.add_argument('--table', default='shop.orders')
parser.add_argument('--splits', type=int, default=4)
parser.add_argument('--output', required=True)
args = parser.parse_args()

spark = SparkSession.builder.appName('sluice').getOrCreate()
spark.dataSource.register(SluiceDataSource)

# One export for the whole job: however often Spark reads, it reads the same rows; and it ends with the job.
with sluice.Export(args.url, args.table, decimal='decimal128:2', duration='struct', splits=args.splits) as export:
    orders = spark.read.format('sluice').option('url', args.url).option('export', export.id).load()
    # One Parquet file for each ticket, or several of a large one.
    orders.where(F.col('status') != 'cancelled').write.mode('overwrite').parquet(args.output)

written = spark.read.parquet(args.output)
print(f'{written.count()} orders written')
written.groupBy('currency').agg(F.count('*').alias('orders'), F.sum('total').alias('total')).orderBy('currency').show()
spark.stop()
