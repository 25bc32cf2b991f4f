import '../page.css'
import { Workbench } from '@byref/react/workbench'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { client, page } from './client.ts'

const element = document.getElementById('root')
if (!element) throw new Error('offline.html has no #root')

createRoot(element).render(
  <StrictMode>
    {/* A file has only one address, so that of the app is kept in memory. */}
    <Workbench
      client={client}
      path={`/c/${encodeURIComponent(page.id)}`}
      saved={{ debug: page.debug }}
    />
  </StrictMode>,
)
