import { Workbench } from '@byref/react'
import { createRoot } from 'react-dom/client'
import { renderers } from './renderers.tsx'

const element = document.getElementById('root')
if (element) createRoot(element).render(<Workbench renderers={renderers} />)
