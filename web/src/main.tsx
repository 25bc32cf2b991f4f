import { Workbench } from '@byref/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no #root')

createRoot(element).render(
  <StrictMode>
    <Workbench />
  </StrictMode>,
)
