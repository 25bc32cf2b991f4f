export { type SqliteRecordsOptions, sqliteRecords } from './assets/records/sqlite-records.ts'
export { createSqliteLog, type SqliteLogOptions } from './log/sqlite-log.ts'
