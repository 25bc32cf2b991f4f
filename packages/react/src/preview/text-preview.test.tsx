import { screen } from '@testing-library/react'
import type { AssetInfo } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { client } from '../testing/server.ts'
import { FieldPreview } from './field-preview.tsx'
import { TextPreview } from './text-preview.tsx'

/** Makes the server return this body. Returns its asset. */
function body(text: string, mime: string): AssetInfo {
  vi.spyOn(client, 'assetContent').mockImplementation(
    async () => new Response(text, { headers: { 'content-type': mime } }),
  )
  return { assetId: 'a', ref: 'asset://a', mime, size: text.length } as AssetInfo
}

afterEach(() => vi.restoreAllMocks())

describe('TextPreview', () => {
  it('shows any JSON value as a tree', async () => {
    for (const value of [{ a: 1 }, null, 0, '']) {
      const asset = body(JSON.stringify(value), 'application/json')
      const { unmount } = await renderInApp(<TextPreview asset={asset} />)
      expect((await screen.findByRole('tree')).textContent).toBeTruthy()
      unmount()
    }
  })

  it('shows the beginning of a long text, and its length', async () => {
    for (const mime of ['text/plain', 'application/json']) {
      const { unmount } = await renderInApp(
        <TextPreview asset={body(`{ ${'x'.repeat(1_000_000)}`, mime)} />,
      )
      // What is wrong in the JSON also has the beginning of the text.
      const text = await screen.findByText(/^\{ x/, { selector: 'pre' })
      expect(text.textContent).toHaveLength(200_000)
      expect(screen.getByText('The beginning of 1.0 MB; download it for the rest.')).toBeTruthy()
      unmount()
    }
  })

  it('reports what is wrong in invalid JSON, and shows its text', async () => {
    const asset = body('{\n  "a": 1\n  "b": 2\n}', 'application/json')
    await renderInApp(<TextPreview asset={asset} />)
    const problem = await screen.findByText(/Line 3, column 3: comma expected/)
    expect(problem.textContent).toContain('  "b": 2')
    expect(screen.getByRole('link', { name: 'Download' }).getAttribute('href')).toContain(
      'download',
    )
    expect(screen.getByText(/^\{\s+"a": 1/)).toBeTruthy()
  })

  it('shows a page without scripts, and without an origin', async () => {
    const html = '<script>alert(1)</script>'
    await renderInApp(<TextPreview asset={body(html, 'text/html; charset=utf-8')} />)
    const frame = await screen.findByTitle('Page preview')
    expect([frame.getAttribute('sandbox'), frame.getAttribute('srcdoc')]).toEqual(['', html])
  })
})

describe('FieldPreview', () => {
  it('shows the value of a field, also null', async () => {
    body('null', 'application/json')
    await renderInApp(<FieldPreview reference="asset://a/content/0" />)
    expect((await screen.findByRole('tree')).textContent).toContain('null')
  })

  it('reports that there is more than it shows, and links to all of it', async () => {
    body(`"${'x'.repeat(9_000_000)}"`, 'application/json')
    await renderInApp(<FieldPreview reference="asset://a/content/0" />)
    const all = await screen.findByRole('link', { name: 'download it' })
    expect(all.getAttribute('href')).toContain('/api/assets/a/content')
    expect(all.parentElement?.textContent).toContain('The first 8.0 MB of it')
  })
})
