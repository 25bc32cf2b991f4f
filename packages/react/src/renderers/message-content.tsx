import type { Message } from 'byref/client'
import { contentRenderers } from './content-renderers.tsx'
import { Rendered } from './rendered.tsx'
import { useRenderers } from './renderers-context.ts'

/** Properties of {@link MessageContent}. */
export interface MessageContentProps {
  message: Message
}

/** Renders a message's content by its content type. Use it in a renderer of a message type. */
export function MessageContent({ message }: MessageContentProps) {
  const { contents } = useRenderers()
  const { content, content_type } = message
  if (content === '' || content === null || content === undefined) return null
  return (
    <Rendered
      type={content_type}
      custom={contents}
      builtIn={contentRenderers}
      props={{ message }}
    />
  )
}
