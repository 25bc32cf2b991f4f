import '@byref/react/styles.css'
import { ByrefProvider, Conversation, Inspector } from '@byref/react'
import { createClient } from 'byref/client'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { renderers } from './renderers.tsx'

const client = createClient()

function App() {
  const [id, setId] = useState<string | null>(null)
  return (
    <ByrefProvider client={client} renderers={renderers}>
      <h1>Weather desk</h1>
      <div style={{ display: 'flex', gap: 16, height: '75vh' }}>
        <div style={{ flex: 1, minWidth: 0 }}>
          <Conversation
            conversationId={id}
            onConversation={setId}
            empty={<p>Ask about the weather.</p>}
          />
        </div>
        <div style={{ width: 420 }}>
          <Inspector conversationId={id} />
        </div>
      </div>
    </ByrefProvider>
  )
}

const element = document.getElementById('root')
if (element) {
  createRoot(element).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
