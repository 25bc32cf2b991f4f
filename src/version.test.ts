import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { version } from './version.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

it('the version is that of package.json', () => {
  expect(version).toBe(manifest.version)
})

it('the oldest Node is that of engines', () => {
  const [, oldest] =
    /const OLDEST = \[(\d+, \d+)\]/.exec(
      readFileSync(new URL('./node-builtin.ts', import.meta.url), 'utf8'),
    ) ?? []
  expect(manifest.engines.node).toBe(`>=${oldest?.replace(', ', '.')}`)
})
