import type { Message } from 'byref/client'
import { contentRenderers } from './content-renderers.tsx'
import { findRenderer, useRenderers } from './renderers-context.ts'

/** Renders a message's content by its content type. */
export function MessageContent({ message }: { message: Message }) {
  const { contents } = useRenderers()
  const { content, content_type } = message
  if (content === '' || content === null || content === undefined) return null
  const Render = findRenderer(content_type, contents, contentRenderers)
  return Render && <Render message={message} />
}
