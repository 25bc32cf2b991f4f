import { render, screen } from '@testing-library/react'
import type { AssetDetails } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderers } from '../../../examples/react/src/renderers.tsx'
import { AssetPreview } from './preview/asset-preview.tsx'
import { findRenderer, RenderersContext } from './renderers/renderers-context.ts'
import { message, stateOf } from './testing/messages.ts'
import { renderInApp } from './testing/render-in-app.tsx'
import { ThreadItem } from './thread/thread-item.tsx'
import { timeline } from './thread/timeline.ts'
import { Workbench } from './workbench.tsx'

beforeEach(() => {
  vi.stubGlobal('fetch', async (path: string) =>
    path === '/api/info'
      ? Response.json({ agents: [], caller: { role: 'owner', subject: 'local' } })
      : Response.json({ conversations: [], next: null }),
  )
})

describe('Workbench', () => {
  it('is the whole app', async () => {
    render(<Workbench />)
    expect(await screen.findByRole('textbox', { name: 'Message' })).toBeTruthy()
    expect(await screen.findByText('No conversations yet')).toBeTruthy()
  })

  it('uses the given renderers for messages, contents and assets, and the built-in ones for the rest', async () => {
    const asset = { ref: 'asset://a', assetId: 'a', mime: 'text/x-colour', name: 'teal' }
    const place = { type: 'Point', coordinates: [9.99, 53.55] }
    const items = timeline(
      stateOf(
        message({ message_type: 'notice', content_type: 'text/plain', content: 'Fire!' }),
        message({ content_type: 'application/geo+json', content: place }),
        message({ content_type: 'text/plain', content: 'as ever' }),
      ),
    )
    await renderInApp(
      <RenderersContext value={renderers}>
        {items.map((item) => (
          <ThreadItem key={item.key} item={item} />
        ))}
        <AssetPreview details={{ asset, meta: {} } as unknown as AssetDetails} />
      </RenderersContext>,
    )
    expect(screen.getByRole('note').textContent).toBe('Fire!')
    expect(screen.getByRole('link').textContent).toBe('53.55, 9.99 on a map')
    expect(screen.getByTitle('teal')).toBeTruthy()
    expect(screen.getByText('as ever')).toBeTruthy()
  })
})

describe('findRenderer', () => {
  it('prefers the most specific renderer, and then a given one over a built-in one', () => {
    const given = { 'image/*': 'my images', 'text/html': 'my HTML' }
    const builtIn = { 'image/png': 'PNG', 'text/html': 'HTML', 'text/*': 'text', '*': 'all' }
    const find = (type: unknown) => findRenderer(type, given, builtIn)
    expect(find('image/png')).toBe('PNG')
    expect(find('IMAGE/jpeg')).toBe('my images')
    expect(find('text/html; charset=utf-8')).toBe('my HTML')
    expect(find('text/css')).toBe('text')
    expect(find(undefined)).toBe('all')
    expect(find('__proto__')).toBe('all')
    expect(findRenderer('x', undefined, {})).toBeNull()
  })
})
