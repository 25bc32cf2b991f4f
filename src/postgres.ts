export { type PostgresRecordsOptions, postgresRecords } from './assets/records/postgres-records.ts'
export { createPostgresLog, type PostgresLogOptions } from './log/postgres-log.ts'
