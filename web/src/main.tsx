import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './app/client.ts'
import { router } from './app/router.tsx'
import { TooltipProvider } from './ui/tooltip.tsx'
import './styles.css'

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no #root')

createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <TooltipProvider>
        <RouterProvider router={router} />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
)
