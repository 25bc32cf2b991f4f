import { describe, expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { summary } from '../testing/summaries.ts'
import { type Version, versionsIn, withSubs } from './branches.ts'

const sent = (id: string) =>
  message({ id, sender: { participant_id: 'u', participant_role: 'user' } })
const version = (id: string, from?: string, at: string | null = null): Version => ({
  id,
  createdAt: `2026-01-01T12:00:0${id.length}.000Z`,
  branch: from === undefined ? null : { root: 'a', from, at },
})

describe('versionsIn', () => {
  it('returns the versions of a message for the current conversation', () => {
    const family = [version('a'), version('bb', 'a', 'm2'), version('ccc', 'a', 'm2')]
    const inRoot = [sent('m1'), message({ id: 'm2' }), sent('m3'), message({ id: 'm4' })]
    const ids = ['a', 'bb', 'ccc']
    expect([...versionsIn('a', family, inRoot)]).toEqual([['m3', { ids, index: 0, at: 'm2' }]])
    const inBranch = [sent('m1'), message({ id: 'm2' }), sent('other')]
    expect([...versionsIn('ccc', family, inBranch)]).toEqual([
      ['other', { ids, index: 2, at: 'm2' }],
    ])
  })

  it('includes versions of the first message, and of a branch of a branch', () => {
    const family = [version('a'), version('bb', 'a', null), version('ccc', 'bb', 'x2')]
    const inBranch = [sent('x1'), message({ id: 'x2' }), sent('y1')]
    expect([...versionsIn('ccc', family, inBranch)].toSorted()).toEqual([
      ['x1', { ids: ['a', 'bb'], index: 1, at: null }],
      ['y1', { ids: ['bb', 'ccc'], index: 1, at: 'x2' }],
    ])
  })

  it('stays on the shared part if a version begins after it', () => {
    const family = [version('a'), version('bb', 'a', 'm4'), version('ccc', 'a', 'm2')]
    const inBranch = [
      sent('m1'),
      message({ id: 'm2' }),
      sent('m3'),
      message({ id: 'm4' }),
      sent('z'),
    ]
    expect([...versionsIn('bb', family, inBranch)].toSorted()).toEqual([
      ['m3', { ids: ['a', 'ccc'], index: 0, at: 'm2' }],
      ['z', { ids: ['a', 'bb'], index: 1, at: 'm4' }],
    ])
  })

  it('leaves out deleted conversations, and handles cycles', () => {
    const messages = [sent('m1'), message({ id: 'm2' }), sent('m3')]
    const orphans = [version('bb', 'a', 'm2'), version('ccc', 'a', 'm2')]
    expect(versionsIn('bb', orphans, messages).get('m3')?.ids).toEqual(['bb', 'ccc'])
    const circle = [version('a', 'bb', 'm2'), version('bb', 'a', 'm2')]
    expect(versionsIn('a', circle, messages).get('m3')).toBeDefined()
  })
})

describe('withSubs', () => {
  const one = (id: string, root?: string) =>
    summary(id, { branch: root === undefined ? null : { root, from: root, at: null } })

  it('puts sub-agents, also those of sub-agents and of older versions, below their callers', () => {
    const list = [one('new', 'a'), one('a/x/y'), one('a/x'), one('a'), one('team/1'), one('b')]
    const ids = withSubs(list).map(({ conversation, subs }) => [
      conversation.id,
      ...subs.map(({ id }) => id),
    ])
    expect(ids).toEqual([['new', 'a/x/y', 'a/x'], ['team/1'], ['b']])
  })
})
