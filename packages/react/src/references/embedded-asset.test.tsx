import { screen } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { PlainText } from '../thread/plain-text.tsx'

const fields: Record<string, unknown> = {
  note: 'Sunny',
  total: 1461,
  empty: '',
  long: 'x'.repeat(201),
  longer: 'x'.repeat(100_000),
  rows: [1, 2],
}
let asked: string[] = []

beforeEach(() => {
  asked = []
  const asset = {
    assetId: 'a',
    ref: 'asset://a',
    mime: 'application/json',
    kind: 'file',
    by: 'tool',
  }
  vi.stubGlobal('fetch', async (url: string | Request) => {
    const { pathname, searchParams } = new URL(
      String(url instanceof Request ? url.url : url),
      'http://x',
    )
    const id = pathname.includes('/file') ? 'file' : 'a'
    asked.push(pathname)
    if (!pathname.endsWith('/content')) {
      const structured = id === 'a' ? { structured: true } : {}
      return Response.json({
        asset: { ...asset, assetId: id, name: 'Report', ...structured },
        meta: {},
      })
    }
    return Response.json(fields[searchParams.get('path')?.split('/').at(-1) ?? ''])
  })
})

describe('EmbeddedAsset', () => {
  it.each([
    ['note', 'Sunny'],
    ['total', '1461'],
  ])('shows a short value in place of its reference: %s', async (key, text) => {
    const reference = `asset://a/content/${key}`
    await renderInApp(<PlainText text={`It is <|${reference}|>.`} />)
    const shown = await screen.findByText(text)
    expect(shown.closest('a')?.title).toBe(reference)
    expect(shown.closest('p')?.textContent).toBe(`It is ${text}.`)
  })

  it.each(['long', 'longer', 'rows', 'empty'])(
    'keeps the chip for any other value: %s',
    async (key) => {
      await renderInApp(<PlainText text={`<|asset://a/content/${key}|>`} />)
      await vi.waitFor(() => expect(asked.some((path) => path.endsWith('/content'))).toBe(true))
      expect(await screen.findByText(`Report › ${key}`)).toBeTruthy()
    },
  )

  it('loads no file, and no asset as a whole', async () => {
    await renderInApp(<PlainText text="<|asset://file/content|> <|asset://a|>" />)
    await vi.waitFor(() => expect(screen.getAllByText(/^Report/)).toHaveLength(2))
    expect(asked.some((path) => path.endsWith('/content'))).toBe(false)
  })
})
