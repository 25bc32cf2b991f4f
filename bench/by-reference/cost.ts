import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** One request to the model, and its answer. */
export interface Asked {
  prompt: LanguageModelV4Prompt
  tools: NonNullable<LanguageModelV4CallOptions['tools']>
  answer: string | { text?: string; calls?: { name: string; arguments: object }[] }
}

/** The cost of a task. */
export interface Cost {
  roundTrips: number
  /** Tokens of all requests and of all answers. */
  input: number
  output: number
  /** Billed tokens: the part that repeats the previous request counts a tenth, answers five times. */
  billed: number
  /** Bytes of the prompts, and the bytes that repeat the previous prompt. */
  bytes: number
  repeated: number
  /** Bytes of the last prompt. */
  last: number
}

/**
 * Tokens of an image and of a PDF page: those of gpt-4o for a 1,024 × 1,024 image, and for a page of text with its
 * image.
 */
const IMAGE_TOKENS = 765
const PDF_TOKENS = 12_000

/** Returns the cost of consecutive requests. */
export function costOf(asked: readonly Asked[]): Cost {
  const cost: Cost = {
    roundTrips: asked.length,
    input: 0,
    output: 0,
    billed: 0,
    bytes: 0,
    repeated: 0,
    last: 0,
  }
  let before: { text: string; prompt: string } | null = null
  for (const { prompt, tools, answer } of asked) {
    const shown = textOf(prompt)
    const text = JSON.stringify(tools.map((tool) => ({ ...tool, type: undefined }))) + shown
    const input = tokensOf(text)
    const cached = before ? tokensOf(text.slice(0, commonStart(before.text, text))) : 0
    const output = tokensOf(
      typeof answer === 'string'
        ? answer
        : `${answer.text ?? ''}${JSON.stringify(answer.calls ?? '')}`,
    )
    cost.input += input
    cost.output += output
    cost.billed += input - cached * 0.9 + output * 5
    if (before) {
      cost.bytes += before.prompt.length
      cost.repeated += commonStart(before.prompt, shown)
    }
    cost.last = shown.length
    before = { text, prompt: shown }
  }
  return cost
}

/**
 * Returns a prompt as its provider reads it. Each body becomes a name that counts as many tokens as providers charge
 * for it.
 */
export function textOf(prompt: LanguageModelV4Prompt): string {
  return prompt
    .map(
      (message) =>
        `${message.role}: ${typeof message.content === 'string' ? message.content : message.content.map(partText).join('\n')}\n`,
    )
    .join('')
}

type Part = Exclude<LanguageModelV4Prompt[number]['content'], string>[number]

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'file':
      return body(part.mediaType, part.data)
    case 'tool-call':
      return `${part.toolName}${JSON.stringify(part.input)}`
    case 'tool-result': {
      const { output } = part
      if (output.type === 'content')
        return output.value
          .map((one) =>
            one.type === 'text'
              ? one.text
              : one.type === 'file'
                ? body(one.mediaType, one.data)
                : '',
          )
          .join('\n')
      if (output.type === 'json' || output.type === 'error-json')
        return JSON.stringify(output.value)
      return 'value' in output ? output.value : ''
    }
    default:
      return ''
  }
}

const seen = new Map<string, number>()

function body(mediaType: string, data: unknown): string {
  const key = JSON.stringify(data)
  const number = seen.get(key) ?? seen.size
  seen.set(key, number)
  return `<<${mediaType} ${number}>>`
}

/** Returns the tokens of a text in o200k_base. */
export function tokensOf(text: string): number {
  let bodies = 0
  for (const [, type = ''] of text.matchAll(/<<([a-z]+\/[a-z]+) \d+>>/g))
    bodies += type === 'application/pdf' ? PDF_TOKENS : IMAGE_TOKENS
  return (
    countTokens(text, { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }) +
    bodies
  )
}

/** Returns the length of the common beginning of two texts. */
export function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}
