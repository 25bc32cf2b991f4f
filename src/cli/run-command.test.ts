import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { command } from './run-command.ts'

it.each([
  ['chart', /^--out saves an image: its name must end in \.png, .*, not ".*chart"$/],
  ['chart.pdf', /its name must end in \.png/],
  ['none/chart.png', /^Cannot write .*: its folder does not exist/],
])('byref run checks --out %s before it starts', async (name, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'byref-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const args = ['chart the rain', '--out', join(folder, name), '--data', join(folder, 'data')]
  await expect(command(args)).rejects.toThrow(message)
  expect(readdirSync(folder)).toEqual([])
})
