import { type Check, is, type OptionTable } from '../../core/check-options.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { RecordIndex } from '../records/record-index.ts'

/** The parts of a store. */
export interface StoreParts {
  /** The index of records. */
  records: RecordIndex
  /** Where their bytes are. Bodies belong to one index; a sweep rejects the bodies of another. */
  bodies: BodyStore
  /**
   * Whether each record is also kept among the bodies, as a file of its own, so that `rebuildRecords` can restore a lost
   * index. Default: false. Not for published bodies: records contain names and who made what.
   */
  recordFiles?: boolean
}

export const INDEX: Check<RecordIndex> = is.having(
  'an index, such as sqliteRecords(path)',
  'add',
  'remove',
)

export const PARTS: OptionTable<StoreParts> = {
  records: is.required(INDEX),
  bodies: is.required(is.having('a body store, such as fsBodies(folder)', 'put', 'open')),
  recordFiles: is.boolean,
}
