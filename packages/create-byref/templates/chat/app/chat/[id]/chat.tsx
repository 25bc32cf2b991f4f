'use client'

import { useChat } from '@ai-sdk/react'
import { isToolUIPart, type UIMessage } from 'ai'
import type { FormEvent } from 'react'

/** A new asset, as createChatHandler announces it. */
interface AssetData {
  ref: string
  url: string
  mime: string
  name: string | null
}

type ChatMessage = UIMessage<unknown, { asset: AssetData }>

export function Chat({ id, saved }: { id: string; saved: UIMessage[] }) {
  const { messages, sendMessage, status, error, stop } = useChat<ChatMessage>({
    id,
    messages: saved as ChatMessage[],
    resume: true,
  })
  const isBusy = status === 'submitted' || status === 'streaming'

  async function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const text = String(new FormData(form).get('text')).trim()
    // Enter submits the form, also while an answer streams.
    if (isBusy || !text) return
    form.reset()
    await sendMessage({ text })
  }

  /** `stop` alone closes the connection, as a reload does. DELETE stops the run. */
  async function halt() {
    await stop()
    await fetch(`/api/chat/${id}/stream`, { method: 'DELETE' })
  }

  return (
    <main>
      {messages.map((message) => (
        <section key={message.id} aria-label={message.role} className={message.role}>
          {message.parts.map((part, i) => (
            <MessagePart key={`${message.id}-${i}`} part={part} />
          ))}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" placeholder="Chart the temperatures of 2025" />
        {isBusy ? (
          <button type="button" onClick={halt}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  )
}

function MessagePart({ part }: { part: ChatMessage['parts'][number] }) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type === 'data-asset') return <Asset asset={part.data} />
  if (!isToolUIPart(part)) return null
  return (
    <details>
      <summary>
        {part.type.replace('tool-', '')} {part.state === 'output-error' && 'failed'}
      </summary>
      <pre>{JSON.stringify({ input: part.input, output: part.output }, null, 2)}</pre>
      {part.errorText}
    </details>
  )
}

/** Images load by URL. Bytes are in no message. */
function Asset({ asset }: { asset: AssetData }) {
  const name = asset.name ?? asset.ref
  if (asset.mime.startsWith('image/')) return <img src={asset.url} alt={name} />
  return (
    <p>
      <a href={`${asset.url}?download`}>{name}</a>
    </p>
  )
}
