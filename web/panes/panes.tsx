import '@byref/react/styles.css'
import { ByrefProvider, Composer, Conversation, Inspector, Thread } from '@byref/react'
import { createClient } from 'byref/client'
import { createRoot } from 'react-dom/client'

const PANES = { Thread, Composer, Conversation, Inspector }

// The pane and its conversation: ?Thread=sample-weather
const [[name = '', id = ''] = []] = [...new URLSearchParams(location.search)]
const Pane = PANES[name as keyof typeof PANES]
const element = document.getElementById('root')
if (element) {
  createRoot(element).render(
    <ByrefProvider client={createClient()} theme="light">
      <Pane conversationId={id} />
    </ByrefProvider>,
  )
}
