import postcss from 'postcss'
import { describe, expect, it } from 'vitest'
import { scopeStyles } from '../scope-styles.ts'

const scoped = async (css: string) =>
  (await postcss([scopeStyles]).process(css, { from: undefined })).css.replace(/\s+/g, ' ').trim()

describe('scopeStyles', () => {
  it('limits every rule to elements inside .byref, later layers stronger than earlier ones', async () => {
    const css =
      '@layer base { h1 { x: 1 } } @layer components { .a { x: 2 } } @layer utilities { .b { x: 3 } } .c { x: 4 }'
    expect(await scoped(css)).toBe(
      'h1:is(.byref,.byref *) { x: 1 } .a:is(.byref.byref,.byref *) { x: 2 } .b:is(.byref.byref.byref,.byref *) { x: 3 } .c:is(.byref.byref.byref.byref,.byref *) { x: 4 }',
    )
  })

  it('scopes each selector of a list at its subject, before pseudo-elements', async () => {
    expect(await scoped('@layer base { a > b:hover, i::before { x: 1 } }')).toBe(
      'a > b:hover:is(.byref,.byref *), i:is(.byref,.byref *)::before { x: 1 }',
    )
  })

  it('moves styles of the page to the root of the package, with zero specificity', async () => {
    expect(await scoped('@layer theme { :root, :host { --x: 1 } } :where(.byref) { --y: 2 }')).toBe(
      ':where(.byref),:where(.byref) { --x: 1 } :where(.byref) { --y: 2 }',
    )
  })

  it('does not change nested rules, keyframe steps and the layer page', async () => {
    expect(await scoped('@layer base { a { &:hover { x: 1 } } }')).toBe(
      'a:is(.byref,.byref *) { &:hover { x: 1 } }',
    )
    expect(await scoped('@keyframes spin { from { x: 1 } } @layer page { body { x: 1 } }')).toBe(
      '@keyframes byref-spin { from { x: 1 } } body { x: 1 }',
    )
  })

  it('gives animations unique names', async () => {
    expect(
      await scoped('@layer utilities { .a { animation: spin 1s } .b { animation: none } }'),
    ).toBe(
      '.a:is(.byref.byref.byref,.byref *) { animation: byref-spin 1s } .b:is(.byref.byref.byref,.byref *) { animation: none }',
    )
  })
})
