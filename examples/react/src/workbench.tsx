import '@byref/react/styles.css'
import { Workbench } from '@byref/react/workbench'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { renderers } from './renderers.tsx'

const element = document.getElementById('root')
if (element) {
  createRoot(element).render(
    <StrictMode>
      <Workbench renderers={renderers} basePath="/workbench.html" />
    </StrictMode>,
  )
}
