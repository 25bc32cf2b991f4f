import { byref } from './byref.ts'
import type { Contestant } from './contestant.ts'
import { dbos } from './dbos.ts'
import { pgBoss } from './pg-boss.ts'

export const contestants: Readonly<Record<string, Contestant>> = {
  byref,
  dbos,
  'pg-boss': pgBoss,
}
