import { screen } from '@testing-library/react'
import type { LabelsInfo, WrittenLabelTree } from 'byref/client'
import { describe, expect, it, vi } from 'vitest'
import { AssetGallery } from '../inspector/assets/asset-gallery.tsx'
import { DataCard } from '../inspector/data/data-card.tsx'
import { message, runStarted, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { MessageView } from '../thread/message-view.tsx'
import { LabelMark } from './label-mark.tsx'
import { labelWords } from './label-words.ts'
import { LabelsContext, LabelsProvider } from './labels-context.tsx'

const UNTRUSTED: WrittenLabelTree = { integrity: 'untrusted' }
const labels = (some: Partial<LabelsInfo>): LabelsInfo => ({
  position: 1,
  messages: {},
  assets: {},
  data: {},
  ...some,
})

describe('labelWords', () => {
  it.each<[WrittenLabelTree, string | null, string | null]>([
    [{}, null, null],
    [UNTRUSTED, 'untrusted', null],
    [{ confidentiality: 'private' }, null, 'private'],
    [{ confidentiality: 'private', readers: [] }, null, 'private to nobody'],
    [{ confidentiality: 'private', readers: ['a', 'b'] }, null, 'private to a and b'],
    [
      { confidentiality: 'private', readers: ['a', 'b', 'c', 'd', 'e'] },
      null,
      'private to a, b, c and 2 more',
    ],
    [{ fields: { body: UNTRUSTED, id: {} } }, 'untrusted in body', null],
    [{ fields: { '*': { fields: { text: UNTRUSTED } } } }, 'untrusted in every item', null],
  ])('%j', (label, untrusted, hidden) => {
    expect(labelWords(label)).toEqual({ untrusted, private: hidden })
  })
})

describe('LabelMark', () => {
  it('links to the origin of the value, and shows nothing for a trusted public value', async () => {
    await renderInApp(
      <>
        <LabelMark label={UNTRUSTED} origin="call:c1" />
        <LabelMark label={{}} origin="call:c2" />
        <LabelMark label={undefined} />
      </>,
    )
    const [link, ...others] = screen.getAllByRole('link')
    expect(others).toEqual([])
    expect(link?.textContent).toBe('untrusted: where it came from')
    expect(new URL((link as HTMLAnchorElement).href).searchParams.get('origin')).toBe('call:c1')
  })

  it('is shown on messages, results, data and assets', async () => {
    const said = message({ id: 'said' })
    const result = message({ id: 'res', metadata: { tool_result: { tool_call_id: 'c1' } } })
    const entry = { identity: 'state', kind: 'state', writes: [] } as never
    const asset = { id: 'a1', ref: 'asset://a1', kind: 'file', mime: 'text/plain' } as const
    const state = stateOf(said, result)
    await renderInApp(
      <LabelsContext
        value={labels({
          messages: { said: UNTRUSTED, res: { confidentiality: 'private', readers: ['anna'] } },
          data: { state: UNTRUSTED },
          assets: { a1: { confidentiality: 'private' } },
        })}
      >
        <MessageView message={said} header />
        <MessageView message={result} header={false} />
        <DataCard entry={entry} at={null} wanted={false} />
        <AssetGallery entries={[{ ...asset, name: 'a.txt', created: null, attachedTo: null }]} />
      </LabelsContext>,
      { state },
    )
    expect(document.getElementById('m-said')?.textContent).toContain('untrusted')
    expect(document.getElementById('m-res')?.textContent).toContain('private to anna')
    expect(screen.getByRole('article', { name: '†state' }).textContent).toContain('untrusted')
    const file = screen.getByRole('link', { name: /a\.txt/ })
    expect(file.textContent).toContain('private')
    expect(file.querySelector('a')).toBeNull()
  })

  it('requests labels only if a run had trust on', async () => {
    const asked = vi.fn(async (_path: string) =>
      Response.json(labels({ messages: { q: UNTRUSTED } })),
    )
    vi.stubGlobal('fetch', asked)
    const q = message({ id: 'q' })
    const show = (trust?: 'track') => {
      const run = { ...runStarted(), ...(trust ? { trust } : {}) } as ReturnType<typeof runStarted>
      return renderInApp(
        <LabelsProvider>
          <MessageView message={q} header />
        </LabelsProvider>,
        { state: stateOf(run, q), id: `c-${trust}` },
      )
    }
    const { unmount } = await show()
    expect(screen.getByText(String(q.content))).toBeTruthy()
    expect(asked).not.toHaveBeenCalled()
    unmount()
    await show('track')
    expect(await screen.findByRole('link', { name: /untrusted/ })).toBeTruthy()
    expect(asked.mock.calls.map(([path]) => path)).toEqual(['/api/conversations/c-track/labels'])
  })
})

describe('what is withheld', () => {
  it('is shown by its type and size, in messages and results', async () => {
    const content = { withheld: true, type: 'text', size: 1200 }
    const type = 'application/vnd.byref.withheld+json'
    const said = message({ content, content_type: type })
    const result = message({
      content,
      content_type: type,
      metadata: { tool_result: { tool_call_id: 'c1' } },
    })
    await renderInApp(
      <>
        <MessageView message={said} header />
        <MessageView message={result} header={false} />
      </>,
      { state: stateOf(said, result) },
    )
    expect(screen.getAllByText(/A text of about 1,200 characters, withheld/)).toHaveLength(2)
  })
})
