import type { Message } from 'byref/client'

/** A message's content; JSON that came as text is read. */
export function readContent({ content }: Message): unknown {
  if (typeof content !== 'string' || !/^\s*[{[]/.test(content)) return content
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
