import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { openAgent } from '../../src/cli/open-agent.ts'
import type { Message } from '../../src/core/messages/message.ts'
import { providerServer } from '../../src/models/fixtures/provider-server.ts'
import { byref, dataset, nobody, serve, start, temporaryFolder } from './byref-process.ts'
import { barHeights } from './png-bars.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const data = join(folder.path, 'data')

type Row = Record<string, string | number | null>

/** Computes the sum or mean by group, independently of byref. */
function expected(
  rows: Row[],
  group: (row: Row) => string,
  column: string,
  mean = false,
): Map<string, number> {
  const groups = new Map<string, number[]>()
  for (const row of rows) {
    const value = row[column]
    if (typeof value !== 'number') continue
    groups.set(group(row), [...(groups.get(group(row)) ?? []), value])
  }
  const result = [...groups].map(([key, values]): [string, number] => {
    const sum = values.reduce((a, b) => a + b, 0)
    return [key, mean ? sum / values.length : sum]
  })
  return new Map(result.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function seattle(): Row[] {
  const [, ...lines] = readFileSync(dataset('seattle-weather.csv'), 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [date = '', precipitation] = line.split(',')
    return { date, precipitation: Number(precipitation) }
  })
}

const cars = (): Row[] => JSON.parse(readFileSync(dataset('cars.json'), 'utf8'))

/** Returns the content of a conversation in the log: messages, prompts and the state. */
async function read(conversation: string) {
  const { agent, close } = await openAgent({ data: data })
  const records = await agent.log.read(conversation, { limit: 1000 })
  const messages = records.flatMap(({ event }) =>
    event.type === 'NEW_MESSAGE' ? [event.payload] : [],
  )
  const debug = await Promise.all(messages.map(({ id }) => agent.debug(conversation, id)))
  await close()
  const prompts = debug.filter(Boolean).map((value) => JSON.stringify(value))
  const written = messages.filter(({ content_type }) => content_type === 'data')
  return { text: JSON.stringify(records), messages, prompts, written }
}

/** Returns how many of these values a prompt contains, quoted as in a tool's result or escaped again in a text. */
function countIn(prompt: string, values: readonly string[]): number {
  const found = [...new Set(values)].filter((value) => {
    return prompt.includes(`"${value}"`) || prompt.includes(`"${value}\\"`)
  })
  return found.length
}

const conversationOf = (stderr: string): string => /^conversation (\S+)$/m.exec(stderr)?.[1] ?? ''

function callsOf(messages: Message[]) {
  return messages.flatMap(({ metadata }) => metadata.tool_calls ?? [])
}

function isProportional(png: Uint8Array, values: number[]): void {
  const heights = barHeights(png)
  const scale = Math.max(...heights) / Math.max(...values)
  // Very low bars may have no pixel. No bar is close to this height.
  let limit = Math.max(...heights) / 50
  while (values.some((value) => Math.abs(value * scale - limit) < 2)) limit++
  const tall = values.filter((value) => value * scale > limit)
  const bars = heights.filter((height) => height > limit)
  expect(bars).toHaveLength(tall.length)
  for (const [i, value] of tall.entries()) {
    expect(Math.abs((bars[i] ?? 0) - value * scale), `bar ${i}`).toBeLessThanOrEqual(2)
  }
}

describe('byref run', () => {
  const stories = [
    {
      file: 'seattle-weather.csv',
      question: 'chart the monthly precipitation',
      column: 'precipitation',
      followUp: 'which month had the highest precipitation?',
      summary: () => expected(seattle(), (row) => String(row.date).slice(0, 7), 'precipitation'),
    },
    {
      file: 'cars.json',
      question: 'chart the average horsepower by origin',
      column: 'Horsepower',
      followUp: 'which origin has the highest average horsepower?',
      summary: () => expected(cars(), (row) => String(row.Origin), 'Horsepower', true),
    },
  ]
  const pictures = new Map<string, Buffer>()

  it.each(stories)(
    'charts $file with the numbers of an independent computation',
    async ({ file, question, column, followUp, summary }) => {
      const out = join(folder.path, `${file}.png`)
      const result = await byref([
        'run',
        question,
        '--file',
        dataset(file),
        '--out',
        out,
        '--data',
        data,
      ])
      expect(result.stderr).toMatch(/→ chart_rows \{"rows":"asset:\/\//)
      expect(result.code, result.stderr).toBe(0)
      expect(result.stdout).toMatch(/!\[.*\]\(<\|asset:\/\//)
      const conversation = conversationOf(result.stderr)
      const { text, messages, prompts, written } = await read(conversation)

      const block = written[0]?.content as { kind: string; data: { rows: Row[] } }
      const values = summary()
      expect(block.kind).toBe('state')
      expect(block.data.rows.map((row) => Object.values(row)[0])).toEqual([...values.keys()])
      for (const [i, value] of [...values.values()].entries()) {
        expect(block.data.rows[i]?.[column]).toBeCloseTo(value, 8)
      }
      const png = readFileSync(out)
      isProportional(png, [...values.values()])
      pictures.set(file, png)

      expect(callsOf(messages)[0]?.arguments).toMatchObject({
        rows: expect.stringMatching(/^asset:\/\/\w+\/content\/rows$/),
        _outputPath: expect.stringMatching(/^†state\.\w+$/),
      })
      expect(prompts.length).toBe(2)
      const rows = file.endsWith('.csv')
        ? readFileSync(dataset(file), 'utf8')
            .trim()
            .split('\n')
            .slice(1)
            .map((line) => line.split(',')[0] ?? '')
        : cars().map((row) => String(row.Name))
      for (const prompt of prompts) {
        const shown = countIn(prompt, rows)
        expect(shown).toBeGreaterThan(0)
        expect(shown).toBeLessThanOrEqual(3)
        expect(countIn(prompt, [...values.keys()])).toBeLessThanOrEqual(3)
        expect(prompt).not.toMatch(/[A-Za-z0-9+/]{200}/)
        expect(prompt).not.toContain('iVBOR')
      }
      expect(text).not.toContain('iVBOR')

      const follow = ['run', followUp, '--conversation', conversation, '--data', data]
      const second = await byref(follow)
      expect(second.code, second.stderr).toBe(0)
      const [best] = [...values].sort(([, a], [, b]) => b - a)
      expect(second.stdout).toContain(best?.[0])
      const after = await read(conversation)
      for (const prompt of after.prompts) expect(countIn(prompt, rows)).toBeLessThanOrEqual(3)
      const call = callsOf(after.messages).at(-1)
      expect(call).toMatchObject({
        name: 'rank_rows',
        arguments: { rows: expect.stringMatching(/^†state\./) },
      })
    },
  )

  it('makes different pictures from different files', () => {
    const [one, other] = [...pictures.values()]
    expect(one && other && one.equals(other)).toBe(false)
  })

  it.each([
    ['gapminder.json', 'plot the mean life_expect by year', /life_expect/],
    ['people.tsv', 'graph total pay per team', /"value":"Pay"/],
  ])('works with unknown files: %s', async (name, question, found) => {
    const own = join(folder.path, 'people.tsv')
    writeFileSync(own, 'Team\tPay\tName\nred\t10\tAda\nblue\t20\tBo\nred\t5\tCy\n')
    const file = name === 'people.tsv' ? own : dataset(name)
    const result = await byref(['run', question, '--file', file, '--data', data])
    expect(result.code, result.stderr).toBe(0)
    expect(result.stderr).toMatch(found)
    const { written } = await read(conversationOf(result.stderr))
    const block = written[0]?.content
    const { rows } = (block as { data: { rows: Row[] } }).data
    if (name === 'people.tsv')
      expect(rows).toEqual([
        { Team: 'blue', Pay: 20 },
        { Team: 'red', Pay: 15 },
      ])
    else expect(rows).toHaveLength(11)
  })

  it('reports errors in one line', async () => {
    const run = (...args: string[]) => byref(['run', ...args, '--data', data])
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^byref run needs a question/),
    })
    expect(await run('x', '--nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--nonsense/),
    })
    expect(await run('x', '--file', '/no/such.csv')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^byref: Cannot read \/no\/such\.csv.*\n$/),
    })
    expect(await run('x', '--conversation', 'none')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no conversation "none"/),
    })
    const broken = join(folder.path, 'broken.csv')
    writeFileSync(broken, 'a,b\n1,2\n"unclosed,3\n')
    const refused = await run('chart it', '--file', broken)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/byref: .*broken\.csv.*line/)
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  })

  it('names the provider whose key is wrong, and keeps the conversation', async () => {
    const provider = await providerServer([
      { status: 401, body: { error: { message: 'Incorrect API key' } } },
    ])
    const env = { OPENAI_BASE_URL: `${provider.url}/v1`, OPENAI_API_KEY: 'sk-wrong' }
    const result = await byref(['run', 'hello', '--json', '--data', data], env)
    await provider.close()
    expect(result.code).toBe(1)
    expect(result.stderr).toMatch(/byref: .*rejected the API key \(401: Incorrect API key\)/)
    const conversation = JSON.parse(result.stdout.trim().split('\n').at(-1) ?? '{}').threadId
    const again = await byref([
      'run',
      'hello again',
      '--conversation',
      conversation,
      '--data',
      data,
    ])
    expect(again.code).toBe(0)
    const { messages } = await read(conversation)
    expect(messages.map(({ content }) => content).slice(0, 2)).toEqual(['hello', 'hello again'])
  })

  it('stops the run on Ctrl-C and waits for its end', async () => {
    const provider = await providerServer([{ events: [], hang: true }])
    const env = { OPENAI_BASE_URL: `${provider.url}/v1`, BYREF_MODEL: 'slow' }
    const running = start(['run', 'hello', '--data', data], env)
    await expect.poll(() => provider.requests.length).toBe(1)
    running.process.kill('SIGINT')
    const { code, stderr } = await running.ended
    await provider.close()
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ended: cancelled$/m),
    })
    const { text } = await read(conversationOf(stderr))
    expect(text).toMatch(/"RUN_FINISHED".*"cancelled"/)
  })
})

