import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runMain } from './fixtures/run-main.ts'
import { checkWritable, chooseTask, note, ProgressLine, parseOptions, shown } from './terminal.ts'

describe('parseOptions', () => {
  const options = { out: { type: 'string' }, yes: { type: 'boolean' } } as const

  it.each([
    ['--uot', 'Unknown option "--uot". Did you mean "--out"? (byref run --help)'],
    ['--colour', 'Unknown option "--colour". (byref run --help)'],
    ['-o', 'Unknown option "-o". (byref run --help)'],
    ['--out', "Option '--out <value>' argument missing (byref run --help)"],
    ['--out=', '--out must not be empty (byref run --help)'],
  ])('names the option that was meant: %s', (arg, message) => {
    expect(() => parseOptions('run', [arg], { options })).toThrow(
      expect.objectContaining({ message }),
    )
  })
})

describe('chooseTask', () => {
  it('suggests the task that was probably meant', () => {
    const choose = () => chooseTask('mcp', '', { serve: 1, proxy: 2 }, 'prxoy')
    expect(choose).toThrow('There is no byref mcp prxoy. Did you mean "proxy"? Valid: serve, proxy')
  })
})

describe('checkWritable', () => {
  it('accepts a name in an existing folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-out-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    await checkWritable(join(folder, 'chart.png'))
    await expect(checkWritable(join(folder, 'no/chart.png'))).rejects.toThrow('does not exist')
    await expect(checkWritable(folder)).rejects.toThrow('it is a folder')
  })
})

describe('shown', () => {
  it('escapes what a terminal would execute or hide', () => {
    expect(shown('\u001b[2K\rpay 1')).toBe('\\u{1b}[2K\\u{d}pay 1')
    expect(shown('\u009b31m')).toBe('\\u{9b}31m')
    expect(shown('to: \u202egro.live\u202c')).toBe('to: \\u{202e}gro.live\\u{202c}')
    expect(shown('a\u200bb\u2028c\ud800')).toBe('a\\u{200b}b\\u{2028}c\\u{d800}')
  })

  it('does not change words of any language, lines and tabs', () => {
    const text = 'naïve 日本語 שלום 👩\u200d🚀\r\n\tnext'
    expect(shown(text)).toBe(text)
  })
})

describe('stderr', () => {
  it('gets no control characters of names and messages', () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { isTTY } = process.stderr
    onTestFinished(() => {
      written.mockRestore()
      process.stderr.isTTY = isTTY
    })
    process.stderr.isTTY = true
    note('a\u001b[31mb')
    new ProgressLine().show('saving a\u001b]0;b', 1, 2)
    expect(written.mock.calls.map(([text]) => text)).toEqual([
      'a\\u{1b}[31mb\n',
      '\r\u001b[Ksaving a\\u{1b}]0;b 50%',
    ])
  })

  it('gets no control characters of an error that ends the program', async () => {
    expect((await runMain('a\u001b[31mb')).err).toContain('There is no command "a\\u{1b}[31mb"')
  })
})
