'use client'

import { useChat } from '@ai-sdk/react'

export default function Page() {
  const { messages, sendMessage, status } = useChat()
  return (
    <main>
      {messages.map(({ id, role, parts, metadata }) => (
        <section key={id} aria-label={role}>
          {parts.map((part, i) => (
            <Part key={[id, i].join('-')} part={part} />
          ))}
          {metadata && <small>The last prompt had {metadata.prompt} characters.</small>}
        </section>
      ))}
      <button
        type="button"
        disabled={status !== 'ready'}
        onClick={() => sendMessage({ text: 'Take a picture' })}
      >
        Take a picture
      </button>
    </main>
  )
}

function Part({ part }) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type !== 'tool-camera' || part.state !== 'output-available') return null
  const { caption, photo } = part.output
  return <img src={`/api/assets/${encodeURIComponent(photo.assetRef)}`} alt={caption} />
}
