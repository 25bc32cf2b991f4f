import { describe, expect, it } from 'vitest'
import { openApi, refusal } from './fixtures/api.ts'

interface Edited {
  asset: { assetId: string; ref: string }
  ref: string
  diff: string
}

async function file(text: string) {
  const api = openApi()
  const { asset } = await api.askJson<Edited>('/api/assets?name=a.txt', {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'text/plain' },
  })
  const edit = (body: object) =>
    api.ask(`/api/assets/${asset.assetId}/edit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { ...api, asset, edit }
}

describe('POST /api/assets/:id/edit', () => {
  it('answers with the new version and its diff, and lists the versions', async () => {
    const { ask, askJson, asset, edit } = await file('one\ntwo\n')
    const answer = await edit({ edits: [{ find: 'two', replace: 'zwei' }] })
    expect(answer.status).toBe(201)
    const edited = (await answer.json()) as Edited
    expect(edited).toMatchObject({
      asset: { previous: asset.ref, name: 'a.txt' },
      diff: '@@ -1,2 +1,2 @@\n one\n-two\n+zwei',
    })
    const body = await ask(`/api/assets/${edited.asset.assetId}/content`)
    expect(await body.text()).toBe('one\nzwei\n')
    const { versions } = await askJson<{ versions: { ref: string }[] }>(
      `/api/assets/${asset.assetId}/versions`,
    )
    expect(versions.map(({ ref }) => ref)).toEqual([asset.ref, edited.asset.ref])
  })

  it('saves nothing in a dry run', async () => {
    const { askJson, asset, edit } = await file('one')
    const answer = await edit({ edits: [{ find: 'one', replace: 'two' }], dryRun: true })
    expect(answer.status).toBe(200)
    expect(await askJson(`/api/assets/${asset.assetId}/versions`)).toMatchObject({
      versions: [{ ref: asset.ref }],
    })
  })

  it.each<[object, number, string]>([
    [{ edits: [{ find: 'none', replace: '' }] }, 409, 'edit_rejected'],
    [{ edits: [{ search: 'one' }] }, 400, 'bad_request'],
    [{ edits: [] }, 400, 'bad_request'],
    [{ edits: [{ find: 'one', replace: '' }], path: 'content/a' }, 422, 'asset_unsupported'],
  ])('rejects %j', async (body, status, code) => {
    const { edit } = await file('one')
    expect(await refusal(await edit(body))).toMatchObject({ status, code })
  })
})
