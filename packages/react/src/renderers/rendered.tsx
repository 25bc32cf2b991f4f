import type { ReactNode } from 'react'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'
import { findRenderer } from './renderers-context.ts'

type Renderer<P> = (props: P) => ReactNode

/** Properties of {@link Rendered}. */
export interface RenderedProps<P> {
  /** The type that selects the renderer. */
  type: unknown
  custom: Readonly<Record<string, Renderer<P>>> | undefined
  builtIn: Readonly<Record<string, Renderer<P>>>
  /** What is rendered. A custom renderer that failed is tried again when it changes. */
  props: P
}

/** Renders by type. If a custom renderer throws, its place has a notice and the built-in rendering. */
export function Rendered<P extends object>({ type, custom, builtIn, props }: RenderedProps<P>) {
  const Render = findRenderer(type, custom, builtIn)
  const BuiltIn = findRenderer(type, builtIn)
  if (!Render) return null
  if (!BuiltIn || Render === BuiltIn) return <Render {...props} />
  return (
    <ErrorBoundary
      resetKey={Object.values(props)[0]}
      fallback={(error) => (
        <>
          <Notice tone="warn">
            The renderer of {String(type)} failed: {errorText(error).message}
          </Notice>
          <BuiltIn {...props} />
        </>
      )}
    >
      <Render {...props} />
    </ErrorBoundary>
  )
}
