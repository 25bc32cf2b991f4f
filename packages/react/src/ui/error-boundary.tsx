import { Component, type ReactNode } from 'react'

/** Properties of {@link ErrorBoundary}. */
export interface ErrorBoundaryProps {
  /** Returns what replaces the children. */
  fallback: (error: unknown) => ReactNode
  /** The children are tried again when it changes. */
  resetKey?: unknown
  children: ReactNode
}

/** Shows an error in place of a part that failed, so that the rest of the page stays. */
export class ErrorBoundary extends Component<
  ErrorBoundaryProps,
  { error: unknown; failed: boolean }
> {
  override state = { error: null as unknown, failed: false }

  static getDerivedStateFromError(error: unknown): { error: unknown; failed: boolean } {
    return { error, failed: true }
  }

  override componentDidUpdate({ resetKey }: ErrorBoundaryProps): void {
    if (this.state.failed && resetKey !== this.props.resetKey) {
      this.setState({ error: null, failed: false })
    }
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback(this.state.error) : this.props.children
  }
}