describe('byref serve', () => {
  it('prints three lines, and ends cleanly on a signal', async () => {
    const server = await serve(join(folder.path, 'fresh'))
    expect(server.greeting.trim().split('\n')).toHaveLength(3)
    expect(server.greeting).toMatch(/demo model/)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(await server.stop('SIGINT')).toBe(0)
    const started = await serve(folder.path, {}, { channel: true })
    expect(await started.stop('SIGTERM')).toBe(0)
  })

  it('continues when nobody reads its output any more', async () => {
    const port = await freePort()
    const server = start(['serve', '--port', `${port}`, '--data', join(folder.path, 'unread')])
    server.process.stdout?.destroy()
    const health = () => fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status)
    await expect.poll(() => health().catch(() => 0), { timeout: 10_000 }).toBe(200)
    for (let i = 0; i < 20; i++) expect(await health()).toBe(200)
    server.process.kill()
    expect((await server.ended).code).toBe(0)
  })

  it('reports a port in use, and an unusable data folder', async () => {
    const busy = createServer()
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
    const { port } = busy.address() as { port: number }
    const taken = await byref(['serve', '--port', String(port), '--data', join(folder.path, 'a')])
    busy.close()
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toBe(
      `byref: Port ${port} is in use: stop the program that listens there, or choose another port (--port on the command line)\n`,
    )

    const file = join(folder.path, 'a-file')
    writeFileSync(file, '')
    const noFolder = await byref(['serve', '--port', '0', '--data', file])
    expect(noFolder.code).toBe(1)
    expect(noFolder.stderr).toMatch(
      /^byref: The data folder .*a-file cannot be used.*is a file.*--data\n$/,
    )
  })

  it('reports a data folder without write permission', async ({ skip }) => {
    const locked = mkdtempSync(join(folder.path, 'locked-'))
    chmodSync(locked, 0o500)
    const as = nobody()
    if (!as && process.getuid?.() === 0) skip('nobody cannot read this clone')
    const result = await byref(['serve', '--port', '0', '--data', locked], {}, as ?? undefined)
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(/^byref: The data folder .*permission denied.*--data.*\n$/)
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'continues a run that %s interrupted',
    async (signal) => {
      const path = mkdtempSync(join(folder.path, `${signal}-`))
      const provider = await providerServer([{ events: [], hang: true }])
      const env = { OPENAI_BASE_URL: `${provider.url}/v1`, BYREF_MODEL: 'slow' }
      const server = await serve(path, env)
      const api = `${server.url}/api/conversations`
      const { id } = (await (await fetch(api, { method: 'POST' })).json()) as { id: string }
      const sent = await fetch(`${api}/${id}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'hello' }),
      })
      expect(sent.status).toBe(202)
      await expect.poll(() => provider.requests.length).toBe(1)
      expect(await server.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
      if (signal === 'SIGTERM')
        expect(server.output.stdout).toMatch(/1 conversation\(s\) .*next start/)
      await provider.close()
      if (signal === 'SIGTERM') {
        // Releases the lease, which would last ten seconds.
        const { agent, close } = await openAgent({ data: path })
        const left = await agent.log.find(id)
        await close()
        expect(left).toMatchObject({ openRun: expect.any(String), lease: null })
      }
      const again = await serve(path)
      const list = async () => (await fetch(`${again.url}/api/conversations`)).json()
      // The lease of the dead process must expire before another one continues.
      await expect
        .poll(list, { timeout: 60_000 })
        .toMatchObject({ conversations: [{ status: 'idle', messages: 2 }] })
      const events = JSON.stringify(
        await (await fetch(`${again.url}/api/conversations/${id}/events`)).json(),
      )
      expect(events).toContain('RUN_CLAIMED')
      expect(events).toMatch(/demo model: a few rules/)
      await again.stop()
    },
  )
})
