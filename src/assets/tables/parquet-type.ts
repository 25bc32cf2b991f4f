/** What tables are stored as (IANA, application/vnd.apache.parquet). */
export const PARQUET_TYPE = 'application/vnd.apache.parquet'
