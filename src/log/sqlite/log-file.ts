/**
 * The steps of the file's migration. `sum` is the checksum of a record's position, event and time; debug data begin
 * with their checksum.
 */
export const MIGRATIONS: readonly string[] = [
  // Row ids are never reused, because other processes continue to read after the last id that they saw.
  `CREATE TABLE conversations (
     key INTEGER PRIMARY KEY AUTOINCREMENT,
     namespace TEXT NOT NULL,
     id TEXT NOT NULL,
     name TEXT,
     created INTEGER NOT NULL,
     updated INTEGER NOT NULL,
     position INTEGER NOT NULL DEFAULT 0,
     state TEXT,
     due INTEGER NOT NULL DEFAULT 0,
     root TEXT,
     lease_owner TEXT,
     lease_until INTEGER,
     imported INTEGER NOT NULL DEFAULT 0,
     damage TEXT,
     UNIQUE (namespace, id)
   ) STRICT;
   CREATE INDEX conversations_by_update ON conversations (namespace, updated, key);
   CREATE INDEX conversations_by_root ON conversations (namespace, root) WHERE root IS NOT NULL;
   CREATE INDEX conversations_due ON conversations (updated, key) WHERE due = 1;
   CREATE TABLE records (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation INTEGER NOT NULL,
     position INTEGER NOT NULL,
     at INTEGER NOT NULL,
     event TEXT NOT NULL,
     sum INTEGER NOT NULL,
     message TEXT,
     deleted INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE UNIQUE INDEX records_by_position ON records (conversation, position);
   CREATE INDEX records_by_message ON records (conversation, message) WHERE message IS NOT NULL;
   CREATE INDEX records_deleted ON records (conversation) WHERE deleted = 1;
   CREATE TABLE debug (
     id INTEGER PRIMARY KEY,
     conversation INTEGER NOT NULL,
     message TEXT NOT NULL,
     value TEXT NOT NULL,
     UNIQUE (conversation, message)
   ) STRICT;
   CREATE TABLE notices (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     record INTEGER NOT NULL,
     at INTEGER NOT NULL,
     namespace TEXT NOT NULL,
     conversation TEXT NOT NULL,
     deleted INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE leftovers (key INTEGER PRIMARY KEY, touched INTEGER NOT NULL) STRICT;
   CREATE TABLE searchable (indexed INTEGER NOT NULL) STRICT;
   INSERT INTO searchable (indexed) VALUES (0);
   CREATE VIRTUAL TABLE search USING fts5 (
     text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
   );
   CREATE TABLE runs (
     -- Counts of tokens may be any number.
     key INTEGER PRIMARY KEY,
     conversation INTEGER NOT NULL,
     namespace TEXT NOT NULL,
     run TEXT NOT NULL,
     status TEXT NOT NULL,
     agent TEXT,
     error TEXT,
     started INTEGER NOT NULL,
     finished INTEGER,
     models TEXT NOT NULL,
     tools TEXT NOT NULL,
     input REAL,
     cached REAL,
     output REAL,
     cost REAL,
     unpriced INTEGER NOT NULL,
     split INTEGER NOT NULL,
     data TEXT NOT NULL,
     UNIQUE (conversation, run)
   ) STRICT;
   CREATE INDEX runs_by_start ON runs (namespace, started, key);`,
]
