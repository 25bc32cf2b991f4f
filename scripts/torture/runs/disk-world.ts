import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createFsAssetStore } from '../../../src/assets/stores/fs.ts'
import { createSqliteLog } from '../../../src/log/sqlite-log.ts'
import { fileEffects } from './effects.ts'
import { addLine, linesOf } from './lines.ts'
import type { World } from './play.ts'

/** A world in a folder, for processes that start and end. */
export interface DiskWorld extends World {
  /** The ids of the messages that any process accepted in a conversation. */
  acceptedIn(conversation: string): string[]
}

/** Opens a world: log, assets, effects, and accepted messages. */
export function openDiskWorld(folder: string): DiskWorld {
  const acceptedFile = join(folder, 'accepted')
  return {
    log: createSqliteLog(join(folder, 'log.sqlite')),
    store: createFsAssetStore({ rootDir: join(folder, 'assets') }),
    effects: fileEffects(join(folder, 'effects')),
    accepted: (conversation, id) => addLine(acceptedFile, [conversation, id]),
    invalid: (error) => assert.fail(`No provider takes this prompt: ${error}`),
    acceptedIn: (conversation) =>
      (linesOf(acceptedFile) as [string, string][]).flatMap(([of, id]) =>
        of === conversation ? id : [],
      ),
  }
}
