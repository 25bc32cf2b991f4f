import { newId } from '../../content/new-id.ts'
import type { Tables } from '../../postgres/migrate.ts'

/**
 * The tables of the index. A namespace '' is none. Names are compared byte by byte, as they are in every index. A record's
 * `bodies` are JSON: digest, size and key of each, its own first. `spaces` says what a namespace holds, and is what
 * those wait for who add to it or take from it at the same time.
 */
export function recordTables(): Tables {
  return {
    part: 'records',
    name: 'The index of assets',
    code: 'config_invalid',
    steps: [
      [
        'CREATE TABLE byref.assets_self (id text NOT NULL)',
        `INSERT INTO byref.assets_self (id) VALUES ('${newId()}')`,
        `CREATE TABLE byref.assets (
           namespace text COLLATE "C" NOT NULL,
           id text COLLATE "C" NOT NULL,
           created text COLLATE "C" NOT NULL,
           expires text COLLATE "C",
           record text NOT NULL,
           bodies text NOT NULL,
           PRIMARY KEY (namespace, id)
         )`,
        'CREATE INDEX assets_by_age ON byref.assets (namespace, created, id)',
        'CREATE INDEX assets_by_end ON byref.assets (expires) WHERE expires IS NOT NULL',
        `CREATE INDEX assets_by_end_within ON byref.assets (namespace, expires)
           WHERE expires IS NOT NULL`,
        `CREATE TABLE byref.assets_bodies (
           namespace text COLLATE "C" NOT NULL,
           digest text COLLATE "C" NOT NULL,
           key text COLLATE "C" NOT NULL UNIQUE,
           size bigint NOT NULL,
           users integer NOT NULL,
           PRIMARY KEY (namespace, digest)
         )`,
        `CREATE TABLE byref.assets_spaces (
           namespace text COLLATE "C" PRIMARY KEY,
           assets bigint NOT NULL,
           bytes bigint NOT NULL
         )`,
      ],
    ],
  }
}
