import type { Message } from 'byref/client'

/** Returns a message's content. An object or a list in JSON is parsed. */
export function readContent({ content }: Pick<Message, 'content'>): unknown {
  if (typeof content !== 'string' || !/^\s*[{[]/.test(content)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
