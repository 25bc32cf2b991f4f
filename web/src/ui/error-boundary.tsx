import { Component, type ReactNode } from 'react'

/** Properties of {@link ErrorBoundary}. */
export interface ErrorBoundaryProps {
  /** What stands where the children cannot. */
  fallback: (error: unknown) => ReactNode
  children: ReactNode
}

/** Keeps a part that cannot be shown from taking the page with it. */
export class ErrorBoundary extends Component<
  ErrorBoundaryProps,
  { error: unknown; failed: boolean }
> {
  override state = { error: null as unknown, failed: false }

  static getDerivedStateFromError(error: unknown): { error: unknown; failed: boolean } {
    return { error, failed: true }
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback(this.state.error) : this.props.children
  }
}
