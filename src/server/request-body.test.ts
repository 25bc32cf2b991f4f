import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openApi } from './fixtures/api.ts'

interface Refused {
  error: { message: string; issues?: { path: string; message: string }[] }
}

/** Returns the distinct paths of the issues of a rejected request. */
async function pathsOf(answer: Response): Promise<string[]> {
  expect(answer.status).toBe(400)
  const { error } = (await answer.json()) as Refused
  const { issues = [] } = error
  expect(new Set(issues.map((issue) => JSON.stringify(issue))).size).toBe(issues.length)
  return [...new Set(issues.map(({ path }) => path))]
}

describe('a JSON body', () => {
  it.each([
    [gzipSync('{"title":"a"}'), { 'content-encoding': 'gzip' }, 'content-encoding gzip is not'],
    [Buffer.from('{"title":"é"}', 'latin1'), {}, 'not valid UTF-8'],
    [Buffer.from('{"title":"é"}', 'latin1'), { 'content-length': '13' }, 'not valid UTF-8'],
  ])('that is not plain UTF-8 is rejected: %#', async (body, more, message) => {
    const { ask } = openApi()
    const headers = { 'content-type': 'application/json', ...more }
    const answer = await ask('/api/conversations', { method: 'POST', body, headers })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: { code: 'bad_request', message: expect.stringContaining(message) } },
    ])
  })
})

describe('the issues of a message', () => {
  it.each([
    [{ content: 'x', attachments: ['asset://a'] }, ['attachments.0']],
    [{ content: 'x', ifBusy: 'wait' }, ['ifBusy']],
    [{ messages: [{ content: 'x', attachments: ['asset://a'] }] }, ['messages.0.attachments.0']],
    [{ messages: [{ content: 'x' }], ifBusy: 'wait' }, ['ifBusy']],
    [{ messages: [{ content: 'x' }], content: 'y' }, ['']],
    [{ content: ' ' }, ['content']],
    [{ content: 'x', label: { readers: [5] } }, ['label.readers.0']],
  ])('of %j are those of the form that fits best', async (json, paths) => {
    const { ask, askJson } = openApi()
    const { id } = await askJson('/api/conversations', { method: 'POST', json: {} })
    const path = `/api/conversations/${id}/messages`
    expect(await pathsOf(await ask(path, { method: 'POST', json }))).toEqual(paths)
  })
})

describe('the issues of edits and conditions', () => {
  it.each([
    [{ find: 'x' }, ['edits.0.replace']],
    [{ find: 'x', replace: 'y', occurrence: 'first' }, ['edits.0.occurrence']],
    [{ lines: [0, 1], firstLine: 'x', replace: 'y' }, ['edits.0.lines.0']],
    [{ op: 'copy', path: '/a' }, ['edits.0.from']],
    [{ op: 'add', path: '/a' }, ['edits.0.value']],
    ['x', ['edits.0']],
  ])('of the edit %j name its place', async (edit, paths) => {
    const { ask } = openApi()
    const answer = await ask('/api/assets/a/edit', { method: 'POST', json: { edits: [edit] } })
    expect(await pathsOf(answer)).toEqual(paths)
  })

  it('name the parameter of a list in a query', async () => {
    const { ask, askJson } = openApi()
    const headers = { 'content-type': 'text/csv' }
    const { table } = await askJson<{ table: { assetId: string } }>('/api/assets?name=t.csv', {
      method: 'POST',
      body: 'a\n1\n',
      headers,
    })
    const at = `/api/assets/${table.assetId}/rows`
    const where = JSON.stringify([{ column: 'a', is: 'like', to: 1 }])
    expect(await pathsOf(await ask(`${at}?where=${encodeURIComponent(where)}`))).toEqual([
      'where.0.is',
    ])
    expect(await pathsOf(await ask(`${at}?columns=[1]`))).toEqual(['columns.0'])
  })

  it('says what is wrong with the options of a run and of a fork', async () => {
    const { ask } = openApi(['Hello'])
    const sent = await ask('/api/conversations', { method: 'POST', json: {} })
    const { id } = (await sent.json()) as { id: string }
    const reason = async (path: string, json: object) => {
      const answer = await ask(`/api/conversations/${id}/${path}`, { method: 'POST', json })
      expect(answer.status).toBe(400)
      return ((await answer.json()) as { error: { message: string } }).error.message
    }
    const settings = { temprature: 1 }
    expect(await reason('messages', { content: 'x', settings })).toContain('temperature')
    expect(await reason('messages', { content: 'x', output: { type: 'nope' } })).toContain('type')
    expect(await reason('fork', { at: 'a', before: 'b' })).toContain('either')
  })
})
