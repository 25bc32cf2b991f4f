import type { Message } from 'byref/client'

/** Returns a message's content. JSON in text is parsed. */
export function readContent({ content }: Message): unknown {
  if (typeof content !== 'string' || !/^\s*[{[]/.test(content)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
