// The page of an app with `useChat`, as its makers' docs have one; the chat is named behind the # of the address.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { createRoot } from 'react-dom/client'

const id = location.hash.slice(1)
const chatUrl = `/api/chat/${encodeURIComponent(id)}`

function Part({ part, answer }) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type === 'file') return <img src={part.url} alt={part.filename} />
  if (part.type === 'data-board') return <pre>{JSON.stringify(part.data)}</pre>
  if (part.type !== 'tool-pay') return null
  if (part.state !== 'approval-requested') return <p>pay: {part.state}</p>
  return (
    <button
      type="button"
      onClick={() => answer({ id: part.approval.id, approved: true })}
    >{`Pay ${part.approval.descriptor.arguments.sum}`}</button>
  )
}

function Chat({ saved }) {
  const { messages, status, error, sendMessage, regenerate, stop, addToolApprovalResponse } =
    useChat({
      id,
      messages: saved,
      resume: true,
      transport: new DefaultChatTransport(),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
  async function send(event) {
    event.preventDefault()
    const form = event.target
    const { text, files } = form.elements
    await sendMessage({ text: text.value, files: files.files })
  }
  async function halt() {
    await stop()
    await fetch(`${chatUrl}/stream`, { method: 'DELETE' })
  }
  return (
    <main>
      {messages.map((message) => (
        <section key={message.id} aria-label={message.role}>
          {message.parts.map((part, i) => (
            <Part key={i} part={part} answer={addToolApprovalResponse} />
          ))}
        </section>
      ))}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" />
        <input name="files" type="file" multiple aria-label="Files" />
        <button type="submit">Send</button>
        <button type="button" onClick={halt}>
          Stop
        </button>
        <button type="button" onClick={() => regenerate()}>
          Again
        </button>
      </form>
      <output>{error ? error.message : status}</output>
    </main>
  )
}

const saved = await (await fetch(chatUrl)).json()
createRoot(document.body).render(<Chat saved={saved} />)
