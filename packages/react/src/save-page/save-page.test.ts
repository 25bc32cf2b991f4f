import { ApiError } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { client, server as shown } from '../testing/server.ts'
import { DATA_ID, type SavedPage } from './page.ts'
import { savePage } from './save-page.ts'

const TEMPLATE = `<script type="application/json" id="${DATA_ID}"></script><p>app</p>`

/** A conversation with this text, on a server with these assets. */
function server(content: string, known: Record<string, object>) {
  const event = { type: 'NEW_MESSAGE', payload: { id: 'm', content } }
  const lines = [JSON.stringify({ byref: 'conversation' }), JSON.stringify({ event })]
  vi.spyOn(client, 'exportConversation').mockResolvedValue(
    new Response(lines.join('\n'), {
      headers: {
        'content-disposition': "attachment; filename*=UTF-8''It%20rains%202026-01-01.jsonl",
      },
    }),
  )
  vi.spyOn(client, 'assetContent').mockImplementation(async () => new Response('body'))
  return vi.spyOn(client, 'asset').mockImplementation(async (ref) => {
    const assetId = ref.replace('asset://', '')
    const asset = { assetId, name: `${assetId}.txt`, size: 4, table: null, ...known[assetId] }
    return assetId in known ? ({ asset, meta: {} } as never) : null
  })
}

async function save(signal = new AbortController().signal) {
  const saved = await savePage(shown, 'c', { debug: false, signal, onProgress: () => {} })
  const html = await saved.html.text()
  const [, data = ''] = /id="byref-saved-page">(.*)<\/script><p>/s.exec(html) ?? []
  return { saved, html, data, page: JSON.parse(data) as SavedPage }
}

beforeEach(() => {
  vi.restoreAllMocks()
  vi.stubGlobal('fetch', async () => new Response(TEMPLATE))
})

describe('savePage', () => {
  it('finds assets wherever a text names them, each once', async () => {
    const text =
      '![a](asset://a1), <|asset://b2/content|>, asset://c3. `asset://d4` (asset://a1/content) asset://team/gone!'
    const asked = server(text, { a1: {}, b2: {}, c3: {}, d4: {} })
    const { page, saved } = await save()
    expect(page.assets.map(({ asset }) => asset.assetId)).toEqual(['a1', 'b2', 'c3', 'd4'])
    expect(page.assets[0]?.body).toBe(btoa('body'))
    expect(asked.mock.calls.map(([ref]) => ref)).toContain('asset://team/gone')
    expect([saved.assets, saved.leftOut, asked.mock.calls.length]).toEqual([4, [], 5])
  })

  it('leaves out what is too large, and reports it', async () => {
    server('asset://big', { big: { size: 6_000_000 } })
    const { saved, page } = await save()
    expect(saved.leftOut).toEqual(['big.txt'])
    expect(page.assets[0]?.body).toBeNull()
  })

  it('leaves out what the person may not read, and counts it', async () => {
    server('asset://a1 asset://b2', { b2: {} }).mockRejectedValueOnce(
      new ApiError(403, 'forbidden', 'The asset is withheld.'),
    )
    const { saved, page } = await save()
    expect([saved.assets, saved.withheld, page.assets[0]?.asset.assetId]).toEqual([1, 1, 'b2'])
  })

  it('has the name of the export', async () => {
    server('Nothing.', {})
    expect((await save()).saved.name).toBe('It rains 2026-01-01.html')
  })

  it('has room for the number of bytes that it states, in any encoding', async () => {
    const size = 4_500_000
    const names = ['a', 'b', 'c', 'd', 'e']
    server(names.map((name) => `asset://${name}`).join(' '), {
      ...Object.fromEntries(names.map((name) => [name, { size }])),
    })
    vi.spyOn(client, 'assetContent').mockImplementation(
      async () => new Response(new Uint8Array(size)),
    )
    expect((await save()).saved.leftOut).toEqual([])
  })

  it('fails if an asset cannot be loaded, instead of leaving it out', async () => {
    server('asset://a1', {}).mockRejectedValue(new Error('The server is gone.'))
    await expect(save()).rejects.toThrow('The server is gone.')
  })

  it('sends no more requests when it is stopped', async () => {
    const controller = new AbortController()
    const asked = server('asset://a1 asset://b2', { a1: {}, b2: {} })
    vi.spyOn(client, 'assetContent').mockImplementation(async () => {
      controller.abort(new Error('enough'))
      return new Response('body')
    })
    await expect(save(controller.signal)).rejects.toThrow('enough')
    expect(asked).toHaveBeenCalledTimes(1)
  })

  it('escapes texts that could close an element', async () => {
    server('</script><script>alert(1)</script><!--', {})
    const { html, page } = await save()
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(page.lines.join()).toContain('</script><script>alert(1)')
  })
})
