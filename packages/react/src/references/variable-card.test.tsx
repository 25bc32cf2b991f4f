import { screen, waitFor } from '@testing-library/react'
import { WITHHELD } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { VariableCard } from './variable-card.tsx'
import { EmbeddedVariable, VariableChip } from './variable-chip.tsx'

const ID = '1m885vhfk00rqeghjqbj8wh7s8z'
const stored = {
  offloaded: true,
  assetRef: `asset://${ID}`,
  mimeType: 'application/json',
  kind: 'file',
  size: 348_000,
}
const state = stateOf(
  message({
    content_type: 'data',
    content: { type: 'data', kind: 'state', data: { sales: stored, total: 12 } },
  }),
)

let requests: string[] = []

beforeEach(() => {
  requests = []
  vi.stubGlobal('fetch', async (path: string) => {
    requests.push(path)
    if (path.includes('/content')) return Response.json(path.includes('city') ? 'Bergen' : [1, 2])
    const asset = { assetId: ID, ref: stored.assetRef, name: 'sales', mime: 'application/json' }
    return Response.json({ asset: { ...asset, kind: 'file', size: 348_000 }, meta: {} })
  })
})

const show = (reference: string) => renderInApp(<VariableCard reference={reference} />, { state })
const text = () => screen.getByTestId('app').textContent

describe('VariableCard', () => {
  it('shows a value of the board', async () => {
    await show('†state.total')
    expect(text()).toContain('12')
    expect(requests).toEqual([])
  })

  it('shows the content of a value that is stored as an asset, and the asset', async () => {
    await show('†state.sales.rows[0]')
    await waitFor(() => expect(text()).toContain('1,\n  2'))
    expect(requests.some((path) => path.includes(`${ID}/content?path=%2Fcontent%2Frows%2F0`))).toBe(
      true,
    )
    expect(await screen.findByText('sales')).toBeTruthy()
    expect(text()).not.toContain('has no')
  })

  it('shows the size of a stored value', async () => {
    await show('†state.sales')
    expect(text()).toContain('348 KB')
    await waitFor(() => expect(text()).toContain('1,\n  2'))
  })

  it('names what is missing on the board', async () => {
    await show('†state.nothing')
    expect(text()).toContain('has no "nothing"')
  })
})

describe('EmbeddedVariable', () => {
  it('shows a short value that is stored in an asset', async () => {
    await renderInApp(<EmbeddedVariable reference="†state.sales.city" />, { state })
    await waitFor(() => expect(text()).toBe('Bergen'))
  })
})

describe('VariableChip', () => {
  it('does not call a reference broken whose value may be withheld from the person', async () => {
    await renderInApp(<VariableChip reference="†state.mail" />, { state })
    expect(screen.getByText('This value does not exist.')).toBeTruthy()
    const hidden = message({ content_type: WITHHELD, content: { withheld: true } })
    const partial = { ...state, messages: [...state.messages, hidden] }
    await renderInApp(<VariableChip reference="†state.mail" />, { state: partial })
    expect(screen.getByText(/or you are not among its readers/)).toBeTruthy()
  })
})
