import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSameLabel } from './fixtures/same-label.ts'
import {
  join,
  joinAll,
  type Label,
  mayRead,
  readLabel,
  STRICTEST,
  TRUSTED,
  violatedRules,
  writeLabel,
} from './label.ts'
import {
  joinTrees,
  readLabelTree,
  treeAt,
  wholeOf,
  withTreeAt,
  writeLabelTree,
} from './label-tree.ts'

const people = fc.subarray(['ann', 'bob', 'cy'])
const label: fc.Arbitrary<Label> = fc
  .record({
    integrity: fc.constantFrom('trusted' as const, 'untrusted' as const),
    readers: fc.option(people),
    confidentiality: fc.constantFrom('public' as const, 'private' as const),
    sources: fc.subarray(['call:a', 'call:b', 'message:c']),
  })
  .map((given) => readLabel(given))
const clearance = fc.record(
  {
    integrity: fc.constantFrom('trusted' as const, 'untrusted' as const),
    confidentiality: fc.constantFrom('public' as const, 'private' as const),
    readers: people,
  },
  { requiredKeys: [] },
)

describe('labels', () => {
  it('join to the strictest, in any order', () => {
    fc.assert(
      fc.property(label, label, label, (a, b, c) => {
        expect(isSameLabel(join(a, b), join(b, a))).toBe(true)
        expect(isSameLabel(join(join(a, b), c), join(a, join(b, c)))).toBe(true)
        expect(isSameLabel(join(a, a), a)).toBe(true)
        expect(isSameLabel(join(a, TRUSTED), a)).toBe(true)
        expect(new Set(join(a, b).sources)).toEqual(new Set([...a.sources, ...b.sources]))
      }),
    )
  })

  it('do not allow a flow that one of their parts does not allow', () => {
    fc.assert(
      fc.property(label, label, clearance, (a, b, place) => {
        const both = violatedRules(place, join(a, b))
        for (const rule of [...violatedRules(place, a), ...violatedRules(place, b)])
          expect(both).toContain(rule)
      }),
    )
  })

  it('can be read by those who may read every part', () => {
    fc.assert(
      fc.property(label, label, fc.constantFrom('ann', 'bob', 'eve', null), (a, b, who) => {
        expect(mayRead(who, join(a, b))).toBe(mayRead(who, a) && mayRead(who, b))
      }),
    )
  })

  it('survive serialization, and are the strictest if they cannot be read', () => {
    fc.assert(
      fc.property(label, (a) => {
        expect(isSameLabel(readLabel(writeLabel(a)), a)).toBe(true)
      }),
    )
    for (const broken of [null, 'trusted', { integrity: 'yes' }, { readers: 'ann' }, [{}]])
      expect(readLabel(broken)).toEqual(STRICTEST)
    fc.assert(fc.property(fc.anything(), (any) => void readLabelTree(any)))
  })
})

describe('labels of fields', () => {
  const tree = fc.letrec((tie) => ({
    tree: fc.record(
      {
        label,
        fields: fc.dictionary(fc.constantFrom('a', 'b', '0', '*', '__proto__'), tie('tree'), {
          maxKeys: 3,
        }),
      },
      { requiredKeys: ['label'] },
    ),
  })).tree as fc.Arbitrary<ReturnType<typeof readLabelTree>>
  const path = fc.array(fc.constantFrom('a', 'b', 'c', 0), { maxLength: 3 })

  it('are found at the path where they were put, and nowhere else', () => {
    fc.assert(
      fc.property(tree, path, tree, (all, at, put) => {
        const changed = withTreeAt(all, at, put)
        expect(isSameLabel(wholeOf(treeAt(changed, at)), wholeOf(put))).toBe(true)
        const beside = [...at.slice(0, -1), 'elsewhere']
        if (at.length > 0)
          expect(isSameLabel(wholeOf(treeAt(changed, beside)), wholeOf(treeAt(all, beside)))).toBe(
            true,
          )
      }),
    )
  })

  it('join to at least the strictness of both, at every path', () => {
    fc.assert(
      fc.property(tree, tree, path, (a, b, at) => {
        const both = wholeOf(treeAt(joinTrees(a, b), at))
        const parts = joinAll([wholeOf(treeAt(a, at)), wholeOf(treeAt(b, at))])
        expect(isSameLabel(join(both, parts), both)).toBe(true)
      }),
    )
  })

  it('survive serialization', () => {
    fc.assert(
      fc.property(tree, path, (all, at) => {
        const again = readLabelTree(JSON.parse(JSON.stringify(writeLabelTree(all))))
        expect(isSameLabel(wholeOf(treeAt(again, at)), wholeOf(treeAt(all, at)))).toBe(true)
      }),
    )
  })
})
