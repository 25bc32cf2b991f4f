import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { queries } from './app/client.ts'
import { router } from './app/router.tsx'
import { type Renderers, RenderersContext } from './renderers/renderers-context.ts'
import { TooltipProvider } from './ui/tooltip.tsx'

export { client } from './app/client.ts'
export { router } from './app/router.tsx'
export { MessageContent } from './renderers/message-content.tsx'
export type { AssetRenderer, MessageRenderer, Renderers } from './renderers/renderers-context.ts'

/** Properties of {@link Workbench}. */
export interface WorkbenchProps {
  /** Custom renderers. Create them outside of components, because a new object renders everything again. */
  renderers?: Renderers
}

const NONE: Renderers = {}

/** Renders the whole workbench, for the page of its own server. Use it once per page. */
export function Workbench({ renderers = NONE }: WorkbenchProps) {
  return (
    <QueryClientProvider client={queries}>
      <RenderersContext value={renderers}>
        <TooltipProvider>
          <RouterProvider router={router} />
        </TooltipProvider>
      </RenderersContext>
    </QueryClientProvider>
  )
}
