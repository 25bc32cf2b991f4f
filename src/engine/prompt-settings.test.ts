import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../testing/scripted-model.ts'
import { resolvePromptOptions } from './prompt-settings.ts'

describe('resolvePromptOptions', () => {
  it('keeps given limits of files, and uses the default for undefined', () => {
    const options = { media: { maxParts: 3, maxBytes: undefined } }
    const { media } = resolvePromptOptions(scriptedModel([]), options)
    expect(media).toMatchObject({ maxParts: 3, maxBytes: 48 * 1024 * 1024 })
  })
})
