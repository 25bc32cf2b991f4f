import { router, Workbench } from '@byref/react'
import { createMemoryHistory } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { page } from './api.ts'

const element = document.getElementById('root')
if (!element) throw new Error('offline.html has no #root')

// A file has only one address, so the app's address is kept in memory.
const start = `/c/${encodeURIComponent(page.id)}`
router.update({ history: createMemoryHistory({ initialEntries: [start] }) } as never)

createRoot(element).render(
  <StrictMode>
    <Workbench />
  </StrictMode>,
)
