import { Workbench } from '@byref/react/workbench'
import './page.css'
import { type ComponentProps, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

declare global {
  /** The first events of the conversation in the URL, requested before the app was loaded (public/assets/first.js). */
  var byrefFirstPage: ComponentProps<typeof Workbench>['firstPage']
}

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no #root')

createRoot(element).render(
  <StrictMode>
    <Workbench filesUrl="/" firstPage={globalThis.byrefFirstPage} />
  </StrictMode>,
)
