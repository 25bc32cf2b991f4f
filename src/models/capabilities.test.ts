import { describe, expect, it } from 'vitest'
import { checkOptions } from '../core/check-options.ts'
import { CAPABILITIES, type CapabilityOverrides, capabilitiesOf } from './capabilities.ts'
import { limitOf } from './model-capabilities.ts'

const model = (provider: string, modelId: string, supportedUrls = {}) => ({
  provider,
  modelId,
  supportedUrls,
})
const HTTPS = [/^https?:\/\/.*$/]

describe('capabilitiesOf', () => {
  it.each([
    ['openai.responses', 'gpt-5-mini', 'image/png application/pdf', 'audio/wav'],
    ['openai.responses', 'gpt-3.5-turbo', '', 'image/png application/pdf'],
    ['openai.chat', 'gpt-4o-audio-preview', 'audio/wav audio/mpeg', 'image/png'],
    [
      'anthropic.messages',
      'claude-sonnet-4-5',
      'image/webp application/pdf',
      'image/tiff audio/wav',
    ],
    ['google.generative-ai', 'gemini-2.5-flash', 'image/heic audio/wav video/mp4', 'image/gif'],
    ['google.generative-ai', 'gemma-3-27b-it', 'image/png', 'video/mp4'],
    ['amazon-bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'image/png', 'video/mp4'],
    ['amazon-bedrock', 'amazon.nova-pro-v1:0', 'image/png video/mp4', 'audio/wav'],
    ['amazon-bedrock', 'amazon.nova-micro-v1:0', '', 'image/png'],
    ['mistral.chat', 'mistral-medium-latest', 'image/png application/pdf', 'audio/wav'],
    ['mistral.chat', 'codestral-latest', 'application/pdf', 'image/png'],
    ['xai.responses', 'grok-4', 'image/png image/jpeg', 'image/webp application/pdf'],
    ['xai.responses', 'grok-3-mini', '', 'image/png'],
    ['openai-compatible.chat', 'qwen3', '', 'image/png application/pdf'],
    ['gateway', 'anthropic/claude-sonnet-4.5', 'image/webp application/pdf', 'image/tiff'],
    ['gateway', 'openai/gpt-5-mini', 'image/png application/pdf', 'audio/wav'],
    ['gateway', 'openai/gpt-oss-120b', '', 'image/png'],
    ['gateway', 'google/gemini-2.5-flash', 'image/heic audio/wav video/mp4', 'image/gif'],
    ['gateway', 'spacexai/grok-4', 'image/png', 'application/pdf'],
    ['gateway', 'amazon/nova-pro', 'image/png video/mp4', 'audio/wav'],
    ['gateway', 'zai/glm-5', '', 'image/png'],
    ['gateway', 'no-maker', '', 'image/png'],
  ])('knows what %s accepts for %s', async (provider, modelId, taken, refused) => {
    const { takes } = await capabilitiesOf(model(provider, modelId))
    const limits = (types: string) =>
      types
        .split(' ')
        .filter(Boolean)
        .map((type) => limitOf(takes, type))
    expect(limits(taken)).not.toContain(null)
    expect(limits(refused).every((limit) => limit === null)).toBe(true)
  })

  it('knows what tool results accept, which caches need marks, and where system messages may be', async () => {
    const of = async (provider: string, modelId: string) => {
      const known = await capabilitiesOf(model(provider, modelId))
      const inResult = limitOf(known.takesInResults, 'image/png') !== null
      return [inResult, known.cacheMarks, known.systemAnywhere]
    }
    expect(await of('anthropic.messages', 'claude-opus-4-1')).toEqual([true, 'anthropic', false])
    expect(await of('openai.responses', 'gpt-5')).toEqual([true, null, true])
    expect(await of('openai.chat', 'gpt-5')).toEqual([false, null, true])
    expect(await of('google.generative-ai', 'gemini-3-pro-preview')).toEqual([true, null, false])
    expect(await of('google.generative-ai', 'gemini-2.5-pro')).toEqual([false, null, false])
    expect(await of('amazon-bedrock', 'amazon.nova-pro-v1:0')).toEqual([true, 'bedrock', false])
    expect(await of('amazon-bedrock', 'meta.llama3-1-8b-instruct-v1:0')).toEqual([
      false,
      null,
      false,
    ])
  })

  it.each([
    ['anthropic.messages', 'claude-sonnet-4-5', 2000],
    ['google.generative-ai', 'gemini-2.5-pro', 8000],
    ['mistral.chat', 'mistral-medium-latest', 8000],
    ['xai.responses', 'grok-4', 8000],
    ['openai.responses', 'gpt-5', Infinity],
  ])('knows how large an image of %s may be', async (provider, modelId, side) => {
    expect((await capabilitiesOf(model(provider, modelId))).maxImageSide).toBe(side)
  })

  it('takes window and price from the catalogue, and null for unknown models', async () => {
    const known = await capabilitiesOf(model('anthropic.messages', 'claude-sonnet-4-5'))
    expect(known.contextWindow).toBeGreaterThanOrEqual(200_000)
    expect(known.price?.input).toBeGreaterThan(known.price?.cacheRead ?? Infinity)
    expect(known.price?.cacheWrite).toBeGreaterThan(known.price?.input ?? Infinity)
    const local = await capabilitiesOf(model('openai-compatible.chat', 'gpt-5'))
    expect(local).toMatchObject({ contextWindow: null, price: null })
  })

  it('follows the maker of a model of the AI Gateway', async () => {
    const known = await capabilitiesOf(model('gateway', 'anthropic/claude-sonnet-4.5'))
    expect(known).toEqual(await capabilitiesOf(model('anthropic.messages', 'claude-sonnet-4.5')))
    expect(known.contextWindow).toBeGreaterThanOrEqual(200_000)
    expect(known.cacheMarks).toBe('anthropic')
  })

  it('rejects names that are not MIME types', () => {
    const check = (takes: unknown) => () =>
      checkOptions<CapabilityOverrides>('capabilities', { takes } as never, CAPABILITIES)
    expect(check(['image/*', 'application/vnd.ms-excel', 'image/svg+xml', '*/*'])()).toBeDefined()
    expect(check({ 'image/png': 5_000_000 })()).toBeDefined()
    expect(check(['image'])).toThrow(
      'capabilities.takes[0] must be a MIME type, such as "image/png" or "image/*", not "image"',
    )
  })

  it('lets overrides take precedence', async () => {
    const price = { input: 1, output: 2 }
    const known = await capabilitiesOf(model('openai-compatible.chat', 'qwen3'), {
      takes: ['image/*'],
      takesInResults: { 'image/png': 10 },
      contextWindow: 32_000,
      price,
    })
    expect(limitOf(known.takes, 'image/avif')).toBeGreaterThan(0)
    expect(known).toMatchObject({
      takesInResults: { 'image/png': 10 },
      contextWindow: 32_000,
      price,
    })
  })

  it('includes only URLs that the model accepts', async () => {
    const urls = { 'image/*': HTTPS, 'application/pdf': HTTPS }
    expect(
      Object.keys((await capabilitiesOf(model('openai.responses', 'gpt-5', urls))).urls),
    ).toEqual(['image/*', 'application/pdf'])
    expect((await capabilitiesOf(model('openai.responses', 'gpt-3.5-turbo', urls))).urls).toEqual(
      {},
    )
    const every = { '*/*': [/.*/] }
    const { urls: taken } = await capabilitiesOf(model('gateway', 'openai/gpt-5', every))
    expect(Object.keys(taken)).toContain('application/pdf')
    expect(Object.keys(taken)).not.toContain('*/*')
    const later = { ...model('xai.responses', 'grok-4'), supportedUrls: Promise.resolve(urls) }
    expect(Object.keys((await capabilitiesOf(later)).urls)).toContain('application/pdf')
  })
})
